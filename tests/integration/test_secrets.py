"""No key and no password is shown: in what is written at LOG_LEVEL=debug, and in any list of processes."""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest
import requests

from tests.lib.processes import Gunicorn, StartGunicorn, run_command, wallet_api
from tests.lib.settings import changed
from tests.lib.waiting import repeated
from tests.stub.server import Stub
from wallet_api.operate.demo.forms import evm_address, seeded, solana_address
from wallet_api.settings import Settings

Call = Callable[[], requests.Response]

WALLETS = {
    "solana": solana_address(seeded("wallet", 1)),
    "eth": evm_address(seeded("wallet", 2)),
    "bnb": evm_address(seeded("wallet", 3)),
    "base": evm_address(seeded("wallet", 4)),
}


def _secret(kind: str) -> str:
    return f"{kind}{secrets.token_hex(12)}"


class Secrets:
    """One of each kind, and the settings that hold them: providers are stubs, the node of base is away."""

    def __init__(self, settings: Settings, stub: Stub) -> None:
        self.password, self.store, self.moralis = _secret("pg"), _secret("store"), _secret("moralis")
        self.alchemy, self.node, self.gecko = _secret("alchemy"), _secret("node"), _secret("gecko")
        self.metrics = _secret("metrics")
        stub.swaps.key = self.moralis
        url = str(settings.database_url)
        assert url.count("@/") == 1
        self.settings = changed(
            settings,
            # The test's server trusts whoever comes through its socket, and requires no password.
            database_url=url.replace("@/", f":{self.password}@/"),
            log_level="debug",
            metrics_token=self.metrics,
            moralis_api_key=self.moralis,
            moralis_evm_url=f"{stub.url}/api/v2.2",
            moralis_solana_url=stub.url,
            solana_provider="rpc",
            solana_rpc_url=f"{stub.url}/rpc/solana/{self.node}",
            eth_provider="alchemy",
            alchemy_api_key=self.alchemy,
            alchemy_url=f"{stub.url}/data/v1",
            base_provider="rpc",
            base_rpc_url=f"http://127.0.0.1:9/{self.node}",
            coingecko_api_key=self.gecko,
            coingecko_url=f"{stub.url}/api/v3",
            binance_url=f"{stub.url}/binance",
            coingecko_requests_per_minute=60_000.0,
            holdings_backoff_seconds=0.01,
        )

    @property
    def all(self) -> list[str]:
        """Every one of them."""
        return [value for value in vars(self).values() if isinstance(value, str)]

    def found_in(self, text: str) -> list[str]:
        """Those that a text has, or the better part of."""
        return [secret for secret in self.all if secret[:-8] in text]


@pytest.fixture
def all_secrets(settings: Settings, stub: Stub) -> Secrets:
    stub.prices.hourly = lambda currency, moment: 150.0
    return Secrets(settings, stub)


@pytest.fixture
def process_list() -> Iterator[Callable[[], str]]:
    """All command lines, and the titles that servers give themselves, seen since the test began."""
    seen: set[str] = set()

    def look() -> None:
        for process in psutil.process_iter(["cmdline", "name"]):
            seen.add(" ".join([process.info["name"] or "", *(process.info["cmdline"] or ())]))

    with repeated(look, 0.25):
        yield lambda: "\n".join(seen)


def _run(settings: Settings, *arguments: str, status: int = 0) -> str:
    result = run_command(*arguments, settings=settings)
    # What main() reports of an exception is its text.
    written = f"{result.output}{result.exception or ''}"
    assert result.exit_code == status, written
    return written


def _run_process(settings: Settings, *arguments: str, status: int = 0) -> str:
    with wallet_api(*arguments, settings=settings) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == status, output
    return output


def _bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def _calls(server: Gunicorn, key: str, metrics_token: str, chains: Iterable[str]) -> Iterator[Call]:
    """Yield calls of all operations for these chains, with the key in the header and in the query."""
    # gunicorn waits two seconds for whoever keeps a connection.
    closing_it = {"Connection": "close", "Referer": f"http://there/?api_key={key}"}
    for chain in chains:
        address = WALLETS[chain]
        group = {"blockchain": chain, "type": "kol"}
        for path, arguments in (
            ("/v1/wallets", group),
            ("/v1/wallets/history", group | {"address": address}),
            ("/v1/wallets/holdings", {"blockchain": chain, "address": address}),
            ("/v1/transactions/volume", group),
            ("/v1/wallet/leaderboard", group | {"period": "7d"}),
            ("/v1/wallet/leaderboard", group | {"period": key}),
            (f"/v1/{key}", {}),
        ):
            url, with_key = f"{server.url}{path}", arguments | {"api_key": key}
            yield partial(requests.get, url, params=arguments, headers=closing_it | _bearer(key), timeout=60)
            yield partial(requests.get, url, params=with_key, headers=closing_it, timeout=60)
    for query, headers in (
        ({"api_key": [key, key]}, {}),
        ({key: key}, _bearer(key)),
        ({"a": "b"}, {f"X-{key[:20]}": key, "User-Agent": key}),
        ({"API%5FKEY": key}, {"X-API-Key": key}),
    ):
        sent = closing_it | headers
        yield partial(requests.get, f"{server.url}/v1/wallets", params=query, headers=sent, timeout=60)
    shown = closing_it | _bearer(metrics_token)
    yield partial(requests.get, f"{server.url}/metrics", headers=shown, timeout=60)


def test_no_secret_is_in_anything_written_or_in_a_list_of_processes(
    all_secrets: Secrets, process_list: Callable[[], str], gunicorn: StartGunicorn, tmp_path: Path
) -> None:
    settings = all_secrets.settings
    # Behind the line on standard error that names the database.
    made = _run(settings, "keys", "create", "caller", "--credits", "5000", "--json")
    key = json.loads(made.splitlines()[-1])["key"]
    wallets = tmp_path / "wallets.ndjson"
    rows = [{"blockchain": c, "type": "kol", "wallet_address": a} for c, a in WALLETS.items()]
    wallets.write_text("".join(f"{json.dumps(row)}\n" for row in [*rows, {"blockchain": "none"}]))
    away = "http://127.0.0.1:9"
    without_database = replace(settings, database_url=f"postgresql://u:{all_secrets.password}@127.0.0.1:9/db")
    without_store = replace(settings, valkey_url=f"valkey://:{all_secrets.store}@127.0.0.1:9")
    written = [
        _run(settings, "import", "wallets", str(wallets), status=3),
        _run(settings, "keys", "list"),
        _run_process(settings, "sync", "trades"),
        _run(settings, "sync", "prices"),
        _run(replace(settings, coingecko_url=away, binance_url=away), "sync", "prices", status=1),
        _run(without_database, "sync", "trades", status=1),
        _run_process(without_database, "keys", "list", status=1),
    ]
    servers = {
        gunicorn(settings, workers=1): WALLETS,
        gunicorn(replace(without_store, log_format="json"), workers=1): ("eth",),
        # Each request waits for a connection.
        gunicorn(without_database, workers=1): ("solana",),
    }
    calls = [
        call
        for server, chains in servers.items()
        for call in _calls(server, key, all_secrets.metrics, chains)
    ]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda call: call(), calls))
    assert {200, 400, 401, 404, 503} == {answer.status_code for answer in answers}
    for each in servers:
        each.stop()
        written.append(each.log)
        assert "/v1/wallets/holdings" in each.log
    folders = {tmp_path, Path(settings.wallet_api_home)}
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    written += [file.read_text(errors="replace") for file in files]
    answered = "\n".join(answer.text for answer in answers)
    everything, listed = "\n".join(written), process_list()
    assert "store of rate limits is away" in everything
    assert {"gunicorn", "sync"} <= set(listed.split())
    # A caller may get its own key, but of no other secret.
    assert all_secrets.found_in(everything + listed + answered) == []
    assert key[:20] not in everything + listed

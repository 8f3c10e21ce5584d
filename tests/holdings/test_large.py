"""Wallets with very many tokens: a worker has one of them in memory at a time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import orjson
import requests

from tests.holdings.conftest import Hold
from tests.lib.processes import Gunicorn, StartGunicorn, peak_of, workers
from tests.lib.waiting import eventually
from tests.stub.faults import raw
from tests.stub.server import Stub
from wallet_api.operate.demo.forms import seeded, solana_address
from wallet_api.settings import Settings

TOKENS = 20_000
WALLETS = 8
# One is read while another is fetched and others are sent, and all are cached: some 85 MB. All of them
# fetched at once take 130 MB.
MOST_BYTES = 110 * 1024 * 1024


def test_of_many_large_wallets_at_once_one_is_fetched_at_a_time(
    settings: Settings, gunicorn: StartGunicorn, stub: Stub, track: Hold, api_key: str
) -> None:
    reply = raw(_portfolio(TOKENS))
    addresses = [track("solana", native=number) for number in range(WALLETS + 1)]
    stub.scenarios |= dict.fromkeys(addresses, reply)
    patient = replace(settings, holdings_fetch_seconds=60.0)
    server = gunicorn(patient, workers=1, threads=8)
    (worker,) = workers(server)
    before = worker.memory_info().rss
    assert _tokens(server, addresses[0], api_key) == TOKENS + 1
    with peak_of(worker) as peak, ThreadPoolExecutor(WALLETS) as pool:
        found = list(pool.map(lambda address: _tokens(server, address, api_key), addresses[1:]))
    assert found == [TOKENS + 1] * WALLETS
    assert peak[0] - before < MOST_BYTES, (before, peak)


def _portfolio(tokens: int) -> bytes:
    random = seeded("large")
    rows = [
        {"mint": solana_address(random), "amountRaw": str(number + 1), "decimals": 6}
        for number in range(tokens)
    ]
    return orjson.dumps({"nativeBalance": {"lamports": "5"}, "tokens": rows})


def _tokens(server: Gunicorn, address: str, key: str) -> int:
    """Return how many balances the wallet has, as soon as they are there."""
    found: list[int] = []

    def is_there() -> bool:
        response = requests.get(
            f"{server.url}/v1/wallets/holdings",
            params={"blockchain": "solana", "address": address},
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
        )
        # While another large one is read.
        if response.status_code == 503:
            return False
        active = response.json()["data"]["active_holdings"]
        if not active["loading"]:
            assert "first 10000 of 20001 tokens" in response.json()["data"]["warnings"][0]
            found.append(active["count"])
        return bool(found)

    assert eventually(is_there, 90, 0.5)
    return found[0]

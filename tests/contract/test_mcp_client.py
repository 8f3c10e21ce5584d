"""The official client of MCP with the running service: every tool, and six questions about the demo."""

import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import requests

from tests.conftest import NewDatabase
from tests.lib.demo_service import DemoService, demo_service
from tests.lib.processes import Gunicorn, run_program, start_gunicorn
from tests.naive.ledger import Ledger
from wallet_api.database import connect
from wallet_api.keys import create_key
from wallet_api.settings import Settings

if TYPE_CHECKING:
    # It takes more than a second to load, which each worker would do to collect this file.
    from mcp import Client

GROUP = {"blockchain": "solana", "type": "kol"}
Work = Callable[["Client"], Awaitable[Any]]


def _with_client(server: Gunicorn, key: str, work: Work, mode: str = "auto") -> Any:
    """Run `work` with a connected client; `legacy` begins with `initialize`."""

    mcp, streamable_http = import_module("mcp"), import_module("mcp.client.streamable_http")

    async def connected() -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        async with import_module("httpx2").AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            transport = streamable_http.streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with mcp.Client(transport, mode=mode) as client:
                return await work(client)

    return import_module("anyio").run(connected)


def _data(result: Any) -> Any:
    assert not result.is_error, result.content[0].text
    body = json.loads(result.content[0].text, parse_float=Decimal)
    return body.get("data", body)


def _values(demo: DemoService) -> dict[str, str]:
    """Return a value of each argument that a tool can require."""
    address = demo.wallet("solana", "kol")
    mint = next(row.mint for row in demo.world.trade_rows() if row.wallet_address == address)
    return GROUP | {"address": address, "mint": mint, "period": "7d", "q": "a"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_every_tool(
    server: Gunicorn, demo: DemoService, mode: str
) -> None:
    values = _values(demo)
    modes = {"list_signals": "cluster", "get_analytics": "net_flow"}
    document = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()

    async def work(client: "Client") -> None:
        tools = (await client.list_tools()).tools
        names = {item["get"]["operationId"] for item in document["paths"].values()}
        assert {tool.name for tool in tools} == names
        for tool in tools:
            # A period is required where no window is given.
            wanted = {*tool.input_schema["required"], "blockchain", "type", "period"} & {
                *tool.input_schema["properties"]
            }
            result = await client.call_tool(
                tool.name, {name: values.get(name) or modes[tool.name] for name in wanted}
            )
            assert _data(result), tool.name
            assert sum(len(block.text) for block in result.content) <= 25_000
        wrong = await client.call_tool("list_wallets", GROUP | {"type": "cow"})
        assert wrong.is_error
        assert json.loads(wrong.content[0].text)["error"]["allowed"] == ["kol", "smart", "whale", "all"]
        with pytest.raises(import_module("mcp").MCPError, match="There is no tool"):
            await client.call_tool("no_tool", {})

    _with_client(server, demo.key, work, mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_key_pays_for_calls_alone(server: Gunicorn, demo: DemoService, mode: str) -> None:
    with connect(str(demo.settings.database_url)) as connection:
        key = create_key(connection, f"assistant {mode}", credits=100)

    async def work(client: "Client") -> None:
        await client.list_tools()
        for _ in range(3):
            assert _data(await client.call_tool("list_wallets", GROUP))
        assert (await client.call_tool("list_wallets", {})).is_error
        state = _data(await client.call_tool("get_key", {}))
        assert state["credits"]["left"] == 97

    _with_client(server, key, work, mode)


def test_a_body_without_a_length_has_at_most_64_kb_too(server: Gunicorn, demo: DemoService) -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for size, status in ((65_536, 200), (65_537, 413)):
        chunks = iter([ping, b" " * (size - len(ping))])
        response = requests.post(f"{server.url}/mcp", data=chunks, headers=demo.headers, timeout=60)
        assert response.status_code == status, size
    # What was left of a body is not taken for a request.
    with requests.Session() as session:
        for size, status in ((65_537, 413), (65_536, 200), (65_537, 413), (100, 200)):
            body = ping.ljust(size)
            response = session.post(f"{server.url}/mcp", data=body, headers=demo.headers, timeout=60)
            assert response.status_code == status, size


def _has_sdk() -> bool:
    folders = os.environ.get("NODE_PATH", "").split(os.pathsep)
    return shutil.which("node") is not None and any(
        Path(folder, "@modelcontextprotocol/sdk/package.json").is_file() for folder in folders
    )


@pytest.mark.skipif(not _has_sdk(), reason="needs node, and @modelcontextprotocol/sdk (npm) in NODE_PATH")
def test_the_official_client_in_typescript_pings_lists_and_calls_every_tool(
    server: Gunicorn, demo: DemoService
) -> None:
    values: dict[str, Any] = _values(demo)
    values |= {"list_signals": {"mode": "cluster"}, "get_analytics": {"mode": "net_flow"}}
    done = run_program(
        ["node", str(Path(__file__).parents[1] / "data" / "clients" / "mcp.mjs")],
        env=os.environ | {"URL_OF_MCP": f"{server.url}/mcp", "KEY": demo.key, "VALUES": json.dumps(values)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()
    assert done.stdout == f"wallet-api {len(document['paths'])}\n"


DAYS = 35


@pytest.fixture(scope="module")
def months(
    servers: Settings, new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Gunicorn, DemoService, Ledger]]:
    """A service with a demo of five weeks, and the model of it."""
    home = tmp_path_factory.mktemp("months")
    with new_database() as url:
        settings = Settings(
            database_url=url, valkey_url=servers.valkey_url, wallet_api_home=str(home), web_threads=4
        )
        with demo_service(settings, wallets=112, trades=14_000, days=DAYS) as service:
            server = start_gunicorn(service.settings, home / "gunicorn.log", workers=1, threads=4)
            ledger = Ledger()
            for add, rows in (
                (ledger.add_wallets, service.world.wallet_rows()),
                (ledger.add_prices, service.world.price_rows()),
                (ledger.add_trades, service.world.trade_rows()),
            ):
                add(msgspec.to_builtins(list(rows)))
            yield server, service, ledger
            server.stop()


def test_six_questions_get_the_right_numbers_over_mcp_alone(
    months: tuple[Gunicorn, DemoService, Ledger],
) -> None:
    server, service, ledger = months
    began = _now()
    # When three wallets had bought a new token: soon after the first trades, since then all are known.
    hours = range(24 * DAYS)
    then = next(
        moment
        for moment in (began - timedelta(hours=hour) for hour in reversed(hours))
        if ledger.signals(moment, *GROUP.values(), "entry", 6, 3)
    )
    wallet = service.wallet("solana", "kol")

    async def work(client: "Client") -> dict[str, Any]:
        async def result_of(tool: str, **arguments: Any) -> Any:
            return _data(await client.call_tool(tool, arguments))

        answers: dict[str, Any] = {}
        board = {"period": "30d", "sort": "realized_pnl", "limit": 1}
        [best] = (await result_of("get_leaderboard", **GROUP, **board, min_closed=20))["leaderboard"]
        answers["best with twenty closed tokens"] = best["wallet"], best["period_stats"]["realized_pnl"]
        [most] = (await result_of("get_leaderboard", **GROUP, **board))["leaderboard"]
        answers["earned most in thirty days"] = most["wallet"], most["period_stats"]["realized_pnl"]
        new = await result_of(
            "list_signals", **GROUP, mode="entry", min_wallets=3, hours=6, as_of=then.isoformat()
        )
        answers["new tokens of three wallets in six hours"] = {row["token"]["mint"] for row in new["signals"]}
        weeks = [Decimal(0), Decimal(0)]
        for type in ("kol", "smart", "whale"):
            group = {"blockchain": "solana", "type": type}
            trend = await result_of("get_analytics", **group, mode="volume_trend", period="30d", limit=56)
            volumes = [bucket["volume"] for bucket in trend["buckets"]]
            weeks = [weeks[0] + sum(volumes[28:]), weeks[1] + sum(volumes[:28])]
        answers["this week, and the one before"] = tuple(weeks)
        mint = next(iter(answers["new tokens of three wallets in six hours"]))
        stats = await result_of("get_token_stats", blockchain="solana", mint=mint, sort="first_buy", limit=1)
        answers["first in a token"] = stats["traders"][0]["profile"]["wallet_address"]
        held = (await result_of("get_holdings", blockchain="solana", address=wallet))["active_holdings"]
        amounts = {row["token_address"]: Decimal(row["amount_formatted"]) for row in held["tokens"]}
        mints = [mint for mint in amounts if mint != "native"]
        prices = (await result_of("get_prices", blockchain="solana", mint=",".join(mints)))["tokens"]
        answers["worth in tokens"] = sum(amounts[row["mint"]] * (row["price"] or 0) for row in prices)
        return answers

    answers = _with_client(server, service.key, work)
    expected = _expected(ledger, wallet, then, began)
    if answers != expected:
        # A trade may have left its period meanwhile.
        later = _expected(ledger, wallet, then, _now())
        for question, answer in answers.items():
            assert answer in (expected[question], later[question]), question
    assert len(answers["new tokens of three wallets in six hours"]) > 0
    assert answers["worth in tokens"] > 0
    assert min(answers["this week, and the one before"]) > 0


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _expected(ledger: Ledger, wallet: str, then: datetime, now: datetime) -> dict[str, Any]:
    """Return the answers of the model."""
    chain = "solana"
    group = (chain, "kol")

    def best(*filters: tuple[str, Decimal]) -> tuple[str, Decimal]:
        entry = ledger.leaderboard(now, *group, "30d", "realized_pnl", filters=filters)[0]
        return entry["wallet"], entry["period_stats"]["realized_pnl"]

    new = {row["token"]["mint"] for row in ledger.signals(then, *group, "entry", 6, 3)}
    trends = [ledger.volume_trend(now, chain, type, "30d")[-56:] for type in ("kol", "smart", "whale")]
    volumes = [sum(buckets[place]["volume"] for buckets in trends) for place in range(56)]
    left = {mint: quantity for (mint, *_), (quantity, _) in ledger.holdings(chain, wallet).items()}
    prices = {row["mint"]: row["price"] or 0 for row in ledger.token_prices(now, chain, [*left])}
    return {
        "best with twenty closed tokens": best(("min_closed", Decimal(20))),
        "earned most in thirty days": best(),
        "new tokens of three wallets in six hours": new,
        "this week, and the one before": (sum(volumes[28:]), sum(volumes[:28])),
        "first in a token": ledger.token_order(now, chain, next(iter(new)), "first_buy", "asc", None)[0],
        "worth in tokens": sum(quantity * Fraction(prices[mint]) for mint, quantity in left.items()),
    }

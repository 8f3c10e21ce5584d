"""The stand-in provider's wire shapes, over HTTP."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any

import pytest
import requests
from flask import Response

from wallet_api.chains import CHAINS
from wallet_api.demo.balances import Balance, Portfolio, imagined_portfolio
from wallet_api.demo.provider import create_provider, json_response, message_response, serve
from wallet_api.demo.world import World

EVM = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
SOLANA = "9Mt5Z4k49NYa1va4i91nziJURWS1KmkVMxSd6BiLhESL"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

Ask = Callable[..., requests.Response]


class Provider:
    """A running stand-in, and a session that calls it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.headers["X-API-Key"] = "any"

    def get(self, path: str, **arguments: str) -> requests.Response:
        return self.session.get(f"{self.url}{path}", params=arguments, timeout=10)

    def pages(self, path: str, **arguments: str) -> Iterator[dict[str, Any]]:
        """The documents of all pages; like its clients, it sends only the cursor along."""
        document = self.get(path, **arguments).json()
        yield document
        arguments.pop("limit", None)
        while document["cursor"]:
            document = self.get(path, **arguments, cursor=document["cursor"]).json()
            yield document


@pytest.fixture
def start() -> Iterator[Callable[..., Provider]]:
    """Starts stand-ins on free ports, and stops them after the test."""
    with ExitStack() as stack:

        def run(**options: Any) -> Provider:
            server = serve(create_provider(**options), 0)
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            provider = Provider(f"http://127.0.0.1:{server.port}")
            stack.callback(server.server_close)
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            stack.callback(provider.session.close)
            return provider

        yield run


@pytest.fixture(scope="module")
def world() -> World:
    return World(NOW, wallets=40, trades=6_000, days=8)


def test_evm_tokens_carry_the_documented_fields_native_first(start: Callable[..., Provider]) -> None:
    document = start().get(f"/api/v2.2/wallets/{EVM}/tokens", chain="0x38").json()
    assert set(document) == {"cursor", "page", "page_size", "block_number", "result"}
    native, *tokens = document["result"]
    assert native["native_token"] is True
    assert native["token_address"] == "0x" + 40 * "e"
    assert (native["symbol"], native["decimals"]) == ("BNB", 18)
    assert tokens
    for row in tokens:
        assert CHAINS["bnb"].is_address(row["token_address"])
        assert row["native_token"] is False
        assert isinstance(row["balance"], str)
        with localcontext(prec=80):
            formatted = Decimal(row["balance"]).scaleb(-int(row["decimals"]))
            assert Decimal(row["balance_formatted"]) == formatted
    assert {type(row["decimals"]) for row in tokens} == {int, str}
    assert any(row["verified_contract"] for row in tokens)
    assert any(row["balance"] == "0" for row in tokens)


def test_evm_chains_go_by_name_or_hexadecimal_and_differ(start: Callable[..., Provider]) -> None:
    provider = start()
    balances = {
        chain: provider.get(f"/api/v2.2/{EVM}/balance", chain=chain).json()["balance"]
        for chain in ("eth", "0x1", "bsc", "0x38", "base", "0x2105")
    }
    assert balances["eth"] == balances["0x1"]
    assert balances["bsc"] == balances["0x38"]
    assert balances["base"] == balances["0x2105"]
    assert len(set(balances.values())) == 3


def test_evm_pages_by_cursor_visit_each_row_once(start: Callable[..., Provider]) -> None:
    provider = start()
    path = f"/api/v2.2/wallets/{EVM}/tokens"
    [whole] = provider.pages(path, chain="base")
    pages = list(provider.pages(path, chain="base", limit="4"))
    assert len(pages) == -(-len(whole["result"]) // 4) > 2
    assert [row for page in pages for row in page["result"]] == whole["result"]
    assert [page["page"] for page in pages] == list(range(len(pages)))


def test_an_empty_native_balance_has_no_row_but_a_balance(start: Callable[..., Provider]) -> None:
    provider = start(portfolios=lambda chain, address: Portfolio(0, ()))
    assert provider.get(f"/api/v2.2/wallets/{EVM}/tokens", chain="eth").json()["result"] == []
    assert provider.get(f"/api/v2.2/{EVM}/balance", chain="eth").json() == {"balance": "0"}


def test_spam_and_native_can_be_left_out(start: Callable[..., Provider]) -> None:
    spam = Balance(EVM, "free at x.example", "x.example", 0, 9900, spam=True)
    provider = start(portfolios=lambda chain, address: Portfolio(5, (spam,)))
    path = f"/api/v2.2/wallets/{EVM}/tokens"
    assert [row["possible_spam"] for row in provider.get(path, chain="eth").json()["result"]] == [False, True]
    kept = provider.get(path, chain="eth", exclude_spam="true").json()["result"]
    assert [row["native_token"] for row in kept] == [True]
    kept = provider.get(path, chain="eth", exclude_native="true").json()["result"]
    assert [row["possible_spam"] for row in kept] == [True]


def test_solana_portfolio_balance_and_tokens_agree(start: Callable[..., Provider]) -> None:
    provider = start()
    portfolio = provider.get(f"/account/mainnet/{SOLANA}/portfolio").json()
    assert set(portfolio) == {"nativeBalance", "nfts", "tokens"}
    assert provider.get(f"/account/mainnet/{SOLANA}/balance").json() == portfolio["nativeBalance"]
    assert provider.get(f"/account/mainnet/{SOLANA}/tokens").json() == portfolio["tokens"]
    native = portfolio["nativeBalance"]
    assert Decimal(native["solana"]) == Decimal(native["lamports"]).scaleb(-9)
    for row in portfolio["tokens"]:
        assert CHAINS["solana"].is_address(row["mint"])
        assert CHAINS["solana"].is_address(row["associatedTokenAddress"])
        with localcontext(prec=80):
            assert Decimal(row["amount"]) == Decimal(row["amountRaw"]).scaleb(-int(row["decimals"]))


def test_accounts_of_one_mint_sum_to_what_the_wallet_holds(start: Callable[..., Provider]) -> None:
    rows = start().get(f"/account/mainnet/{SOLANA}/tokens").json()
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["mint"]] = sums.get(row["mint"], 0) + int(row["amountRaw"])
    held = imagined_portfolio("solana", SOLANA).tokens
    assert sums == {token.address: token.units for token in held}
    assert len(rows) == len({row["associatedTokenAddress"] for row in rows})


@pytest.mark.parametrize(
    "path",
    [
        f"/api/v2.2/wallets/{EVM}/tokens",
        f"/api/v2.2/{EVM}/balance",
        f"/api/v2.2/wallets/{EVM}/swaps",
        f"/account/mainnet/{SOLANA}/portfolio",
        f"/account/mainnet/{SOLANA}/tokens",
        f"/account/mainnet/{SOLANA}/balance",
        f"/account/mainnet/{SOLANA}/swaps",
    ],
)
def test_every_call_needs_a_key(start: Callable[..., Provider], path: str) -> None:
    reply = requests.get(f"{start().url}{path}", params={"chain": "eth"}, timeout=10)
    assert reply.status_code == 401
    assert reply.json() == {"message": "Token is invalid format", "statusCode": 401}


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        (f"/api/v2.2/wallets/{EVM}/tokens", {}),
        (f"/api/v2.2/wallets/{EVM}/tokens", {"chain": "solana"}),
        (f"/api/v2.2/wallets/{EVM}/tokens", {"chain": "eth", "limit": "0"}),
        (f"/api/v2.2/wallets/{EVM}/tokens", {"chain": "eth", "cursor": "bogus"}),
        (f"/api/v2.2/wallets/{EVM}/swaps", {"chain": "eth", "order": "up"}),
        (f"/api/v2.2/wallets/{EVM}/swaps", {"chain": "eth", "fromDate": "yesterday"}),
        ("/api/v2.2/wallets/0x12/tokens", {"chain": "eth"}),
        ("/account/mainnet/0OIl/portfolio", {}),
    ],
)
def test_bad_calls_are_refused_with_a_message(
    start: Callable[..., Provider], path: str, arguments: dict[str, str]
) -> None:
    reply = start().get(path, **arguments)
    assert reply.status_code == 400
    assert reply.json()["message"]


def test_an_unknown_path_is_not_found(start: Callable[..., Provider]) -> None:
    reply = start().get("/api/v2.2/block/latest")
    assert reply.status_code == 404
    assert reply.json()["statusCode"] == 404


def test_a_scenario_answers_for_its_address_alone(start: Callable[..., Provider]) -> None:
    other = SOLANA[:-1] + "M"
    provider = start(scenarios={SOLANA: lambda: message_response("slow down", 429)})
    assert provider.get(f"/account/mainnet/{SOLANA}/portfolio").status_code == 429
    assert provider.get(f"/account/mainnet/{other}/portfolio").status_code == 200


def test_a_scenario_can_end_and_leave_the_answer_to_the_provider(start: Callable[..., Provider]) -> None:
    replies: list[Response | None] = [message_response("later", 503), None, json_response([])]
    scenario = iter(replies)
    provider = start(scenarios={EVM: lambda: next(scenario)})
    # The address of a scenario stands for every way to write it.
    shouted = "0x" + EVM[2:].upper()
    statuses = [provider.get(f"/api/v2.2/{shouted}/balance", chain="eth") for _ in range(3)]
    assert [reply.status_code for reply in statuses] == [503, 200, 200]
    assert "balance" in statuses[1].json()
    assert statuses[2].json() == []


def test_swaps_are_the_wallets_trades_newest_first_in_pages(
    start: Callable[..., Provider], world: World
) -> None:
    provider = start(portfolios=world.portfolio, trades=world.trades_of)
    for wallet in list(world.wallet_rows())[::9]:
        chain, address = wallet["blockchain"], wallet["wallet_address"]
        solana = chain == "solana"
        path = f"/account/mainnet/{address}/swaps" if solana else f"/api/v2.2/wallets/{address}/swaps"
        arguments = {} if solana else {"chain": "bsc" if chain == "bnb" else chain}
        pages = list(provider.pages(path, **arguments))
        assert {"cursor", "page", "pageSize" if solana else "page_size", "result"} == set(pages[0])
        trades = world.trades_of(chain, address)
        swaps = [row for page in pages for row in page["result"]]
        assert len(swaps) == len(trades) > 0
        for row, trade in zip(swaps, trades, strict=True):
            bought = trade["transaction_type"] == "buy"
            token, native = (row["bought"], row["sold"]) if bought else (row["sold"], row["bought"])
            assert row["transactionHash"] == trade["tx_signature"]
            assert row["blockTimestamp"] == trade["created_at"].replace("Z", ".000Z")
            assert (token["address"], token["amount"]) == (trade["mint"], trade["token_amount"])
            assert native["amount"] == trade["value"]
            assert native["symbol"] == CHAINS[chain].currency
            assert (row["totalValueUsd"] is None) == ("value_usd" not in trade)


def test_swaps_can_be_chosen_by_date_side_token_and_order(
    start: Callable[..., Provider], world: World
) -> None:
    provider = start(trades=world.trades_of)
    wallet = next(row for row in world.wallet_rows() if row["blockchain"] == "solana")
    address = wallet["wallet_address"]
    trades = world.trades_of("solana", address)
    path = f"/account/mainnet/{address}/swaps"
    middle = trades[len(trades) // 2]["created_at"]
    unix = str(int(datetime.fromisoformat(middle).timestamp()))

    def hashes(**arguments: str) -> list[str]:
        return [
            row["transactionHash"] for page in provider.pages(path, **arguments) for row in page["result"]
        ]

    def expected(keep: Callable[[dict[str, Any]], bool]) -> list[str]:
        return [trade["tx_signature"] for trade in trades if keep(trade)]

    assert hashes(order="ASC") == expected(lambda trade: True)[::-1]
    assert hashes(fromDate=middle) == hashes(fromDate=unix) == expected(lambda t: t["created_at"] >= middle)
    assert hashes(toDate=middle) == expected(lambda trade: trade["created_at"] <= middle)
    assert hashes(transactionTypes="sell") == expected(lambda t: t["transaction_type"] == "sell")
    mint = trades[0]["mint"]
    assert hashes(tokenAddress=mint) == expected(lambda trade: trade["mint"] == mint)


def test_demo_wallets_hold_what_their_trading_left_with_spam_and_emptied_accounts(world: World) -> None:
    tokens = [
        token
        for wallet in world.wallet_rows()
        for token in world.portfolio(wallet["blockchain"], wallet["wallet_address"]).tokens
    ]
    assert any(token.spam for token in tokens)
    assert any(token.verified for token in tokens)
    assert any(not token.units for token in tokens)
    assert sum(token.units > 0 for token in tokens) > 200

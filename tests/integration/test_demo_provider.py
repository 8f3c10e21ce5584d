"""The wire shapes of the demo's provider, over HTTP."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal, localcontext
from typing import Any

import pytest
import requests

from tests.demo_service import running_provider
from wallet_api.chains import CHAINS
from wallet_api.demo.balances import Balance, Portfolio, native_units
from wallet_api.demo.forms import evm_address, seeded, solana_address
from wallet_api.demo.provider import Portfolios

EVM = "0xdce4550b1e46a88e7969000605be5cb1bbddc034"
SOLANA = "9Mt5Z4k49NYa1va4i91nziJURWS1KmkVMxSd6BiLhESL"
NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

Ask = Callable[..., requests.Response]


def imagined_portfolio(chain: str, address: str) -> Portfolio:
    """Return balances derived from the address."""
    random = seeded("tokens", chain, address)
    make = solana_address if chain == "solana" else evm_address
    tokens = []
    for _ in range(random.randint(3, 40)):
        decimals = random.choice((0, 2, 6, 6, 6, 8, 9, 18, 18))
        units = 0 if random.random() < 0.1 else random.randrange(1, 10 ** (decimals + 6))
        symbol = "".join(random.choices("ABCDEFGHKLMNOPRSTUVWXYZ", k=random.randint(3, 6)))
        known = random.random() < 0.9
        tokens.append(
            Balance(
                make(random),
                symbol.title() if known else None,
                symbol if known else None,
                decimals,
                units,
                verified=random.random() < 0.3,
            )
        )
    return Portfolio(native_units(chain, address), tuple(tokens))


class Provider:
    """A running provider of the demo, and a session for requests to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self.session.headers["X-API-Key"] = "any"

    def get(self, path: str, **arguments: str) -> requests.Response:
        return self.session.get(f"{self.url}{path}", params=arguments, timeout=10)

    def pages(self, path: str, **arguments: str) -> Iterator[dict[str, Any]]:
        """Yield the documents of all pages. Only the first request sends the limit, as clients do."""
        document = self.get(path, **arguments).json()
        yield document
        arguments.pop("limit", None)
        while document["cursor"]:
            document = self.get(path, **arguments, cursor=document["cursor"]).json()
            yield document


@pytest.fixture
def start() -> Iterator[Callable[..., Provider]]:
    """Run providers on free ports until the end of the test."""
    with ExitStack() as stack:

        def run(portfolios: Portfolios = imagined_portfolio) -> Provider:
            provider = Provider(stack.enter_context(running_provider(portfolios)))
            stack.callback(provider.session.close)
            return provider

        yield run


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
    provider = start(lambda chain, address: Portfolio(0, ()))
    assert provider.get(f"/api/v2.2/wallets/{EVM}/tokens", chain="eth").json()["result"] == []
    assert provider.get(f"/api/v2.2/{EVM}/balance", chain="eth").json() == {"balance": "0"}


def test_spam_can_be_left_out(start: Callable[..., Provider]) -> None:
    unwanted = Balance(EVM, "free at x.example", "x.example", 0, 9900, spam=True)
    provider = start(lambda chain, address: Portfolio(5, (unwanted,)))
    path = f"/api/v2.2/wallets/{EVM}/tokens"
    assert [row["possible_spam"] for row in provider.get(path, chain="eth").json()["result"]] == [False, True]
    kept = provider.get(path, chain="eth", exclude_spam="true").json()["result"]
    assert [row["native_token"] for row in kept] == [True]


def test_a_solana_portfolio_has_each_amount_in_units_and_as_a_decimal(start: Callable[..., Provider]) -> None:
    portfolio = start().get(f"/account/mainnet/{SOLANA}/portfolio").json()
    assert set(portfolio) == {"nativeBalance", "nfts", "tokens"}
    native = portfolio["nativeBalance"]
    assert Decimal(native["solana"]) == Decimal(native["lamports"]).scaleb(-9)
    for row in portfolio["tokens"]:
        assert CHAINS["solana"].is_address(row["mint"])
        assert CHAINS["solana"].is_address(row["associatedTokenAddress"])
        with localcontext(prec=80):
            assert Decimal(row["amount"]) == Decimal(row["amountRaw"]).scaleb(-int(row["decimals"]))


def test_accounts_of_one_mint_sum_to_what_the_wallet_holds(start: Callable[..., Provider]) -> None:
    rows = start().get(f"/account/mainnet/{SOLANA}/portfolio").json()["tokens"]
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
        f"/account/mainnet/{SOLANA}/portfolio",
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

"""Fixtures of the tests of holdings: a service that uses the stub, and wallets with given balances."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from werkzeug.test import TestResponse

from tests.ledger.in_process import Importer
from tests.ledger.rows import trade_row
from tests.lib.settings import changed
from tests.lib.waiting import eventually, repeated
from tests.stub.moralis import Balance, Portfolio
from tests.stub.server import Stub
from wallet_api.api.keys import create_key
from wallet_api.base.chains import CHAINS
from wallet_api.chain.providers.balances import make_provider
from wallet_api.chain.providers.balances.base import BalanceProvider
from wallet_api.chain.providers.fetch import Limits
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.database import Connection
from wallet_api.holdings.formatting import Filter, in_order, tokens_json
from wallet_api.operate.demo.forms import evm_address, seeded, solana_address
from wallet_api.settings import Settings

Send = Callable[..., TestResponse]
SendAt = Callable[..., Send]
Hold = Callable[..., str]


@pytest.fixture
def settings(settings: Settings, stub: Stub) -> Settings:
    """Settings with the stub as every provider and short timeouts."""
    return impatient(settings, stub)


def impatient(settings: Settings, stub: Stub) -> Settings:
    """Return the settings with the stub as every provider, short timeouts, and a breaker that never opens."""
    return changed(
        settings,
        default_rate="1000000/minute",
        moralis_api_key="MORALIS-SECRET",
        moralis_evm_url=f"{stub.url}/api/v2.2",
        moralis_solana_url=stub.url,
        solana_rpc_url=f"{stub.url}/rpc/solana/NODE-SECRET",
        eth_rpc_url=f"{stub.url}/rpc/eth/NODE-SECRET",
        bnb_rpc_url=f"{stub.url}/rpc/bnb/NODE-SECRET",
        base_rpc_url=f"{stub.url}/rpc/base/NODE-SECRET",
        alchemy_api_key="ALCHEMY-SECRET",
        alchemy_url=f"{stub.url}/data/v1",
        holdings_backoff_seconds=0.05,
        holdings_fetch_seconds=3.0,
        holdings_breaker_failures=1000,
    )


@pytest.fixture
def hold(stub: Stub) -> Hold:
    """Give a new wallet these balances and return its address: `hold("eth", native=1, tokens=(…))`."""

    def hold(chain: str, *, native: int = 0, tokens: tuple[Balance, ...] = ()) -> str:
        random = seeded("wallet", chain, len(stub.portfolios))
        address = solana_address(random) if chain == "solana" else evm_address(random)
        stub.portfolios[chain, address] = Portfolio(native, tokens)
        return address

    return hold


@pytest.fixture
def track(connection: Connection, database_url: str, hold: Hold) -> Hold:
    """Like `hold`, for a tracked wallet; according to the ledger it has traded the tokens `traded`."""

    def track(chain: str, *, traded: Sequence[Balance] = (), **what: Any) -> str:
        address = hold(chain, **what)
        connection.execute(
            """
            INSERT INTO wallets
                   (blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)
            VALUES (%s, 'kol', %s, '', '', '', '', '')
            """,
            (chain, address),
        )
        if traded:
            # A second ago: prices are of whole seconds.
            at = datetime.now(UTC) - timedelta(seconds=1)
            Importer(database_url).trades(
                trade_row(address, "s", at, blockchain=chain, mint=token.address) for token in traded
            )
        return address

    return track


@pytest.fixture
def api_key(connection: Connection) -> str:
    """An unlimited key."""
    return create_key(connection, "holdings")


@pytest.fixture
def send_at(settings: Settings, make_app: Callable[[Settings], Flask], api_key: str) -> SendAt:
    """Start a worker with changed settings, and return its `send`: `send_at(holdings_ttl_seconds=0.2)`."""

    return lambda **changes: _send_of(make_app(changed(settings, **changes)).test_client(), api_key)


@pytest.fixture
def send(client: FlaskClient, api_key: str) -> Send:
    """Request the operation: `send("eth", address)`."""
    return _send_of(client, api_key)


def _send_of(client: FlaskClient, own_key: str) -> Send:
    def send(
        chain: str, address: str, *, key: str = own_key, path: str = "wallets", **page: Any
    ) -> TestResponse:
        query = {"blockchain": chain, "address": address, "api_key": key} | page
        return client.get(f"/v1/{path}/holdings", query_string=query)

    return send


def active(response: TestResponse) -> dict[str, Any]:
    """Return the holdings of a successful response."""
    assert response.status_code == 200, response.text
    return dict(response.json["data"]["active_holdings"])


def until(send: Callable[[], TestResponse], wanted: Callable[[TestResponse], bool]) -> TestResponse:
    """Repeat the request until the response is as wanted, and return it."""
    responses: list[TestResponse] = []

    def is_wanted() -> bool:
        responses.append(send())
        return wanted(responses[-1])

    assert eventually(is_wanted, pause_seconds=0.02), responses[-1].text
    return responses[-1]


def has_loaded(response: TestResponse) -> bool:
    """Return whether the response has balances, or an error."""
    return response.status_code != 200 or not active(response)["loading"]


def save_snapshot(connection: Connection, address: str, age_seconds: int) -> None:
    """Replace the snapshot by one of this age, with one unit of the native coin."""
    connection.execute(
        """
        INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)
        SELECT wallet_id, 1, '[]', now() - make_interval(secs => %s) FROM wallets WHERE address = %s
            ON CONFLICT (wallet_id) DO UPDATE
           SET native_amount = 1, tokens = '[]', refreshed_at = excluded.refreshed_at,
               claim = NULL, claim_expires_at = NULL
        """,
        (age_seconds, address),
    )


def wait_for_refreshes() -> None:
    """Return when all refreshes of this process have ended."""
    for thread in threading.enumerate():
        if thread.name.startswith("holdings-"):
            thread.join(10)


@contextmanager
def machine_delays(stub: Stub) -> Iterator[list[float]]:
    """Measure how long requests to the stub take in this block, as a busy machine delays all of them."""
    delays = [0.0]

    def request() -> None:
        began = time.monotonic()
        requests.get(stub.url, timeout=60)
        delays.append(time.monotonic() - began)

    with repeated(request, 0.05):
        yield delays


def make(settings: Settings, chain: str) -> BalanceProvider:
    """Return the provider that the settings select for a chain."""
    return make_provider(
        CHAINS[chain], settings, Limits.from_settings(settings), FetchMetrics(CollectorRegistry())
    )


def read_rows(
    provider: BalanceProvider, chain: str, address: str, traded: Iterable[Balance] = ()
) -> list[dict[str, Any]]:
    """Return the rows of a wallet as a response has them; according to the ledger it has traded `traded`."""
    with provider.fetcher.begin(chain) as fetch:
        balances = provider.balances(address, lambda: [token.address for token in traded], fetch)
    rows: list[dict[str, Any]] = json.loads(
        tokens_json(in_order(CHAINS[chain], balances, Filter(keep_spam=False)))
    )
    return rows


def evm_token(number: int, units: int, **facts: Any) -> Balance:
    """Return the balance of an EVM token, the same token for the same number."""
    return _balance(evm_address(seeded("token", number)), number, units, facts, decimals=18)


def solana_token(number: int, units: int, **facts: Any) -> Balance:
    """Return the balance of a Solana token, the same token for the same number."""
    return _balance(solana_address(seeded("token", number)), number, units, facts, decimals=6)


def _balance(address: str, number: int, units: int, facts: dict[str, Any], decimals: int) -> Balance:
    given = {"name": f"Token {number}", "symbol": f"T{number}", "decimals": decimals} | facts
    return Balance(address, given.pop("name"), given.pop("symbol"), given.pop("decimals"), units, **given)

"""The response for a wallet is the same with every provider."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.holdings.conftest import Hold, Send, SendAt, evm_token, solana_token
from tests.ledger.in_process import Importer
from tests.ledger.rows import price_row
from tests.stub.moralis import Balance
from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection


def row(token: Balance, formatted: str, **changes: Any) -> dict[str, Any]:
    """Return a row of the response."""
    return {
        "token_address": token.address,
        "token_name": token.name,
        "symbol": token.symbol,
        "amount": str(token.units),
        "amount_formatted": formatted,
        "decimals": token.decimals,
        "verified_contract": False,
    } | changes


def priced(row: dict[str, Any], worth: str) -> dict[str, Any]:
    """Return a row of a token that was traded for as much of the native coin."""
    return row | {"price": 1, "price_source": "trade", "worth": Decimal(worth)}


def rows(response: TestResponse) -> list[dict[str, Any]]:
    holdings = json.loads(response.text, parse_float=Decimal)["data"]["active_holdings"]
    assert response.status_code == 200
    assert holdings["loading"] is False
    assert holdings["count"] == len(holdings["tokens"])
    return list(holdings["tokens"])


@pytest.mark.parametrize("provider", ["moralis", "rpc", "alchemy"])
def test_a_wallet_has_the_same_response_on_every_chain(send_at: SendAt, track: Hold, provider: str) -> None:
    send = send_at(**{f"{chain}_provider": provider for chain in CHAINS})
    of_evm = ("1.234567890123456789", "7.000000000000000001", "0.000000000000000005")
    of_solana = ("1234567890.123456789", "7.000001", "0.000005")
    for chain, name, currency, formatted in (
        ("eth", "Ether", "ETH", of_evm),
        ("bnb", "BNB", "BNB", of_evm),
        ("base", "Ether", "ETH", of_evm),
        ("solana", "Solana", "SOL", of_solana),
    ):
        token = solana_token if chain == "solana" else evm_token
        one = 10 ** token(0, 0).decimals
        few, many, none = token(1, 5), token(2, 7 * one + 1), token(3, 0)
        own = (few, none, many)
        address = track(chain, native=1234567890123456789, tokens=own, traded=own)
        native = Balance("native", name, currency, 9 if chain == "solana" else 18, 1234567890123456789)
        found = rows(send(chain, address))
        assert [bool(shown.pop("price_at", None)) for shown in found] == [False, True, True]
        assert found == [
            row(native, formatted[0], verified_contract=True),
            priced(row(many, formatted[1]), formatted[1][:8]),
            priced(row(few, formatted[2]), formatted[2][:8]),
        ]
        (nothing,) = rows(send(chain, track(chain)))
        assert nothing == row(native._replace(units=0), "0", verified_contract=True)


def test_the_balances_of_one_snapshot_come_in_pages(send: Send, track: Hold, connection: Connection) -> None:
    own = [solana_token(number, number * 10**6) for number in range(1, 8)]
    address = track("solana", native=5, tokens=own)
    whole = rows(send("solana", address))
    assert len(whole) == 8
    assert "pagination" not in send("solana", address).json["data"]
    found: list[dict[str, Any]] = []
    cursor: str | None = ""
    pages = 0
    while cursor is not None:
        response = send("solana", address, limit=3, cursor=cursor)
        found += rows(response)
        pagination = response.json["data"]["pagination"]
        assert (pagination["limit"], pagination["total"]) == (3, 8)
        last, cursor = cursor, pagination["next_cursor"]
        pages += 1
    assert (found, pages) == (whole, 3)
    # Of another wallet, it is no cursor.
    other = track("solana", native=5, tokens=own)
    assert rows(send("solana", other))
    assert send("solana", other, limit=3, cursor=last).json["error"]["parameter"] == "cursor"


def test_a_page_of_balances_that_were_read_again_is_refused(
    send_at: SendAt, track: Hold, connection: Connection
) -> None:
    own = [solana_token(number, number * 10**6) for number in range(1, 8)]
    address = track("solana", native=5, tokens=own)
    send = send_at(holdings_ttl_seconds=0.05)
    first = send("solana", address, limit=3)
    cursor = first.json["data"]["pagination"]["next_cursor"]
    connection.execute("UPDATE holdings_snapshots SET refreshed_at = refreshed_at - interval '1 minute'")
    refused = send_at()("solana", address, limit=3, cursor=cursor)
    assert (refused.status_code, refused.json["error"]["parameter"]) == (400, "cursor")
    assert "begin from the start" in refused.json["error"]["message"]


@pytest.mark.settings(answer_ttl_seconds=0)
def test_balances_are_worth_what_their_tokens_cost(
    send: Send, client: FlaskClient, api_key: str, track: Hold, database_url: str
) -> None:
    importer = Importer(database_url)
    traded, quoted, unknown = (solana_token(number, number * 1_500_000) for number in range(1, 4))
    address = track("solana", native=2 * 10**9, tokens=(traded, quoted, unknown), traded=(traded, quoted))
    without_dollars = send("solana", address)
    assert "price" not in rows(without_dollars)[0]
    now = datetime.now(UTC)
    importer.prices([price_row("200", now - timedelta(minutes=1))])
    quote = {"usd": "60", "priced_at": now.isoformat(), "liquidity_usd": "20000"}
    assert importer.quotes([{"blockchain": "solana", "mint": quoted.address} | quote]).landed == 1
    response = send("solana", address)
    found = {shown["token_address"]: shown for shown in rows(response)}
    assert response.headers["ETag"] != without_dollars.headers["ETag"]
    worth = {mint: (shown.get("worth"), shown.get("worth_usd")) for mint, shown in found.items()}
    assert worth == {
        "native": (2, 400),
        traded.address: (Decimal("1.5"), 300),
        quoted.address: (Decimal("0.9"), 180),
        unknown.address: (None, None),
    }
    query = {"blockchain": "solana", "mint": ",".join(found), "api_key": api_key}
    prices = client.get("/v1/tokens/prices", query_string=query).text
    for price in json.loads(prices, parse_float=Decimal)["data"]["tokens"]:
        own = [found[price["mint"]].get(name) for name in ("price", "price_at", "price_source")]
        assert own == [price["price"], price["price_at"], price["price_source"]]
    texts = {shown["token_address"]: shown for shown in rows(send("solana", address, amounts="string"))}
    assert [texts[quoted.address][name] for name in ("price", "worth")] == ["0.3", "0.9"]


def test_balances_are_returned_when_no_price_can_be_read(
    send_at: SendAt, track: Hold, connection: Connection
) -> None:
    token = solana_token(1, 5)
    address = track("solana", tokens=(token,), traded=(token,))
    with connection.transaction():
        connection.execute("LOCK TABLE token_prices")
        response = send_at(statement_timeout_seconds=0.5)("solana", address)
    assert rows(response)[1] == row(token, "0.000005")
    assert "No prices" in response.json["data"]["warnings"][0]

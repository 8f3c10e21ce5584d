"""GET /v1/wallets/tokens: the tokens of a wallet by a figure, in pages."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, GROUP, trade_row
from wallet_api.orders import ORDERS
from wallet_api.schemas.wallet_tokens import SORTS

PATH = "/wallets/tokens"
NOW = datetime.now(UTC).replace(microsecond=0)
OWN = {"blockchain": "solana", "address": ANN}


@pytest.fixture(autouse=True)
def _world(importer: Importer) -> None:
    """Seven tokens: two with the same figures, two without a price, one that is sold."""
    ages = (1, 1, 2, 3, 60, 70, 80)
    importer.trades(
        [
            trade_row(
                *(ANN, f"b{number}", NOW - timedelta(hours=age)),
                mint=mint_of(f"t{number}"),
                value=str(max(number, 1)),
            )
            for number, age in enumerate(ages)
        ]
        + [
            trade_row(
                ANN, "s", NOW - timedelta(minutes=9), mint=mint_of("t3"), transaction_type="sell", value="9"
            )
        ]
    )


@pytest.mark.parametrize(("sort", "order"), list(product(SORTS, ORDERS)))
def test_pages_of_any_size_are_the_whole_list(caller: Caller, sort: str, order: str) -> None:
    whole = caller.get(PATH, **OWN, sort=sort, order=order)["tokens"]
    assert len(whole) == 7
    for size in (1, 3):
        rows, cursor = [], ""
        while True:
            data = caller.get(PATH, **OWN, sort=sort, order=order, limit=size, cursor=cursor)
            rows += data["tokens"]
            assert data["pagination"]["total"] == 7
            cursor = data["pagination"]["next_cursor"]
            if not data["pagination"]["has_more"]:
                break
        assert (rows, cursor) == (whole, None)


def test_rows_are_those_of_history_and_can_be_those_that_are_held(caller: Caller) -> None:
    overview = caller.get("/wallets/history", **GROUP, address=ANN)["token_overview"]
    data = caller.get(PATH, **OWN)
    assert data["tokens"] == overview
    held = caller.get(PATH, **OWN, still_holding="true")["tokens"]
    sold = caller.get(PATH, **OWN, still_holding="false")["tokens"]
    assert [row["mint"] for row in sold] == [mint_of("t3")]
    assert held == [row for row in overview if row["still_holding"]]
    assert caller.document(PATH, **OWN, limit=5000)["data"]["warnings"]


def test_a_cursor_is_of_its_order_alone_and_a_strange_wallet_of_none(caller: Caller) -> None:
    cursor = caller.get(PATH, **OWN, limit=1)["pagination"]["next_cursor"]
    assert caller.send(PATH, **OWN, sort="invested", cursor=cursor).status_code == 400
    assert caller.get(PATH, **OWN, limit=3, format="json", cursor=cursor)["tokens"]
    unknown = caller.send(PATH, blockchain="solana", address=mint_of("nobody"))
    assert unknown.status_code == 404

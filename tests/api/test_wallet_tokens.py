"""GET /v1/wallets/tokens: the tokens of a wallet by a figure, in pages."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, trade_row
from wallet_api.api.schemas.wallet_tokens import SORTS
from wallet_api.base.orders import ORDERS

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


def test_pages_of_any_size_are_the_whole_list(caller: Caller) -> None:
    for (sort, order), size in product(product(SORTS, ORDERS), (1, 3)):
        whole = caller.get(PATH, **OWN, sort=sort, order=order)["tokens"]
        assert len(whole) == 7
        pages = caller.pages(PATH, "tokens", **OWN, sort=sort, order=order, limit=size)
        assert pages == whole, (sort, order, size)


@pytest.mark.settings(answer_ttl_seconds=0)
def test_who_does_not_change_between_pages_is_on_one_of_them(caller: Caller, importer: Importer) -> None:
    question = OWN | {"sort": "invested"}
    first = caller.get(PATH, **question, limit=2)
    # One passes the place of the cursor, another falls behind it, and one is new.
    at = NOW - timedelta(minutes=5)
    importer.trades([trade_row(ANN, name, at, mint=mint_of(name), value="50") for name in ("t0", "new")])
    importer.trades([trade_row(ANN, "b6", NOW - timedelta(hours=80), mint=mint_of("t6"), value="0.5")])
    rest = caller.get(PATH, **question, cursor=first["pagination"]["next_cursor"])
    names = {mint_of(name): name for name in (*(f"t{number}" for number in range(7)), "new")}
    assert [names[row["mint"]] for row in first["tokens"]] == ["t6", "t5"]
    assert [names[row["mint"]] for row in rest["tokens"]] == ["t4", "t3", "t2", "t1", "t6"]
    assert (first["pagination"]["total"], rest["pagination"]["total"]) == (7, 8)


def test_a_cursor_is_of_its_order_alone_and_a_strange_wallet_of_none(caller: Caller) -> None:
    cursor = caller.get(PATH, **OWN, limit=1)["pagination"]["next_cursor"]
    assert caller.send(PATH, **OWN, sort="invested", cursor=cursor).status_code == 400
    assert caller.get(PATH, **OWN, limit=3, format="json", cursor=cursor)["tokens"]
    unknown = caller.send(PATH, blockchain="solana", address=mint_of("nobody"))
    assert unknown.status_code == 404

"""Trades of files that state dollars alone: their value is computed with the native price at their time."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import TakeIn
from tests.ledger.command import changed, run_file
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import BEN, EVM, WALLETS, price_row, trade_row
from tests.lib.backups import at, done
from wallet_api.base.forms import AMOUNT_FORM
from wallet_api.database import Connection
from wallet_api.ledger import imports

AT = datetime(2026, 1, 30, 12, 51, 16, tzinfo=UTC)
HOUR = timedelta(hours=1)
UNKNOWN = (
    "value is missing, and no price of {} within an hour of created_at is known, by which value_usd would"
    " become one: import prices first"
)


@pytest.fixture
def take_in(take_in: TakeIn, database_url: str) -> TakeIn:
    """Imports trades with the command, into a ledger that tracks wallets and has two prices."""
    Importer(database_url).wallets(WALLETS)
    Importer(database_url).prices([price_row("150", AT), price_row("300", AT + HOUR)])
    return partial(take_in, "trades")


def dollars(signature: str = "s", usd: str = "300", at: datetime = AT, **fields: Any) -> Row:
    """A trade whose value is stated in dollars alone."""
    row = trade_row(BEN, signature, at, value_usd=usd, **fields)
    return {name: value for name, value in row.items() if name != "value" or "value" in fields}


def stored(connection: Connection) -> dict[str, tuple[Decimal, Decimal | None, bool]]:
    """Return value, dollars and whether the value was derived, by signature."""
    rows = connection.execute("SELECT tx_signature, value, value_usd, value_derived FROM trades")
    return {row["tx_signature"]: (row["value"], row["value_usd"], row["value_derived"]) for row in rows}


def test_dollars_become_a_value_by_the_price_nearest_their_time(
    take_in: TakeIn, connection: Connection
) -> None:
    imported = take_in(
        dollars("at"),
        dollars("nearer", at=AT + timedelta(minutes=31)),
        dollars("third", usd="100"),
        dollars("nothing", usd="0"),
        dollars("both", value="7"),
        dollars("empty", value=""),
    )
    assert (imported.status, imported.summary["landed"], imported.summary["derived"]) == (0, 6, 5)
    assert stored(connection) == {
        "at": (Decimal(2), Decimal(300), True),
        "nearer": (Decimal(1), Decimal(300), True),
        "third": (Decimal("0.666666666666666667"), Decimal(100), True),
        "nothing": (Decimal(0), Decimal(0), True),
        "both": (Decimal(7), Decimal(300), False),
        "empty": (Decimal(2), Decimal(300), True),
    }


def test_dollars_without_a_price_are_rejected_with_the_reason_and_never_zero(
    take_in: TakeIn, database_url: str, connection: Connection
) -> None:
    on_eth = {"blockchain": "eth", "wallet_address": EVM, "mint": EVM}
    imported = take_in(
        dollars("good"),
        dollars("late", at=AT + 2 * HOUR + timedelta(seconds=1), token_name="Late"),
        dollars("eth", **on_eth),
        dollars("neither", usd=""),
        dollars("below", usd="-1"),
    )
    assert (imported.status, imported.summary["landed"], imported.summary["rejected"]) == (3, 1, 4)
    assert imported.reasons == {
        2: UNKNOWN.format("SOL"),
        3: UNKNOWN.format("ETH"),
        4: f"value is empty; it must be {AMOUNT_FORM}, unless value_usd is stated",
        5: 'value_usd must be at least 0, not "-1"',
    }
    assert set(stored(connection)) == {"good"}
    # The rejected row is imported once there is a price.
    late, *_ = (reject["row"] for reject in imported.rejects or [] if reject["line"] == 2)
    assert "value" not in json.loads(late)
    Importer(database_url).prices([price_row("100", AT + 2 * HOUR)])
    assert changed(take_in(late.encode())) == (1, 1)
    assert stored(connection)["late"] == (Decimal(3), Decimal(300), True)


def test_the_same_dollars_are_no_change_whatever_prices_came_since(
    take_in: TakeIn, database_url: str, connection: Connection
) -> None:
    rows = [dollars("a", at=AT + timedelta(minutes=10)), dollars("b")]
    assert changed(take_in(*rows)) == (2, 2)
    before = stored(connection)
    Importer(database_url).prices([price_row("200", AT + timedelta(minutes=9)), price_row("151", AT)])
    assert changed(take_in(*rows)) == (2, 0)
    assert stored(connection) == before
    # Other dollars are a correction, with the price that is nearest now; and so is another time.
    assert changed(take_in(dollars("a", usd="400", at=AT + timedelta(minutes=10)), rows[1])) == (2, 1)
    assert stored(connection)["a"] == (Decimal(2), Decimal(400), True)
    assert changed(take_in(dollars("b", at=AT + HOUR))) == (1, 1)
    assert stored(connection)["b"] == (Decimal(1), Decimal(300), True)


def test_a_value_that_was_stated_stays_when_dollars_are_corrected(
    take_in: TakeIn, connection: Connection
) -> None:
    late = AT + 3 * HOUR
    whole = trade_row(BEN, "whole", late, value="5", value_usd="900")
    assert changed(take_in(whole, trade_row(BEN, "native", AT, value="5"))) == (2, 2)
    # No price is needed for them.
    assert changed(take_in(dollars("whole", usd="901", at=late), dollars("native", usd="700"))) == (2, 2)
    assert stored(connection) == {
        "whole": (Decimal(5), Decimal(901), False),
        "native": (Decimal(5), Decimal(700), False),
    }
    assert changed(take_in(dollars("derived"))) == (1, 1)
    # A value that is stated later replaces one that was computed.
    assert changed(take_in(dollars("derived", value="2.1"))) == (1, 1)
    assert changed(take_in(dollars("derived", usd="310"))) == (1, 1)
    assert stored(connection)["derived"] == (Decimal("2.1"), Decimal(310), False)


@pytest.mark.parametrize("first_rows", [1, 100_000])
def test_what_one_row_of_a_file_leaves_out_another_may_state(
    take_in: TakeIn, connection: Connection, monkeypatch: pytest.MonkeyPatch, first_rows: int
) -> None:
    # The batches have one, two and four rows, or all are in one.
    monkeypatch.setattr(imports, "FIRST_ROWS", first_rows)
    imported = take_in(
        dollars("a"),
        dollars("a", value="2.5"),
        trade_row(BEN, "b", AT, value="2.5"),
        dollars("b"),
        dollars("c", at=AT + 3 * HOUR),
        dollars("a", value="2.6"),
        dollars("d"),
        dollars("c", at=AT + 3 * HOUR, value="2.5"),
    )
    known = "an earlier line" if first_rows == 1 else "line 1"
    fault = f"has the identity of {known} with other amounts: number them with event_index"
    # A price is wanted only where no row of the batch states a value.
    late = {5: UNKNOWN.format("SOL")} if first_rows == 1 else {}
    assert imported.reasons == {6: f"line 6 {fault}"} | late
    value = (Decimal("2.5"), Decimal(300), False)
    derived = (Decimal(2), Decimal(300), True)
    assert stored(connection) == {"a": value, "b": value, "c": value, "d": derived}


def test_the_mark_survives_what_walks_the_trade_again(
    take_in: TakeIn, database_url: str, connection: Connection, tmp_path: Path
) -> None:
    assert take_in(dollars("later", at=AT + timedelta(minutes=1))).status == 0
    # A trade before it, which takes the position out; a price, which values a trade; and a rebuild.
    assert take_in(trade_row(BEN, "before", AT - 2 * HOUR)).status == 0
    Importer(database_url).prices([price_row("100", AT - 2 * HOUR)])
    done("rebuild", settings=at(database_url))
    assert stored(connection)["later"] == (Decimal(2), Decimal(300), True)
    assert stored(connection)["before"] == (Decimal(1), Decimal(100), False)
    # An export states it, so that the file needs no prices.
    exported = tmp_path / "out.ndjson"
    done("export", "trades", exported, settings=at(database_url))
    rows = {row["tx_signature"]: row for row in map(json.loads, exported.read_text().splitlines())}
    assert Decimal(rows["later"]["value"]) == 2
    assert changed(run_file(database_url, "import", "trades", exported)) == (2, 0)

"""`wallet-api import quotes`: what tokens cost on markets, from a file."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.conftest import TakeIn
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import BEN, WALLETS, price_row, trade_row
from wallet_api.database import Connection

NOW = datetime.now(UTC).replace(microsecond=0)
MINT = mint_of("mint")
KEPT = """
SELECT span_seconds, quoted_at, usd::text, not_used
  FROM token_quotes
 ORDER BY span_seconds, starts_at
"""


def quote(ago: timedelta, usd: Any = "100", **fields: Any) -> Row:
    """A quote of a deep market so long ago."""
    row = {"blockchain": "solana", "mint": MINT, "usd": usd, "priced_at": (NOW - ago).isoformat()}
    return row | {"liquidity_usd": "5000"} | fields


@pytest.fixture(autouse=True)
def traded(database_url: str) -> None:
    """A ledger with a traded token."""
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    importer.prices(price_row("200", NOW - timedelta(hours=hours)) for hours in (0, 1, 2, 48, 49, 24 * 89))
    importer.trades([trade_row(BEN, "s", NOW - timedelta(days=95))])


def test_the_last_one_of_each_minute_and_hour_is_kept_and_again_changes_nothing(
    take_in: TakeIn, connection: Connection
) -> None:
    # In one minute, and another one of an hour of long ago.
    minute = timedelta(seconds=NOW.timestamp() % 60, minutes=NOW.minute, hours=1)
    rows = [
        quote(minute - timedelta(seconds=50), "103"),
        quote(minute, "101"),
        quote(minute - timedelta(seconds=20), "102"),
        quote(minute - timedelta(minutes=5), "104"),
        quote(timedelta(days=89), "99"),
    ]
    first = take_in("quotes", *rows)
    assert (first.status, first.summary["landed"], first.summary["changed"]) == (0, 5, 2)
    kept = [(row["span_seconds"], row["usd"], row["not_used"]) for row in connection.execute(KEPT)]
    assert kept == [(60, "103", None), (60, "104", None), (3600, "99", None), (3600, "104", None)]
    again = take_in("quotes", *rows)
    assert (again.status, again.summary["landed"], again.summary["changed"]) == (0, 5, 0)


def test_a_used_quote_of_an_hour_goes_before_a_later_one_that_is_not(
    take_in: TakeIn, connection: Connection
) -> None:
    start = timedelta(seconds=NOW.timestamp() % 3600, hours=1)
    outcome = take_in(
        "quotes",
        quote(start, "100"),
        quote(start - timedelta(minutes=1), "5000"),
        quote(start - timedelta(minutes=2), "100", liquidity_usd=None),
    )
    assert (outcome.status, outcome.summary["not_used"]) == (0, {"far": 1, "thin": 1})
    kept = [(row["span_seconds"], row["usd"], row["not_used"]) for row in connection.execute(KEPT)]
    assert kept == [(60, "100", None), (60, "5000", "far"), (60, "100", "thin"), (3600, "100", None)]


def test_bad_rows_are_rejected_by_reason_and_the_good_ones_land(take_in: TakeIn) -> None:
    minute = timedelta(minutes=1)
    outcome = take_in(
        "quotes",
        quote(minute),
        quote(minute, mint=mint_of("untraded")),
        quote(minute, mint="short"),
        quote(minute, "0"),
        quote(minute, "-1"),
        quote(minute, liquidity_usd="-1"),
        quote(timedelta(days=91)),
        quote(-timedelta(hours=6)),
        b"not JSON",
        quote(timedelta(minutes=2), "1"),
        quote(timedelta(minutes=2), "2"),
    )
    assert (outcome.status, outcome.summary["landed"], outcome.summary["rejected"]) == (3, 2, 9)
    beginnings = {
        2: "no tracked wallet ever traded this token",
        3: "mint must be",
        4: "usd must be above 0",
        5: "usd must be above 0",
        6: "liquidity_usd must be at least 0",
        7: "priced_at is more than 90 days ago",
        8: "priced_at is more than 5 minutes ahead",
        11: "line 11 has the identity of line 10 with another usd",
    }
    reasons = {line: reason for line, reason in outcome.reasons.items() if line in beginnings}
    assert {line: reason[: len(beginnings[line])] for line, reason in reasons.items()} == beginnings


def test_what_a_file_corrects_makes_no_price_any_more(take_in: TakeIn, connection: Connection) -> None:
    start = timedelta(seconds=NOW.timestamp() % 3600, hours=1)
    newest = "SELECT price::text AS price FROM market_prices"
    take_in("quotes", quote(start + timedelta(minutes=1), "100"), quote(start, "120"))
    assert connection.fetch_value(newest).startswith("0.6")
    # An hour earlier is the last one that is used now.
    take_in("quotes", quote(start, "120", liquidity_usd="1"))
    assert connection.fetch_value(newest).startswith("0.5")
    take_in("quotes", quote(start, "130"))
    assert connection.fetch_value(newest).startswith("0.65")

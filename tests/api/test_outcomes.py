"""What became of signals: the worked example of docs/figures.md."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, GROUP, price_row, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

# All spans after it are over, and the quotes of minutes are kept.
NOON = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=28)
QUESTION = GROUP | {"mode": "cluster", "min_wallets": 1, "include_wallets": "false"}


def bought(minutes: float, price: str) -> Row:
    """A buy of a token at a price, so many minutes after noon."""
    at = NOON + timedelta(minutes=minutes)
    return trade_row(ANN, f"at {minutes} for {price}", at, value=price)


def quoted(minutes: float, liquidity: str, usd: str = "200") -> Row:
    """A quote of the token."""
    at = (NOON + timedelta(minutes=minutes)).isoformat()
    return {
        "blockchain": "solana",
        "mint": mint_of("mint"),
        "usd": usd,
        "priced_at": at,
        "liquidity_usd": liquidity,
    }


def outcome(caller: Caller, moment: datetime = NOON) -> Row:
    """What became of the only signal of a moment."""
    [signal] = caller.get("/signals", **QUESTION, as_of=moment.isoformat())["signals"]
    found: Row = signal["outcome"]
    return found


def known(minutes: float, price: float, change: float, source: str = "trade") -> Row:
    """An outcome with a price."""
    at = NOON + timedelta(minutes=minutes)
    row: dict[str, Any] = {"price": price, "price_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
    return row | {"change_percent": change, "source": source}


GONE = {"change_percent": -100, "gone": True}


def test_the_worked_example(caller: Caller, importer: Importer) -> None:
    importer.prices([price_row("200", NOON), price_row("200", NOON + timedelta(hours=25))])
    importer.trades([bought(-10, "1"), bought(4, "2"), bought(62, "3"), bought(400, "9")])
    importer.quotes([quoted(1470, "900")])
    assert outcome(caller) == {"1h": known(62, 3, 50), "6h": None, "24h": GONE}
    # A price comes first, also after the quote.
    importer.trades([bought(1580, "1")])
    assert outcome(caller)["24h"] == known(1580, 1, -50)


def test_a_first_price_that_is_late_begins_the_longer_spans_alone(caller: Caller, importer: Importer) -> None:
    importer.prices([price_row("200", NOON)])
    importer.trades([bought(-10, "1"), bought(10, "2"), bought(62, "3"), bought(360, "1")])
    assert outcome(caller) == {"1h": None, "6h": known(360, 1, -50), "24h": None}


def test_a_used_quote_makes_an_outcome_and_one_that_is_not_leaves_it_unknown(
    caller: Caller, importer: Importer
) -> None:
    importer.prices([price_row("200", NOON + timedelta(hours=hour)) for hour in (0, 1, 6)])
    importer.trades([bought(-10, "1"), bought(1, "2")])
    importer.quotes(
        [
            *(quoted(61, "900"), quoted(62, "20000", "800"), quoted(63, "20000", "900")),
            # A pool that is large enough is there, so that the token is not gone.
            *(quoted(361, "900"), quoted(362, "20000", "200000")),
        ]
    )
    assert outcome(caller) == {"1h": known(62, 4, 100, "market"), "6h": None, "24h": None}


def test_what_is_not_over_is_not_gone_and_nothing_later_than_now_counts(
    caller: Caller, importer: Importer
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    importer.prices([price_row("200", now)])
    importer.trades([trade_row(ANN, "bought", now - timedelta(minutes=62))])
    quote = quoted(0, "900") | {"priced_at": (now - timedelta(seconds=30)).isoformat()}
    importer.quotes([quote])
    moment = now - timedelta(minutes=62)
    assert outcome(caller, moment) == {"1h": None, "6h": None, "24h": None}
    importer.trades([trade_row(ANN, "sold", now - timedelta(seconds=10), transaction_type="sell", value="2")])
    assert outcome(caller, moment)["1h"]["change_percent"] == 100
    [signal] = caller.get("/signals", **QUESTION)["signals"]
    assert signal["outcome"] == {"1h": None, "6h": None, "24h": None}


def test_the_rows_of_a_table_have_its_members_as_columns(caller: Caller, importer: Importer) -> None:
    importer.prices([price_row("200", NOON)])
    importer.trades([bought(0, "2"), bought(62, "3")])
    text = caller.send("/signals", **QUESTION, as_of=NOON.isoformat(), format="csv").text
    [row] = csv.DictReader(io.StringIO(text))
    assert {name: value for name, value in row.items() if name.startswith("outcome_1h") and value} == {
        "outcome_1h_price": "3",
        "outcome_1h_price_at": f"{NOON + timedelta(minutes=62):%Y-%m-%dT%H:%M:%SZ}",
        "outcome_1h_change_percent": "50",
        "outcome_1h_source": "trade",
    }

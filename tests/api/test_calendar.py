"""GET /v1/wallet/pnl_calendar: the days of a place, and months alone."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from zoneinfo import ZoneInfo

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, trade_row

PATH = "/wallet/pnl_calendar"


def days_of(data: Row) -> dict[str, Row]:
    return {day["date"]: day for month in data["months"] for day in month["dates"]}


def test_the_days_of_a_zone_are_those_of_its_clocks_and_sum_up_to_the_same(
    caller: Caller, database_url: str
) -> None:
    tracked, _ = random_trades.fill(Importer(database_url), 3, 700, days=45)
    zones = ("Asia/Kolkata", "America/New_York", "Pacific/Kiritimati", "Europe/Berlin")
    for wallet, zone in product(tracked, map(ZoneInfo, zones)):
        of_wallet = {"blockchain": "solana", "address": wallet["wallet_address"]}
        data = caller.get(PATH, **of_wallet, timezone=zone.key)
        trades = caller.get("/wallets/history", **of_wallet, type=wallet["type"], limit=1000)["trades"]
        expected: defaultdict[str, list[Row]] = defaultdict(list)
        for trade in trades:
            at = datetime.fromisoformat(trade["created_at"]).astimezone(zone)
            expected[at.date().isoformat()].append(trade)
        days = days_of(data)
        assert days.keys() == expected.keys()
        for date, rows in expected.items():
            assert days[date]["txn_total"] == len(rows)
            assert days[date]["tokens_traded"] == len({row["mint"] for row in rows})
            volume = sum((row["value"] for row in rows), Decimal(0))
            assert abs(days[date]["volume"] - volume) < Decimal("1e-8")
        for month in data["months"]:
            own = month["month"]
            rows = [
                row
                for date, of_day in expected.items()
                if date.startswith(f"{own['year']}-{own['month']:02}")
                for row in of_day
            ]
            assert own["txn_total"] == len(rows)
            assert own["tokens_traded"] == len({row["mint"] for row in rows})
        # Over all days, they are those of UTC.
        utc = days_of(caller.get(PATH, **of_wallet)).values()
        for figure in ("txn_total", "buy_txn", "volume", "realized_pnl"):
            whole, other = (sum(day[figure] for day in part) for part in (utc, days.values()))
            assert abs(whole - other) < Decimal("1e-6")
        last = datetime.now(zone)
        assert (data["month"]["year"], data["month"]["month"]) == (last.year, last.month)


def test_a_day_of_a_zone_with_summer_time_has_its_own_length(caller: Caller, importer: Importer) -> None:
    # In Berlin the clocks went from 02:00 to 03:00.
    night = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
    importer.trades([trade_row(ANN, f"s{hour}", night + timedelta(hours=hour)) for hour in range(26)])
    of_ann = {"blockchain": "solana", "address": ANN}
    days = days_of(caller.get(PATH, **of_ann, timezone="Europe/Berlin"))
    assert {date: day["txn_total"] for date, day in days.items()} == {"2026-03-29": 23, "2026-03-30": 3}


def test_months_alone_are_the_same_without_their_days(caller: Caller, importer: Importer) -> None:
    now = datetime.now(UTC)
    importer.trades([trade_row(ANN, f"s{days}", now - timedelta(days=days)) for days in range(0, 90, 7)])
    of_ann = {"blockchain": "solana", "address": ANN}
    whole, months = caller.get(PATH, **of_ann), caller.get(PATH, **of_ann, dates="false")
    assert months["months"] == [{"month": month["month"]} for month in whole["months"]]
    assert "dates" not in months
    assert months["month"] == whole["month"]
    table = caller.send(PATH, **of_ann, dates="false", format="csv").text
    assert len(table.splitlines()) == 1 + 13

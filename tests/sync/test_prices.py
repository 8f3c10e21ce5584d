"""`wallet-api sync prices`: current and past prices, from the first source that has them."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tests.ledger.in_process import Importer
from tests.ledger.rows import trade_row
from tests.stub import faults
from tests.stub.server import Stub
from tests.sync.operator import Operator, Start, now, plain
from tests.sync.solana import FART, WALLET

NOW = datetime.now(UTC).replace(microsecond=0)
RATE_LIMITED = {
    "status": {
        "error_code": 429,
        "error_message": "You've exceeded the Rate Limit. Please visit us to subscribe",
    }
}
TOO_LONG_AGO = {"error": {"status": {"error_code": 10012, "error_message": "past 365 days"}}}


def known(operator: Operator) -> dict[tuple[str, datetime], Decimal]:
    """The prices in the ledger."""
    rows = operator.fetch("SELECT currency, priced_at, usd FROM native_prices")
    return {(row["currency"], row["priced_at"].astimezone(UTC)): row["usd"] for row in rows}


def hours(operator: Operator, currency: str) -> set[datetime]:
    """The hours in which the ledger has a price."""
    return {at.replace(minute=0, second=0, microsecond=0) for name, at in known(operator) if name == currency}


def test_the_prices_of_now_land_with_the_time_they_were_made(stub: Stub, operator: Operator) -> None:
    stub.prices.latest["SOL"] = 182.31052342500814
    done = operator.sync("prices", "--since", now())
    assert (done.status, done.only["changed"], done.only["sources"]) == (0, 3, ["coingecko"])
    prices = {currency: (usd, at) for (currency, at), usd in known(operator).items()}
    assert plain(prices["SOL"][0]) == "182.31052342500814"
    assert plain(prices["ETH"][0]) == "3001.5"
    assert timedelta(seconds=15) < datetime.now(UTC) - prices["BNB"][1] < timedelta(seconds=60)


def test_what_coingecko_does_not_have_binance_tells(stub: Stub, operator: Operator) -> None:
    for fault in (
        *(faults.status(429), faults.status(500), faults.raw(b"<html>1020</html>", "text/html", 403)),
        *(faults.document(document) for document in (RATE_LIMITED, {}, [])),
        faults.document({"solana": {"usd": None, "last_updated_at": 1779092258}}),
        faults.document({"solana": {"usd": 0, "last_updated_at": 1779092258}}),
        faults.document({"solana": {"usd": 1, "last_updated_at": 99999999999999999}}),
        faults.raw(b"null"),
    ):
        stub.scenarios["coingecko"] = fault
        done = operator.sync("prices", "--since", now())
        assert (done.status, done.only["changed"], done.only["sources"]) == (0, 3, ["binance"])
        assert {plain(usd) for usd in known(operator).values()} == {"182.5", "640.25", "3001.5"}
        operator.fetch("DELETE FROM native_prices RETURNING 1")


def test_only_the_coin_that_is_left_out_is_asked_elsewhere(stub: Stub, operator: Operator) -> None:
    stub.prices.unknown = frozenset({"BNB"})
    done = operator.sync("prices", "--since", now())
    assert (done.status, done.only["changed"], done.only["sources"]) == (0, 3, ["binance", "coingecko"])


def test_a_price_that_is_not_of_now_is_not_taken_for_it(stub: Stub, operator: Operator) -> None:
    stub.prices.age_seconds = 3600
    assert operator.sync("prices", "--since", "1m").only["sources"] == ["binance"]


def test_with_both_away_nothing_lands_and_no_heart_beats(stub: Stub, operator: Operator) -> None:
    stub.scenarios["coingecko"] = stub.scenarios["binance"] = faults.status(500)
    done = operator.sync("prices", "--since", "1m")
    assert (done.status, done.only["missing"]) == (1, ["SOL", "BNB", "ETH"])
    assert known(operator) == {}
    assert operator.fetch("SELECT FROM sync_report WHERE name = 'rounds' AND total > 0") == []


def test_every_past_hour_gets_a_price_and_a_second_run_asks_for_none(stub: Stub, operator: Operator) -> None:
    stub.prices.hourly = lambda currency, moment: 100.0 + moment.hour
    operator.sync("prices", "--since", "30d")
    for currency in ("SOL", "BNB", "ETH"):
        assert len(hours(operator, currency)) >= 30 * 24
    before = known(operator)
    stub.requested.clear()
    operator.sync("prices", "--since", "30d")
    assert stub.requested == {"/api/v3/simple/price": 1}
    assert before.items() <= known(operator).items()


def test_the_past_that_coingecko_refuses_comes_from_binance(stub: Stub, operator: Operator) -> None:
    stub.prices.hourly = lambda currency, moment: 150.0
    too_long_ago = json.dumps(TOO_LONG_AGO).encode()
    stub.scenarios["coingecko"] = faults.raw(too_long_ago, code=401)
    done = operator.sync("prices", "--since", "10d")
    assert (done.status, done.only["missing_hours"], done.only["sources"]) == (0, 0, ["binance"])
    assert len(hours(operator, "SOL")) >= 240


def test_trades_without_dollars_get_their_value_however_old_they_are(stub: Stub, operator: Operator) -> None:
    operator.track(("solana", WALLET))
    moments = [NOW - timedelta(minutes=90), NOW - timedelta(days=200, minutes=3)]
    trades = [
        trade_row(WALLET, f"t{place}", moment, mint=FART, value="2") for place, moment in enumerate(moments)
    ]
    Importer(operator.url).trades(trades)
    stub.prices.hourly = lambda currency, moment: 150.0
    assert operator.sync("prices", "--since", "1h").status == 0
    assert {plain(row["value_usd"]) for row in operator.fetch("SELECT value_usd FROM trades")} == {"300"}
    # Only the hours that were missing were taken in.
    assert len(hours(operator, "SOL")) <= 4


def test_hours_that_nobody_knows_stay_without(operator: Operator) -> None:
    done = operator.sync("prices", "--since", "3h")
    assert done.status == 3
    assert done.only["missing_hours"] in (6, 9)
    assert len(known(operator)) == 3


def test_a_source_that_serves_this_location_not_is_asked_once(stub: Stub, start: Start) -> None:
    stub.scenarios["coingecko"] = faults.status(500)
    stub.scenarios["binance"] = faults.status(451)
    running = start("prices", "--every", "1", "--since", now())
    rounds = [running.next_round() for _ in range(3)]
    _, errors = running.end()
    failures = [" ".join(one["failures"]) for one in rounds]
    assert ["binance" in each for each in failures] == [True, False, False]
    assert errors.count("binance failed: barred") == 1
    assert len([call for call in stub.calls if call.subject.startswith("/binance/api/v3/ticker")]) == 1


def test_a_failure_is_logged_once_a_round_and_counted_by_source(stub: Stub, operator: Operator) -> None:
    for source in ("coingecko", "binance"):
        # A ban: the other requests of the round are not sent.
        stub.scenarios[source] = faults.status(418)
    output, errors = operator.start("prices", "--since", "3h").communicate(timeout=60)
    (failed,) = re.findall(r"; failed: ([^;]+);", output)
    assert re.fullmatch(
        r"binance banned 1, binance breaker_open \d, coingecko banned 1, coingecko breaker_open \d", failed
    )
    logged = re.findall(r"prices: (\w+ failed: \w+)", errors)
    assert sorted(logged) == [
        *("binance failed: banned", "binance failed: breaker_open"),
        *("coingecko failed: banned", "coingecko failed: breaker_open"),
    ]
    assert [
        len([call for call in stub.calls if source in call.subject]) for source in ("simple", "ticker")
    ] == [1, 1]

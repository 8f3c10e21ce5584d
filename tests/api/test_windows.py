"""`since` and `until`: windows of any time in place of periods, and of calendars and feeds."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from flask.testing import FlaskClient

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, GROUP, trade_row
from tests.lib.waiting import eventually
from wallet_api.database import Connection

BOARD = "/wallet/leaderboard"
TRACKER = "/wallets/tracker"
CALENDAR = "/wallet/pnl_calendar"
ANALYTICS = "/analytics"
FEED = "/transactions/latest"
OF_ANN = {"blockchain": "solana", "address": ANN}
# Each operation with a window, and the arguments that it needs.
OPERATIONS: dict[str, Row] = {
    BOARD: GROUP,
    TRACKER: OF_ANN,
    CALENDAR: OF_ANN,
    "/wallets/copy": OF_ANN,
    ANALYTICS: GROUP | {"mode": "most_traded"},
    FEED: GROUP,
    "/tokens/transactions": {"blockchain": "solana", "mint": "So11111111111111111111111111111111111111112"},
}
OCTOBER = {"since": "2026-10-01", "until": "2026-11-01"}


def ago(**length: float) -> str:
    return (datetime.now(UTC) - timedelta(**length)).isoformat()


def fill_example(importer: Importer) -> None:
    """Import the trades of the worked example in docs/figures.md."""
    importer.trades(
        trade_row(
            ANN,
            f"s{number}",
            datetime.fromisoformat(at),
            transaction_type=side,
            token_amount=amount,
            value=value,
        )
        for number, (at, side, amount, value) in enumerate(
            (
                ("2026-09-30T23:00:00+00:00", "buy", "100", "1"),
                ("2026-10-01T12:00:00+00:00", "buy", "100", "3"),
                ("2026-10-31T12:00:00+00:00", "sell", "50", "2"),
                ("2026-11-01T00:00:00+00:00", "sell", "50", "1.5"),
            )
        )
    )


# The buys and sells, what was bought for, and the profit.
WINDOWS: list[tuple[Row, tuple[object, ...]]] = [
    (OCTOBER, (1, 1, 3, 1)),
    ({"since": "2026-10-01T01:00:00+02:00", "until": "2026-11-01"}, (2, 1, 4, 1)),
    ({"since": "2026-10-31"}, (0, 2, 0, Decimal("1.5"))),
    ({"until": "2026-10-31"}, (2, 0, 4, 0)),
]


def test_the_worked_example_of_the_document_has_its_figures_and_states_its_window(
    caller: Caller, importer: Importer
) -> None:
    fill_example(importer)
    names = ("buy_txn", "sell_txn", "total_buy", "realized_pnl")
    for window, figures in WINDOWS:
        [entry] = caller.get(BOARD, **GROUP, **window)["leaderboard"]
        assert tuple(entry["period_stats"][name] for name in names) == figures
        stats = caller.get(TRACKER, **OF_ANN, **window)["period_stats"]
        assert tuple(stats[name] for name in names) == figures
        months = caller.get(CALENDAR, **OF_ANN, **window)["months"]
        assert sum(month["month"]["txn_total"] for month in months) == figures[0] + figures[1]
        [token] = caller.get(ANALYTICS, **GROUP, mode="most_traded", **window)["tokens"]
        assert [token[name] for name in names if name in token] == [figures[0], figures[1], figures[3]]
        feed = caller.get(FEED, **GROUP, **window)
        assert feed["count"] == figures[0] + figures[1]
        assert "total" not in feed["pagination"]
    data = caller.get(CALENDAR, **OF_ANN, **OCTOBER)
    assert [(month["month"]["year"], month["month"]["month"]) for month in data["months"]] == [(2026, 10)]
    assert (data["since"], data["until"]) == ("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z")
    assert [day["date"] for day in data["dates"]] == ["2026-10-01", "2026-10-31"]
    stats = caller.get(TRACKER, **OF_ANN, until="2026-11-01T00:00:00.000001Z")["period_stats"]
    assert (stats["since"], stats["until"]) == ("2026-09-30T23:00:00Z", "2026-11-01T00:00:00.000001Z")
    assert (stats["sell_txn"], "period" in stats) == (2, False)
    before = caller.get(BOARD, **GROUP, until="2026-09-30")
    assert (before["leaderboard"], "since" in before) == ([], False)


# The end of the first bucket, how many there are, and the trades of those with any.
BUCKETS: list[tuple[Row, str, int, dict[str, int]]] = [
    # Two hours.
    (
        {"since": "2026-10-01T11:30Z", "until": "2026-10-03T13:00Z"},
        *("2026-10-01T12:00:00Z", 26, {"2026-10-01T12:00:00Z": 1, "2026-10-01T14:00:00Z": 1}),
    ),
    (
        {"since": "2026-09-30T11:00Z", "until": "2026-10-01T12:00Z"},
        *("2026-09-30T12:00:00Z", 13, {"2026-10-01T00:00:00Z": 1, "2026-10-01T12:00:00Z": 1}),
    ),
    (
        {"since": "2026-10-01T12:00Z", "until": "2026-10-02T13:00Z"},
        *("2026-10-01T14:00:00Z", 13, {"2026-10-01T14:00:00Z": 1}),
    ),
    # No time is shown twice.
    (
        {"since": "2026-09-30", "until": "2026-10-01T12:00:00.5Z"},
        *("2026-09-30T02:00:00Z", 18, {"2026-10-01T00:00:00Z": 1, "2026-10-01T12:00:00Z": 2}),
    ),
    # Fifteen minutes.
    (
        {"since": "2026-10-01T06:10Z", "until": "2026-10-01T19:10Z"},
        *("2026-10-01T06:15:00Z", 53, {"2026-10-01T12:00:00Z": 1, "2026-10-01T12:15:00Z": 1}),
    ),
    # Days, and weeks from Thursdays on.
    (OCTOBER, "2026-10-02T00:00:00Z", 31, {"2026-10-02T00:00:00Z": 2, "2026-11-01T00:00:00Z": 1}),
    (
        {"since": "2026-09-30T23:00Z", "until": "2026-11-01T06:00Z"},
        *("2026-10-01T00:00:00Z", 33),
        {"2026-10-01T00:00:00Z": 1, "2026-10-02T00:00:00Z": 2}
        | {"2026-11-01T00:00:00Z": 1, "2026-11-01T06:00:00Z": 1},
    ),
    (
        {"since": "2025-01-01", "until": "2026-11-02"},
        *("2025-01-02T00:00:00Z", 97),
        {"2026-10-01T00:00:00Z": 1, "2026-10-08T00:00:00Z": 2, "2026-11-02T00:00:00Z": 2},
    ),
]


def test_buckets_of_a_window_end_at_multiples_of_their_length_and_with_it(
    caller: Caller, importer: Importer
) -> None:
    fill_example(importer)
    importer.trades([trade_row(ANN, "before", datetime.fromisoformat("2026-10-01T11:59:59.999999+00:00"))])
    for window, first, count, traded in BUCKETS:
        buckets = caller.get(ANALYTICS, **GROUP, mode="volume_trend", **window)["buckets"]
        assert (buckets[0]["timestamp"], len(buckets)) == (first, count), window
        assert {each["timestamp"]: each["txn"] for each in buckets if each["txn"]} == traded


def test_a_window_that_cannot_be_is_refused_by_name(caller: Caller) -> None:
    ahead = "Parameter until is more than 5 minutes ahead of now."
    for path, arguments in OPERATIONS.items():
        for window, name, message in (
            ({"since": "2026-10-02", "until": "2026-10-01"}, "since", "since"),
            ({"since": "2026-10-01", "until": "2026-10-01T02:00:00+02:00"}, "since", "since"),
            ({"until": ago(minutes=-6)}, "until", ahead),
            ({"since": ago(minutes=-6)}, "since", "since"),
            ({"since": "yesterday"}, "since", "since"),
        ):
            error = caller.refused(path, **arguments, **window)
            assert (error["code"], error["parameter"]) == ("invalid_parameter", name), (path, window)
            assert message in error["message"]
    for path in (BOARD, TRACKER, ANALYTICS):
        error = caller.refused(path, **OPERATIONS[path], period="7d", until="2026-10-01")
        assert error["parameter"] == "period"
        assert error["message"] == "Parameter period cannot be given with until, which stands in its place."
    # A board needs either.
    error = caller.refused(BOARD, **GROUP)
    assert (error["parameter"], error["allowed"][0]) == ("period", "6h")
    # Flows and changes have no window.
    assert caller.refused(ANALYTICS, **GROUP, mode="net_flow", since=ago(days=1))["parameter"] == "since"
    assert caller.refused(FEED, **GROUP, after="now", until=ago(days=1))["parameter"] == "until"


def test_a_window_up_to_five_minutes_ahead_ends_now(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, "s", datetime.now(UTC), mint=OPERATIONS["/tokens/transactions"]["mint"])])
    for path in OPERATIONS:
        document = caller.document(path, **OPERATIONS[path], since=ago(days=1), until=ago(minutes=-4))
        data = document["data"].get("period_stats", document["data"])
        assert datetime.fromisoformat(data["until"]) <= datetime.now(UTC) + timedelta(microseconds=1), path


def test_a_period_states_its_window_in_meta_and_an_unchanged_board_stays_a_304(
    caller: Caller, importer: Importer, settings: object
) -> None:
    fill_example(importer)
    document = caller.document(BOARD, **GROUP, period="30d")
    meta = document["meta"]
    since, until = (datetime.fromisoformat(meta[name]) for name in ("since", "until"))
    assert (until - since, until.microsecond) == (timedelta(days=30), 1)
    assert not {"since", "until"} & document["data"].keys()
    assert "since" not in caller.document("/wallets", **GROUP)["meta"]
    for path in (TRACKER, ANALYTICS):
        assert {"since", "until"} <= caller.document(path, **OPERATIONS[path])["meta"].keys(), path
    etag = caller.send(BOARD, **GROUP, period="30d").headers["ETag"]
    again = caller.send(BOARD, {"If-None-Match": etag}, **GROUP, period="30d")
    assert again.status_code == 304


def test_a_board_of_a_window_is_sorted_filtered_paged_ranked_and_charted(
    caller: Caller, database_url: str
) -> None:
    random_trades.fill(Importer(database_url), 12, 600, days=20)
    window = {"since": ago(days=15), "until": ago(days=3)}
    whole = caller.get(BOARD, **GROUP, **window, sort="realized_pnl", order="asc")["leaderboard"]
    pages = caller.pages(BOARD, "leaderboard", **GROUP, **window, sort="realized_pnl", order="asc", limit=2)
    assert pages == whole
    profits = [entry["period_stats"]["realized_pnl"] for entry in whole]
    assert (profits, [entry["rank"] for entry in whole]) == (sorted(profits), list(range(1, len(whole) + 1)))
    active = caller.get(BOARD, **GROUP, **window, min_active_days=6)["leaderboard"]
    assert active
    assert all(entry["period_stats"]["active_days"] >= 6 for entry in active)
    [own] = caller.get(BOARD, **GROUP, **window, address=whole[0]["wallet"])["leaderboard"]
    assert own["period_stats"] == whole[0]["period_stats"]
    [charted] = caller.get(BOARD, **GROUP, **window, chart="true", limit=1)["leaderboard"]
    assert charted["chart"]["step_seconds"] == 86_400
    assert charted["chart"]["values"][-1] == charted["period_stats"]["realized_pnl"]
    # A cursor is of its window.
    cursor = caller.get(BOARD, **GROUP, **window, limit=2)["pagination"]["next_cursor"]
    assert caller.refused(BOARD, **GROUP, since=ago(days=15), limit=2, cursor=cursor)["parameter"] == "cursor"


def test_the_same_window_requested_by_many_is_computed_once(
    caller: Caller, importer: Importer, connection: Connection, client: FlaskClient
) -> None:
    fill_example(importer)

    def ask(_: int) -> bool:
        response = Caller(client.application.test_client(), caller.key).send(BOARD, **GROUP, **OCTOBER)
        return bool(response.json["meta"]["cached"])

    with ThreadPoolExecutor(3) as pool:
        cached = list(pool.map(ask, range(6)))
    assert cached.count(False) == 1


def test_windows_take_one_slot_and_boards_that_are_kept_go_on(
    caller: Caller, importer: Importer, connection: Connection, client: FlaskClient
) -> None:
    """Of four threads three may wait, of which one for a window."""
    fill_example(importer)
    kept = caller.get(BOARD, **GROUP, period="90d")

    def status(days: int) -> int:
        window = {"since": (datetime(2026, 10, 1, tzinfo=UTC) - timedelta(days=days)).isoformat()}
        return Caller(client.application.test_client(), caller.key).send(BOARD, **GROUP, **window).status_code

    with ThreadPoolExecutor(3) as pool:
        with connection.transaction():
            connection.execute("LOCK TABLE wallet_days IN ACCESS EXCLUSIVE MODE")
            waiting = [pool.submit(status, days) for days in range(3)]
            time.sleep(0.3)
            assert caller.get(BOARD, **GROUP, period="90d") == kept
            assert caller.send("/transactions/count", **GROUP).status_code == 200
            # The first one has the slot until it can read; the others are refused.
            assert eventually(lambda: sum(done.done() for done in waiting) == 2)
            assert {done.result() for done in waiting if done.done()} == {503}
        assert sorted(done.result() for done in waiting) == [200, 503, 503]

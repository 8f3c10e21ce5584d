"""`wallet-api sync quotes`: the signals of full hours, and what became of them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, UNTRACKED, WALLETS, price_row, trade_row
from tests.lib.backups import at, done
from wallet_api.database import Connection
from wallet_api.settings import Settings

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

# The newest hour that is kept; the first hours of a day are of the same day as the first buys.
TRACKED = [GROUP | {"wallet_address": address} for address in (ANN, BEN, UNTRACKED)]
HOUR = timedelta(hours=1)
LATEST = (datetime.now(UTC) - timedelta(minutes=1)).replace(minute=0, second=0, microsecond=0)
DAY = LATEST.replace(hour=0) - timedelta(days=2)
WINDOW = {"since": DAY.isoformat(), "until": (DAY + timedelta(days=1)).isoformat()}


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Imports rows, where three wallets of the group are tracked."""
    importer = Importer(database_url)
    importer.wallets(TRACKED)
    importer.prices([price_row("200", at) for at in (DAY, datetime.now(UTC))])
    return importer


@pytest.fixture
def settings_of(database_url: str) -> Settings:
    """The settings of the commands."""
    return at(database_url)


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    """A caller with its own key."""
    return Caller.new(client, connection)


def bought(hours: float, mint: str = "mint", value: str = "1", address: str = ANN, **fields: Any) -> Row:
    """A buy so many hours after midnight."""
    signature = f"{address} {mint} {hours}"
    when = DAY + hours * HOUR
    return trade_row(address, signature, when, mint=mint_of(mint), value=value, **fields)


def outcomes(caller: Caller, signal: str = "cluster") -> dict[tuple[str, str], Row]:
    """The rows of a day by span and of what they are."""
    data = caller.get("/analytics", **GROUP, mode="signal_outcomes", **WINDOW, signal=signal)
    assert (data["total"], data["signal"], "warnings" in data) == (6, signal, False)
    return {(row.pop("span"), row.pop("of")): row for row in data["outcomes"]}


def figures(row: Row) -> list[Any]:
    """The figures of a row, in their order."""
    return list(row.values())


def test_past_hours_are_kept_from_trades_alone_and_stay(
    caller: Caller, importer: Importer, settings_of: Settings
) -> None:
    together = [bought(10.5, address=address) for address in (ANN, BEN, UNTRACKED)]
    alone = [bought(10.2, "other"), bought(11.05, "other", "3"), bought(12.05, "other", "1")]
    # Bought before, and again: once a day in the base. The first hour after is 11:00.
    again = [bought(11.02, value="2"), bought(12.02, value="6"), bought(35.1, value="9")]
    importer.trades([*together, *alone, *again])
    assert done("sync", "quotes", "--since", WINDOW["since"], settings=settings_of)["hours"] >= 48
    rows = outcomes(caller)
    nothing = [0, 0, None, None, None, None]
    # Of `mint` 2 at 11:00 and 6 at 12:00, of `other` 3 and 1.
    assert figures(rows["1h", "signals"]) == [1, 1, 0, 200, 100, 100, 0]
    # The mean of 200 and -66.6667.
    base = [str(number) for number in figures(rows["1h", "base"])]
    assert base == ["2", "2", "0", "66.6667", "50", "50", "50"]
    assert figures(rows["6h", "base"]) == [2, *nothing]
    assert figures(rows["24h", "signals"]) == [1, 1, 0, 350, 100, 100, 0]
    # What comes later changes nothing that is kept, nor does another round.
    importer.trades([bought(11.001, value="0.5"), bought(9.5, "third"), bought(20.2, value="1")])
    again = done("sync", "quotes", "--since", WINDOW["since"], settings=settings_of)
    assert (again["hours"], again["outcomes"]) == (0, 0)
    assert outcomes(caller) == rows
    moment = (DAY + 11 * HOUR).isoformat()
    [signal] = caller.get("/signals", **GROUP, mode="cluster", as_of=moment)["signals"]
    assert (signal["outcome"]["1h"]["change_percent"], signal["outcome"]["6h"]) == (200, None)


def test_hours_since_the_oldest_kept_one_are_filled(
    connection: Connection, importer: Importer, settings_of: Settings
) -> None:
    importer.trades([bought(10.5)])
    importer.wallets([WALLETS[-1]])
    assert done("sync", "quotes", settings=settings_of)["hours"] == 4
    connection.execute("DELETE FROM signal_hours WHERE blockchain = 'eth'")
    connection.execute("UPDATE signal_hours SET hour = hour - interval '3 hours'")
    # Of the other groups, which are a type and all of them, the newest.
    assert done("sync", "quotes", settings=settings_of)["hours"] == 2 * 3 + 2


def test_signals_go_with_the_trades_of_a_purge_and_with_their_group(
    caller: Caller, importer: Importer, settings_of: Settings, connection: Connection
) -> None:
    importer.trades(
        [bought(10.5), bought(11.05), bought(12.05), bought(30.5, "other"), bought(13.5, "third")]
    )
    done("sync", "quotes", "--since", WINDOW["since"], settings=settings_of)
    assert outcomes(caller)["1h", "base"]["signals"] == 2
    done("remove", "trades", "--mint", mint_of("mint"), "--yes", settings=settings_of)
    assert figures(outcomes(caller)["1h", "base"])[:2] == [1, 0]
    day = WINDOW["until"]
    done("remove", "trades", "--before", day, "--open", "--yes", settings=settings_of)
    oldest = "SELECT min(hour) AS hour FROM signal_hours"
    assert connection.fetch_value(oldest) == DAY + timedelta(days=1)
    assert (
        connection.fetch_value("SELECT count(*) FROM token_outcomes WHERE hour < %(day)s", {"day": day}) == 0
    )
    importer.remove_wallets(
        [row | {"type": "kol"} for row in WALLETS] + [GROUP | {"wallet_address": UNTRACKED}]
    )
    assert connection.fetch_value("SELECT count(*) FROM signal_hours") == 0


def test_hours_that_are_not_kept_are_counted_and_bounds_are_required(caller: Caller) -> None:
    question = GROUP | {"mode": "signal_outcomes"}
    data = caller.get("/analytics", **question, **WINDOW)
    assert data["warnings"] == [
        "Only 0 of 24 hours are kept: sync quotes keeps each hour, and with --since those of the past."
    ]
    assert [row["signals"] for row in data["outcomes"]] == [0] * 6
    long = {"since": (DAY - timedelta(days=90)).isoformat(), "until": (DAY + HOUR).isoformat()}
    for given, name in (
        ({"since": WINDOW["since"]}, "until"),
        ({"until": WINDOW["until"]}, "since"),
        (long, "since"),
        (WINDOW | {"period": "7d"}, "period"),
        (WINDOW | {"signal": "base"}, "signal"),
        (WINDOW | {"sort": "buy"}, "sort"),
    ):
        assert caller.refused("/analytics", **question, **given)["parameter"] == name
    error = caller.refused("/analytics", **GROUP, mode="most_traded", signal="entry")
    assert error["parameter"] == "signal"

"""`after` on the feeds of a group and of a token: changes in the order in which they arrived."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.ledger.caller import Caller
from tests.ledger.contended import KILL, UNPLACED
from tests.ledger.follower import LATEST, Follower, stored, trades_of
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import ANN, BEN, EVM, GROUP, SMART, UNTRACKED, WALLETS, price_row
from tests.lib.backups import done
from tests.lib.waiting import eventually
from tests.notify.webhooks import NOW, trade
from wallet_api.database import Connection
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.settings import Settings

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0)

# The advisory lock of the places.
PLACES = 7_401_004
OF_TOKEN = "/tokens/transactions"
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}


def events_of(changes: list[Row]) -> list[tuple[str, str]]:
    """The events of changes, and their trades or wallets."""
    return [
        (row["event"], row["tx_signature"] if "tx_signature" in row else row["profile"]["wallet_address"])
        for row in changes
    ]


def test_new_late_corrected_and_removed_trades_arrive_in_their_order(
    caller: Caller, importer: Importer
) -> None:
    importer.trades([trade("a", 60), trade("b", 50)])
    start, now = Follower(caller, **GROUP), Follower(caller, after="now", **GROUP)
    assert events_of(start.read()) == [("trade", "a"), ("trade", "b")]
    assert now.read() == []
    importer.trades([trade("late", 70), trade("a", 60, value="2"), trade("b", 50)])
    for follower in (start, now):
        assert sorted(events_of(follower.read())) == [("correction", "a"), ("trade", "late")]
    importer.remove_trades([trade("b")])
    importer.trades([trade("c", 40)])
    assert events_of(now.read()) == [("removal", "b"), ("trade", "c")]
    # What is removed and comes again is a trade, what is imported again unchanged nothing.
    importer.trades([trade("b", 50), trade("c", 40)])
    assert events_of(now.read()) == [("trade", "b")]
    assert events_of(start.read()) == [("trade", "c"), ("trade", "b")]
    whole = Follower(caller, **GROUP).read()
    for limit in (1, 2, 3):
        assert Follower(caller, **GROUP).read(limit) == whole
    first, *others = events_of(whole)
    # All is new to who begins now.
    assert {first, others[0]} == {("trade", "late"), ("trade", "a")}
    assert others[1:] == [("trade", "c"), ("trade", "b")]


def test_a_row_is_a_trade_of_the_feed_and_a_removal_what_identifies_one(
    caller: Caller, importer: Importer
) -> None:
    importer.trades([trade("a", 60), trade("b", 50, value_usd="3")])
    importer.remove_trades([trade("b")])
    (kept,) = caller.get(LATEST, **GROUP)["transactions"]
    first, second = Follower(caller, **GROUP).read()
    moment = datetime.fromisoformat(first["arrived_at"])
    assert timedelta() <= datetime.now(UTC) - moment < timedelta(minutes=5)
    assert first == {"event": "trade", **kept, "arrived_at": first["arrived_at"]}
    assert second == {
        "event": "removal",
        "tx_signature": "b",
        "event_index": 0,
        "transaction_type": "buy",
        "mint": mint_of("mint"),
        "created_at": (NOW - timedelta(minutes=50)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "profile": kept["profile"],
        "arrived_at": second["arrived_at"],
    }


def test_a_price_that_values_a_trade_corrects_it(caller: Caller, importer: Importer) -> None:
    importer.trades([trade("a"), trade("b", value_usd="7")])
    follower = Follower(caller, after="now", **GROUP)
    follower.read()
    importer.prices([price_row("100", NOW - timedelta(minutes=60))])
    (change,) = follower.read()
    assert (change["event"], change["tx_signature"], change["value_usd"]) == ("correction", "a", 100)


def test_a_removed_wallet_is_one_change_and_may_come_again(caller: Caller, importer: Importer) -> None:
    followers = [Follower(caller, **GROUP), Follower(caller, OF_TOKEN, **TOKEN)]
    importer.trades([trade("a"), trade("b"), trade("c", address=BEN)])
    for follower in followers:
        assert len(follower.read()) == 3
    importer.remove_trades([trade("a")])
    importer.remove_wallets([WALLETS[0]])
    for follower in followers:
        (change,) = follower.read()
        arrived_at = change.pop("arrived_at")
        assert change == {"event": "wallet_removal", "profile": change["profile"]}
        assert change["profile"]["copytrade_link"] == WALLETS[0]["copytrade_link"]
        assert arrived_at.endswith("Z")
    importer.wallets([WALLETS[0]])
    importer.trades([trade("a")])
    for follower in [*followers, Follower(caller, **GROUP)]:
        assert events_of(follower.read())[-1] == ("trade", "a")
        assert stored(follower.trades) == trades_of(caller, **GROUP)
    importer.remove_wallets([WALLETS[0]])
    for follower in [*followers, Follower(caller, **GROUP)]:
        assert events_of(follower.read())[-1] == ("wallet_removal", ANN)
        assert stored(follower.trades) == trades_of(caller, **GROUP)


def test_a_wallet_of_another_type_leaves_the_feed_of_its_group_alone(
    caller: Caller, importer: Importer
) -> None:
    smart = GROUP | {"type": "smart"}
    importer.trades([trade("a"), trade("b", address=BEN)])
    kols, smarts, every = (
        Follower(caller, **GROUP),
        Follower(caller, **smart),
        Follower(caller, OF_TOKEN, **TOKEN),
    )
    for follower in (kols, smarts, every):
        follower.read()
    importer.wallets([WALLETS[0] | {"type": "smart"}])
    importer.trades([trade("c")])
    assert events_of(kols.read()) == [("wallet_removal", ANN)]
    assert kols.changes[-1]["profile"]["type"] == "kol"
    assert events_of(smarts.read()) == [("trade", "c")]
    assert events_of(every.read()) == [("trade", "c")]
    # Who begins now gets all of its trades with its present type, also after it has come back.
    assert stored(Follower(caller, **GROUP).trades) == {}
    for type in ("smart", "kol"):
        importer.wallets([WALLETS[0] | {"type": type}])
        for group in (GROUP, smart):
            fresh = Follower(caller, **group)
            fresh.read()
            assert stored(fresh.trades) == trades_of(caller, **group)


def test_a_purge_is_one_change_where_it_removed_all_that_it_names(
    caller: Caller, importer: Importer, settings: Settings, database_url: str
) -> None:
    other = mint_of("other")
    importer.trades(
        [
            *(
                trade("a", 60),
                trade("b", 30),
                trade("e", 100, BEN),
                trade("f", 90, BEN, transaction_type="sell"),
            ),
            *(trade("c", 60, mint=other), trade("d", 60, BEN, mint=other)),
        ]
    )
    followers = [Follower(caller, **GROUP), Follower(caller, OF_TOKEN, **TOKEN)]

    def arrive(*arguments: str) -> list[list[Row]]:
        done("remove", "trades", *arguments, "--yes", settings=settings)
        changes = [follower.read() for follower in followers]
        for follower in followers:
            assert stored(follower.trades) == trades_of(caller, **GROUP, mint=follower.mint)
        return [[{**row, "arrived_at": ""} for row in page] for page in changes]

    for follower in followers:
        follower.read()
    purge = {"event": "purge", "arrived_at": ""}
    assert arrive("--mint", other) == [[purge | {"mint": other}], []]
    before = (NOW - timedelta(minutes=45)).strftime("%Y-%m-%dT%H:%M:%SZ")
    # A position that was held then has its trades still, so that the time alone would say too much.
    removed = [("removal", "e"), ("removal", "f")]
    assert [sorted(events_of(page)) for page in arrive("--before", before)] == [removed, removed]
    assert arrive("--before", before, "--open") == 2 * [[purge | {"before": before}]]


def test_what_is_only_walked_again_is_no_change(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade("a", 60), trade("b", 50, transaction_type="sell", value="3")])
    follower = Follower(caller, **GROUP)
    follower.read()
    importer.trades([trade("late", 70, value="2")])
    # Its realized profit is another one now.
    assert events_of(follower.read()) == [("trade", "late")]
    connection.execute("UPDATE trades SET quantity_after = 9")
    assert rebuild_ledger(connection)["trades"] == 3
    assert follower.read() == []


def test_trades_of_before_the_order_was_kept_arrive_when_they_are_rebuilt(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade("a", 60), trade("b", 50, BEN)])
    connection.execute("UPDATE trades SET arrival = 0")
    connection.execute("DELETE FROM arrivals")
    follower = Follower(caller, **GROUP)
    assert follower.read() == []
    assert rebuild_ledger(connection)["trades"] == 2
    assert sorted(events_of(follower.read())) == [("trade", "a"), ("trade", "b")]
    assert rebuild_ledger(connection)["trades"] == 0


def test_filters_choose_among_the_changes(caller: Caller, importer: Importer) -> None:
    question = GROUP | {"min_value": "2", "transaction_type": "buy", "address": f"{ANN},{UNTRACKED}"}
    follower = Follower(caller, **question)
    importer.trades(
        [
            trade("small"),
            trade("large", 50, value="2"),
            trade("sell", 40, transaction_type="sell", value="2"),
            trade("ben", 30, BEN, value="2"),
            trade("smart", 30, SMART, value="2"),
        ]
    )
    assert events_of(follower.read()) == [("trade", "large")]
    warnings = caller.get(LATEST, **question, after=follower.after)["warnings"]
    assert warnings == [f"The wallet {UNTRACKED} is not tracked on solana as kol."]
    importer.remove_trades(
        [trade("large"), trade("sell", transaction_type="sell"), trade("ben", address=BEN)]
    )
    importer.remove_wallets(WALLETS[1:2])
    # How much a removed trade was worth is not known any more.
    assert events_of(follower.read()) == [("removal", "large")]
    importer.remove_wallets(WALLETS[:1])
    assert events_of(follower.read()) == [("wallet_removal", ANN)]


@pytest.mark.settings(answer_ttl_seconds=600)
def test_an_empty_page_is_free_and_not_modified(caller: Caller, importer: Importer, new_caller: Any) -> None:
    importer.trades([trade("a")])
    poor = new_caller("poor", credits=2)
    first = poor.send(LATEST, **GROUP, after="start")
    assert first.headers["X-Credits-Remaining"] == "1"
    cursor = first.json["data"]["pagination"]["next_cursor"]
    assert first.json["pagination"] == {"limit": 50, "has_more": False, "next_cursor": cursor}
    empty = poor.send(LATEST, **GROUP, after=cursor)
    assert (empty.json["data"]["transactions"], empty.headers["X-Credits-Remaining"]) == ([], "1")
    assert empty.json["data"]["pagination"]["next_cursor"] == cursor
    unchanged = poor.send(LATEST, {"If-None-Match": empty.headers["ETag"]}, **GROUP, after=cursor)
    assert (unchanged.status_code, unchanged.headers["X-Credits-Remaining"]) == (304, "1")
    importer.trades([trade("b")])
    # At once, although an equal request was answered a moment ago.
    changed = poor.send(LATEST, {"If-None-Match": empty.headers["ETag"]}, **GROUP, after=cursor)
    assert (changed.status_code, changed.headers["X-Credits-Remaining"]) == (200, "0")


@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_a_trade_that_was_corrected_before_it_was_read_is_a_trade(
    caller: Caller, importer: Importer, limit: int
) -> None:
    question = GROUP | {"min_value": "5"}
    importer.trades([trade("before", value="6")])
    followers = [Follower(caller, after=after, **question) for after in ("start", "now")]
    every = Follower(caller, after="now", **GROUP)
    for follower in (*followers, every):
        follower.read(limit)
    importer.trades([trade("new", value="20"), trade("grows", value="4.9"), trade("other", value="9")])
    importer.trades([trade("new", value="21"), trade("before", value="7"), trade("last", value="8")])
    importer.trades([trade("new", value="22"), trade("other", value="9"), trade("end", value="8")])
    for follower in followers:
        assert sorted(events_of(follower.read(limit))) == [
            *(("correction", "before"), ("trade", "end"), ("trade", "last"), ("trade", "new")),
            ("trade", "other"),
        ]
    assert {event for event, name in events_of(every.read(limit)) if name != "before"} == {"trade"}
    # What it has got as a trade is a correction from then on; what it has not got passes its filter now.
    importer.trades([trade("new", value="23"), trade("grows", value="8")])
    for follower in followers:
        assert sorted(events_of(follower.read(limit))) == [("correction", "grows"), ("correction", "new")]
    assert sorted(events_of(Follower(caller, **question).read(limit))) == [
        ("trade", name) for name in ("before", "end", "grows", "last", "new", "other")
    ]


def test_what_is_corrected_between_two_pages_is_no_trade_twice(caller: Caller, importer: Importer) -> None:
    follower = Follower(caller, after="now", **GROUP)
    follower.read()
    importer.trades([trade("a"), trade("b"), trade("c")])
    (first,) = next(follower.pages(1))
    importer.trades([trade(first["tx_signature"], value="2")])
    events = events_of(follower.read(1))
    assert sorted(events) == sorted(
        ("correction" if name == first["tx_signature"] else "trade", name) for name in "abc"
    )


def test_filters_by_dollars_go_by_those_that_are_stored(caller: Caller, importer: Importer) -> None:
    question = GROUP | {"min_value_usd": "100"}
    importer.prices([price_row("150", NOW - timedelta(days=3))])
    follower, later = Follower(caller, **question), Follower(caller, after="now", **question)
    later.read()
    importer.trades([trade("a"), trade("b", value_usd="100"), trade("c", value_usd="99.99")])
    # By the latest price it has a value, which the next price would change without an event.
    assert caller.get(LATEST, **question)["count"] == 2
    assert events_of(follower.read()) == [("trade", "b")]
    importer.prices([price_row("200", NOW - timedelta(minutes=60))])
    assert events_of(follower.read()) == [("correction", "a")]
    assert sorted(events_of(later.read())) == [("trade", "a"), ("trade", "b")]


def test_cursors_of_before_that_was_kept_go_on(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade("a"), trade("b")])
    follower = Follower(caller, **GROUP)
    next(follower.pages(1))
    importer.trades([trade("a", value="2")])
    # As of a ledger in which it is not known where a corrected trade had first arrived.
    connection.execute("UPDATE trades SET first_arrival = 0 WHERE first_arrival IS NOT NULL")
    assert ("correction", "a") in events_of(follower.read())
    assert sorted(events_of(Follower(caller, **GROUP).read())) == [("trade", "a"), ("trade", "b")]


def test_one_key_follows_all_types_of_a_chain_or_all_chains(
    caller: Caller, importer: Importer, settings: Settings
) -> None:
    every, chain = Follower(caller), Follower(caller, blockchain="solana")
    other = evm_mint_of("ab").lower()
    evm = trade("evm", address=EVM, blockchain="eth", mint=other)
    importer.trades([trade("a"), trade("smart", address=SMART), evm])
    importer.prices([{"currency": "ETH", "usd": "3000", "priced_at": (NOW - timedelta(days=2)).isoformat()}])
    assert sorted(events_of(every.read())) == [("trade", name) for name in ("a", "evm", "smart")]
    assert sorted(events_of(chain.read())) == [("trade", name) for name in ("a", "smart")]
    rows = {row["tx_signature"]: row for row in every.changes}
    assert {name: (row["currency"], row["profile"]["blockchain"]) for name, row in rows.items()} == {
        "a": ("SOL", "solana"),
        "smart": ("SOL", "solana"),
        "evm": ("ETH", "eth"),
    }
    assert (rows["a"]["value_usd"], rows["evm"]["value_usd"]) == (None, 3000)
    assert rows["evm"]["profile"]["currency"] == "ETH"
    assert {"blockchain", "type", "currency"}.isdisjoint(caller.get(LATEST, after="now"))
    data = caller.get(LATEST, blockchain="eth", after="now")
    assert (data["blockchain"], data["currency"], "type" in data) == ("eth", "ETH", False)
    some = Follower(caller, address=f"{ANN},{EVM}")
    assert sorted(events_of(some.read())) == [("trade", "a"), ("trade", "evm")]
    done("remove", "trades", "--mint", other, "--yes", settings=settings)
    (purge,) = every.read()
    assert (purge["event"], purge["mint"], purge["blockchain"]) == ("purge", other, "eth")
    assert chain.read() == []
    for question, parameter in (
        ({}, "blockchain"),
        ({"blockchain": "solana"}, "type"),
        ({"after": "now", "type": "kol"}, "blockchain"),
        ({"after": "now", "mint": mint_of("mint")}, "blockchain"),
        ({"after": "now", "address": "nobody"}, "address"),
    ):
        error = caller.refused(LATEST, **question)
        assert (error["code"], error["parameter"]) == ("invalid_parameter", parameter), question


def test_a_cursor_belongs_to_its_question_and_to_its_ledger(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade("a"), trade("b")])
    cursor = caller.get(LATEST, **GROUP, after="start", limit=1)["pagination"]["next_cursor"]
    assert caller.get(LATEST, **GROUP, after=cursor)["count"] == 1
    page = caller.get(LATEST, **GROUP, limit=1)["pagination"]["next_cursor"]
    for path, question in (
        (LATEST, GROUP | {"type": "smart", "after": cursor}),
        (LATEST, GROUP | {"min_value": "1", "after": cursor}),
        (LATEST, GROUP | {"mint": mint_of("mint"), "after": cursor}),
        (OF_TOKEN, TOKEN | {"after": cursor}),
        (LATEST, GROUP | {"after": page}),
        (LATEST, GROUP | {"after": "yesterday"}),
        (LATEST, GROUP | {"after": cursor, "cursor": page}),
    ):
        error = caller.refused(path, **question)
        assert (error["code"], error["parameter"]) == ("invalid_parameter", "after"), question
        assert "reason" not in error
    assert caller.refused(LATEST, **GROUP, cursor=cursor)["parameter"] == "cursor"
    # As after a restore from a backup of before.
    connection.execute("DELETE FROM arrivals")
    error = caller.refused(LATEST, **GROUP, after=cursor)
    assert (error["parameter"], error["reason"]) == ("after", "cursor_unknown")


def test_what_a_killed_writer_left_arrives_and_no_request_places_it(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades([trade("a")])
    follower = Follower(caller, **GROUP)
    follower.read()
    connection.execute("SELECT pg_advisory_lock(%s)", [PLACES])
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(importer.trades, [trade("b")])
        assert eventually(lambda: connection.execute(UNPLACED).fetchone() is not None)
        connection.execute(KILL)
        with pytest.raises(psycopg.Error):
            importing.result()
    # While nothing can be placed, requests are answered with what has a place.
    assert follower.read() == []
    assert Follower(caller, after="now", **GROUP).read() == []
    connection.execute("SELECT pg_advisory_unlock(%s)", [PLACES])
    assert eventually(lambda: bool(follower.read()))
    assert events_of(follower.changes) == [("trade", "a"), ("trade", "b")]


def test_a_page_reads_so_many_changes_at_most(caller: Caller, importer: Importer) -> None:
    importer.trades(trade(f"s{number}", 60, (ANN, BEN)[number % 2]) for number in range(10_000))
    importer.trades([trade("large", value="9")])
    data = caller.get(LATEST, **GROUP, min_value=5, after="start")
    assert (data["transactions"], data["pagination"]["has_more"]) == ([], True)
    follower = Follower(caller, **GROUP, min_value=5)
    assert events_of(follower.read()) == [("trade", "large")]

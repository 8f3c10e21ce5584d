"""Any ledger, taken in in any way, gives the figures of a naive reading of its rows, to the last digit."""

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.ledger import in_process, random_trades, strategies
from tests.ledger.figures import Figures, compare, figures, of_group, signals
from tests.ledger.in_process import exact
from tests.ledger.loaded import in_period
from tests.ledger.mints import mint_of
from tests.ledger.rows import trade_row
from tests.naive.ledger import Ledger
from wallet_api.api.schemas.leaderboard import EntrySchema
from wallet_api.base.periods import Bounds
from wallet_api.database import Connection, rows_of
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.token_price import PriceRule

Row = dict[str, Any]
# What a file contains, and its rows.
File = tuple[str, list[Row]]

# All times in the tests hang on this one; whole seconds, as volume windows are.
NOW = datetime.now(UTC).replace(microsecond=0)
# Enough of one group for a strong signal.
FURTHER = [row | {"type": "kol"} for row in random_trades.wallets(6)]
# Rows of one trade in files one after the other, after which it is as before, but valued by the newest price.
VERSIONS: list[list[Row]] = [
    [{"value": "2"}, {}],
    [{"value": "2"}, {}, {}],
    [{"value_usd": "9"}, {"value_usd": None}],
    [{"created_at": (NOW - timedelta(hours=25)).isoformat()}, {}],
    [{"value": "1.0"}, {}],
]
# As the ledger stores them, with one that nobody traded.
MINTS = [(chain, mint) for chain in ("solana", "eth") for mint in strategies.stored_mints(chain)]
WINDOWS = st.lists(
    st.one_of(st.sampled_from([1, 10, 59, 60, 61, 3600, 86400]), st.integers(1, 86400)), max_size=3
)
PRICE_RULES = st.builds(
    PriceRule,
    st.sampled_from([Decimal(1), Decimal(0), Decimal("0.5"), Decimal(1000)]),
    st.sampled_from([86400, 90, 3600, 500 * 86400]),
)


def files(
    *others: st.SearchStrategy[File],
) -> st.SearchStrategy[list[File]]:
    """Return a strategy of files to import, most of them of trades."""
    trades = st.tuples(st.just("trades"), st.lists(strategies.trades(NOW), min_size=1, max_size=14))
    prices = st.tuples(st.just("prices"), st.lists(strategies.prices(NOW), min_size=1, max_size=3))
    return st.lists(st.one_of(trades, trades, prices, *others), min_size=1, max_size=6)


@strategies.for_any(data=st.data())
def test_files_one_after_the_other_give_the_figures_of_their_rows(
    data: st.DataObject, database_url: str, connection: Connection, reader: Connection
) -> None:
    retyped = st.sampled_from(["kol", "smart", "whale"]).map(_retyped)
    steps = data.draw(files(st.tuples(st.just("wallets"), retyped | strategies.profiles())))
    importer = in_process.Importer(database_url, batch_rows=data.draw(st.sampled_from([1, 3, 100])))
    in_process.clear(connection)
    ledger = random_trades.import_all(importer, ("wallets", strategies.wallets()), *steps)
    moment = NOW + data.draw(st.sampled_from([timedelta(0), timedelta(minutes=3), timedelta(minutes=-30)]))
    rule = data.draw(PRICE_RULES)
    ledger.price_rule = (Fraction(rule.min_value_usd), timedelta(seconds=rule.max_age_seconds))
    spans = data.draw(st.lists(strategies.spans(moment), max_size=2))
    compare(figures(reader, moment, data.draw(WINDOWS), MINTS, rule, spans=spans), ledger)


@strategies.for_any(data=st.data())
def test_quotes_of_markets_make_the_prices_of_a_naive_reading(
    data: st.DataObject, database_url: str, connection: Connection, reader: Connection
) -> None:
    quotes = data.draw(strategies.distinct(strategies.quotes(NOW), strategies.quote_key, most=24))
    first, *others = in_process.cut(quotes, data.draw(st.lists(st.integers(0, 24), max_size=2))) or [[]]
    before, after = data.draw(files()), data.draw(files())
    steps = [*before, ("quotes", first), *after, *(("quotes", rows) for rows in others)]
    importer = in_process.Importer(database_url)
    in_process.clear(connection)
    ledger = random_trades.import_all(importer, ("wallets", strategies.wallets()), *steps)
    moment = NOW - data.draw(st.sampled_from([timedelta(0), timedelta(minutes=30)]))
    rule = data.draw(PRICE_RULES)
    ledger.price_rule = (Fraction(rule.min_value_usd), timedelta(seconds=rule.max_age_seconds))
    compare(figures(reader, moment, [60], MINTS, rule), ledger)


@strategies.for_any(data=st.data())
def test_any_cut_any_order_repeats_and_corrections_by_two_importers_end_the_same(
    data: st.DataObject, database_url: str, connection: Connection, reader: Connection
) -> None:
    # What a row leaves out depends on the rows before it, so those that decide leave out nothing.
    trades = strategies.trades(NOW).map(strategies.whole)
    final = data.draw(strategies.distinct(trades, strategies.trade_key, most=24))
    prices = data.draw(strategies.distinct(strategies.prices(NOW), strategies.price_key, most=3))
    queues = data.draw(_queues(final, prices))
    batch_rows = data.draw(st.sampled_from([1, 2, 5, 100]))

    in_process.clear(connection)
    importer = in_process.Importer(database_url, batch_rows=batch_rows)
    importer.wallets(strategies.wallets())
    _at_once(importer, queues)
    ledger = Ledger()
    ledger.add_wallets(strategies.wallets())
    ledger.add_prices(prices)
    ledger.add_trades(final)
    spans = data.draw(st.lists(strategies.spans(NOW), max_size=1))
    compare(figures(reader, NOW, data.draw(WINDOWS), MINTS, spans=spans), ledger)


@strategies.for_any(data=st.data())
def test_signals_as_of_a_moment_are_those_that_were_given_then(
    data: st.DataObject, database_url: str, connection: Connection, reader: Connection
) -> None:
    rows = data.draw(strategies.distinct(strategies.trades(NOW), strategies.trade_key, most=16))
    # Names are those of today.
    rows = sorted((row | {"token_name": "Some Coin"} for row in rows), key=_time_of)
    in_process.clear(connection)
    importer = in_process.Importer(database_url)
    importer.wallets(strategies.wallets())
    importer.prices(data.draw(strategies.distinct(strategies.prices(NOW), strategies.price_key, most=3)))
    given_then = []
    for count, row in enumerate(rows, 1):
        importer.trades([row])
        ago = data.draw(st.sampled_from([timedelta(0), timedelta(seconds=1), timedelta(hours=1)]))
        moment = (_time_of(row) - ago).replace(microsecond=0)
        # A moment counts when all of its trades have come.
        if all(_time_of(later) > moment for later in rows[count:]):
            question = (
                moment,
                *data.draw(st.sampled_from(strategies.GROUPS)),
                data.draw(st.sampled_from(["cluster", "entry", "exit"])),
                data.draw(st.sampled_from([1, 24, 168])),
                data.draw(st.sampled_from([1, 2])),
            )
            given_then.append((question, _then(signals(reader, *question))))
    for question, expected in given_then:
        assert _then(signals(reader, *question)) == expected, question


def _time_of(row: Row) -> datetime:
    return datetime.fromisoformat(row["created_at"])


def _then(rows: list[Row]) -> list[Row]:
    """Return signals without what became of them later."""
    return [{name: value for name, value in row.items() if name != "outcome"} for row in rows]


def _version(number: int, **fields: Any) -> Row:
    at = NOW - timedelta(days=1)
    return trade_row(strategies.SOLANA[0], f"version {number}", at, mint=mint_of("versions"), **fields)


def _at_the_edges_of_windows(chance: random.Random) -> Iterator[Row]:
    """Trades of many tokens, each with few, so that signals of every kind begin and end at each edge.

    Half of them come in several versions, each of which may leave out or clear what is optional.
    """
    quiet, idle, steady, *busy = [row["wallet_address"] for row in FURTHER] + list(strategies.SOLANA)
    # Those of signals, see tests/ledger/figures.py.
    ends = [NOW - timedelta(hours=hours) for hours in (0, 23, 24, 8 * 24)]
    optional = {"token_name": "a b\\c d", "value_usd": "9", "exchanged_value": "0.9"}
    # Of more than a hundred tokens, signals are not all shown.
    for token in range(90):
        few = chance.sample(ends, 2) + chance.sample(strategies.edges(NOW), 2)
        for number in range(5):
            address, signature = chance.choice(busy), f"s{chance.randrange(2)}"
            row = {
                "mint": mint_of(f"token {token}"),
                "event_index": number,
                "transaction_type": chance.choice(["buy", "buy", "sell"]),
                "token_amount": chance.choice(["1", "2", "100"]),
            }
            moments = [chance.choice(few) + chance.choice(strategies.NUDGES) for _ in range(2)]
            for _ in range(chance.choice([1, 1, 2, 4])):
                at, row["value"] = chance.choice(moments), chance.choice(["0.4", "1"])
                given = {name: chance.choice([value, value, None, ""]) for name, value in optional.items()}
                kept = chance.sample(sorted(given), chance.randint(0, 2))
                yield trade_row(address, signature, at, **row) | {name: given[name] for name in kept}
    # Days with a profit, none, a loss, and a sell that realizes nothing, which ends no streak of a calendar.
    for days, profit in enumerate((1, 2, None, 3, 0, 4, -1, None, -1, 0, -1), 10):
        at, mint = NOW - timedelta(days=days), mint_of(f"of day {days}")
        if profit is not None:
            yield trade_row(steady, "a", at, mint=mint, value="2")
        value = str(2 + (profit or 0))
        yield trade_row(steady, "b", at, mint=mint, value=value, transaction_type="sell")
    # Bought, and sold by halves in one transaction, at one moment.
    halves = {"mint": mint_of("by halves"), "transaction_type": "sell", "token_amount": "0.5"}
    yield trade_row(steady, "b", NOW, mint=halves["mint"])
    yield from (trade_row(steady, "a", NOW, **halves, event_index=index) for index in (0, 1))
    # At the edge of a day of activity, and beyond that day.
    for address, days in ((quiet, 2), (idle, 2), (idle, 0)):
        yield trade_row(address, f"s{days}", NOW - timedelta(days=days), mint=mint_of("token 0"))


def _from_dust_to_billions(chance: random.Random) -> Iterator[Row]:
    def amount(least: int) -> str:
        units = chance.randint(least, 10 ** chance.randint(1, 27))
        return format(Decimal(units).scaleb(-chance.choice((0, 6, 9, 18))), "f")

    for number in range(800):
        at = NOW - timedelta(seconds=chance.randint(0, 40 * 86400))
        if number % 10 == 0:
            at = at.replace(hour=0, minute=0, second=0)
        yield {
            "blockchain": "solana",
            "wallet_address": chance.choice(strategies.SOLANA),
            "tx_signature": f"s{number}",
            "mint": mint_of(f"token {int(chance.expovariate(0.1))}"),
            "transaction_type": chance.choice(["buy", "sell"]),
            "token_amount": amount(1),
            "value": amount(0),
            "created_at": at.isoformat(),
            **({"value_usd": amount(0)} if chance.random() < 0.5 else {}),
        }


@pytest.mark.parametrize("trades", [_from_dust_to_billions, _at_the_edges_of_windows])
def test_a_ledger_of_many_trades_has_the_figures_of_its_rows(
    database_url: str, reader: Connection, trades: Callable[[random.Random], Iterator[Row]]
) -> None:
    chance = random.Random(5)
    rows = list(trades(chance))
    chance.shuffle(rows)
    # A third of the trades without dollars has a price near it, which changes.
    prices = random_trades.prices(NOW, days=40)
    half = len(rows) // 2
    known = [_version(number) for number in range(len(VERSIONS))]
    later = [
        [
            _version(number, **versions[step])
            for number, versions in enumerate(VERSIONS)
            if step < len(versions)
        ]
        for step in range(3)
    ]
    ledger = random_trades.import_all(
        in_process.Importer(database_url, batch_rows=500),
        ("wallets", [*strategies.wallets(), *FURTHER]),
        *(("prices", prices), ("trades", rows[:half] + known)),
        *(("prices", [row | {"usd": "7"} for row in prices]), ("trades", rows[half:])),
        *(("trades", versions) for versions in later),
    )
    mints = [("solana", mint_of(f"token {number}")) for number in range(2)]
    compare(figures(reader, NOW, [3600, 86_400], mints, limit=100, spans=_spans(chance)), ledger)


def _spans(chance: random.Random) -> list[Bounds]:
    """Return windows of many lengths, which end with days, with trades and between them."""
    midnight = NOW.replace(hour=0, minute=0, second=0)
    ends = [midnight - timedelta(days=days) for days in (1, 9, 31)]
    ends += [
        NOW - timedelta(seconds=chance.randint(0, 40 * 86400), microseconds=number % 2) for number in range(4)
    ]
    pairs = [sorted(chance.sample(ends, 2)) for _ in range(3)]
    return [
        *(Bounds(*pair) for pair in pairs),
        Bounds(midnight - timedelta(days=30), midnight),
        Bounds(until=ends[-1]),
        Bounds(NOW - timedelta(days=500)),
        Bounds(until=NOW - timedelta(days=900)),
    ]


def test_trends_and_charts_have_kept_hours_and_the_trades_of_those_that_are_cut(
    database_url: str, connection: Connection
) -> None:
    hour, instant = timedelta(hours=1), timedelta.resolution
    cuts = [NOW - 6 * number * hour for number in (0, 1, 2, 119, 120)]
    whole = [cut.replace(minute=0, second=0) for cut in cuts]
    # Where buckets of hours of any length end.
    ends = [at.replace(hour=at.hour // 6 * 6) for at in whole]
    edges = (*cuts, *whole, *ends, *(at + hour for at in whole), *(at - 3 * hour for at in whole))
    moments = [edge + nudge for edge in edges for nudge in (-instant, timedelta(0), instant)]
    rows = [
        trade_row(FURTHER[place % 3]["wallet_address"], f"s{place}", at, mint=mint_of(f"token {place % 7}"))
        | {"transaction_type": ("buy", "buy", "sell")[place % 5 % 3], "value": f"{place + 1}.5"}
        | ({"value_usd": f"{place}.25"} if place % 4 else {})
        for place, at in enumerate(at for at in moments if at <= NOW)
    ]
    spans = [
        *("7d", "30d"),
        Bounds(whole[0] - timedelta(days=20), whole[0]),
        Bounds(ends[1] - timedelta(days=20), ends[1]),
        Bounds(cuts[1] - timedelta(days=25), cuts[1]),
    ]
    # Of the first one buckets are shorter than hours, and of the other not all hours are kept.
    of_trades = ["1d", Bounds(NOW - timedelta(days=40), NOW - timedelta(days=12))]
    importer = in_process.Importer(database_url)

    # Of boards, whose steps are hours up to a week. Of the last one not all hours are kept.
    weeks = ["7d", *(Bounds(cut - timedelta(days=6), cut) for cut in (cuts[1], NOW - timedelta(days=29)))]
    groups = (("solana", "kol"), ("solana", "all"))

    # Also at the very end of a bucket.
    asked = [
        *product(["volume_trend"], [NOW, ends[0]], groups, [*spans, *of_trades]),
        *product(["leaderboard_charts"], [NOW], groups, weeks),
    ]

    def trends() -> Figures:
        keys = [(name, now, *group, span) for name, now, group, span in asked]
        return {key: of_group(connection, key[1], key[2:4], key[4])[key] for key in keys}

    def check(wallets: list[Row], rows: list[Row]) -> None:
        ledger = Ledger()
        ledger.add_wallets(wallets)
        ledger.add_trades(rows)
        compare(trends(), ledger)

    importer.wallets(FURTHER)
    importer.trades(rows)
    check(FURTHER, rows)
    corrected = [row | {"value": "1000", "value_usd": ""} for row in rows[::3]]
    importer.trades(corrected)
    rows = [*corrected, *(row for place, row in enumerate(rows) if place % 3)]
    check(FURTHER, rows)
    importer.remove_trades(rows[::2])
    check(FURTHER, rows := rows[1::2])
    importer.wallets(retyped := [FURTHER[0] | {"type": "smart"}, *FURTHER[1:]])
    check(retyped, rows)
    kept = trends()
    connection.execute("UPDATE wallet_hours SET invested = invested + 1, realized = realized + 1")
    differing = {key for key, figures in trends().items() if figures != kept[key]}
    assert differing == {key for key in kept if key[-1] not in (*of_trades, weeks[-1])}
    assert rebuild_ledger(connection)["wallet_hours"] > 0
    assert trends() == kept


def test_trades_in_their_order_keep_what_boards_of_all_trades_have(
    database_url: str, connection: Connection
) -> None:
    """The best token, the deepest fall and the days are continued with each file."""
    chance = random.Random(7)
    importer, ledger = in_process.Importer(database_url), Ledger()
    tracked = random_trades.wallets(3)
    importer.wallets(tracked)
    ledger.add_wallets(tracked)
    rows = random_trades.trades(300, 3, NOW, days=12, late=0.0)
    start = 0
    while start < len(rows):
        file = rows[start : start + chance.choice([1, 2, 7, 30])]
        start += len(file)
        importer.trades(file)
        ledger.add_trades(file)
        for type in random_trades.TYPES:
            asked = in_period(("solana", type), "all")
            page = leaderboard_page(read_board(connection, NOW, asked), asked)
            entries = list(exact(EntrySchema(), rows_of(page["leaderboard"])))
            assert entries == ledger.leaderboard(NOW, "solana", type, "all"), start
    assert set(rebuild_ledger(connection).values()) == {0}


def _retyped(type: str) -> list[Row]:
    return [row | {"name": type} for row in strategies.wallets(second_type=type)]


@st.composite
def _queues(draw: st.DrawFn, final: list[Row], prices: list[Row]) -> list[list[File]]:
    """What two importers take in: the final rows, cut in any way; before some, what they correct.

    A trade that comes in several versions stays with one importer, each in a file of its own, the final
    version last. It may be repeated by the other one, but only as it is in the end. A repeat may leave out
    any optional field.
    """
    sides: list[list[Row]] = [[], []]
    for row in draw(st.permutations(final)):
        side = draw(st.integers(0, 1))
        for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
            sides[side].insert(draw(st.integers(0, len(sides[side]))), _other_version(draw, row))
        sides[side].append(row)
        for _ in range(draw(st.sampled_from([0, 0, 1]))):
            sides[side].append(_sparse(draw, row))
        if draw(st.booleans()):
            sides[1 - side].append(_sparse(draw, row))
    queues = []
    for rows in sides:
        places = draw(st.lists(st.integers(0, 100), max_size=4))
        files = [one for file in in_process.cut(rows, places) for one in _without_versions(file)]
        queues.append([("trades", file) for file in files])
    if prices:
        queue = queues[draw(st.integers(0, 1))]
        queue.insert(draw(st.integers(0, len(queue))), ("prices", prices))
    return queues


def _without_versions(rows: list[Row]) -> Iterator[list[Row]]:
    """Cut the rows so that no file has a trade in several versions."""
    file: list[Row] = []
    seen: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        known = seen.get(strategies.trade_key(row))
        if known is not None and any(row[name] != known[name] for name in row if name in known):
            yield file
            file, seen = [], {}
        file.append(row)
        seen.setdefault(strategies.trade_key(row), row)
    yield file


def _sparse(draw: st.DrawFn, row: Row) -> Row:
    optional = [
        "token_name",
        "value_usd",
        "exchanged_value",
        *([] if row["event_index"] else ["event_index"]),
        "block_index",
    ]
    left_out = draw(st.sets(st.sampled_from(optional)))
    return {name: value for name, value in row.items() if name not in left_out}


def _other_version(draw: st.DrawFn, row: Row) -> Row:
    other = draw(strategies.trades(NOW))
    changed = draw(
        st.sets(
            st.sampled_from(
                ["token_amount", "value", "value_usd", "exchanged_value", "created_at", "token_name"]
            )
        )
    )
    kept = {name: value for name, value in row.items() if name not in changed}
    other = kept | {name: other[name] for name in changed if name in other}
    if _time_of(other).replace(microsecond=0) == _time_of(row).replace(microsecond=0):
        # A whole second takes no part of it away: the final row would not be what remains.
        other["created_at"] = row["created_at"]
    return other


def _at_once(importer: in_process.Importer, queues: list[list[File]]) -> None:
    start = threading.Barrier(len(queues))

    def run(queue: list[File]) -> None:
        start.wait()
        for kind, rows in queue:
            getattr(importer, kind)(rows)

    with ThreadPoolExecutor(len(queues)) as pool:
        for done in [pool.submit(run, queue) for queue in queues]:
            done.result()

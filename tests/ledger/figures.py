"""The figures of all operations at a moment, and whether they are the naive ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle, product
from typing import Any

from tests.ledger import in_process
from tests.naive import Ledger
from wallet_api.boards import ALL, ORDERS, SORTS
from wallet_api.database import Connection
from wallet_api.queries.feed import MAX_WINDOW_SECONDS
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.schemas.tokens import TRADER_SORTS

# By operation and arguments.
Figures = dict[tuple[Any, ...], Any]

# What leaves out entries of a board, alone and together.
FILTERS = (
    (("min_txn", Decimal(2)),),
    (("min_volume", Decimal("0.5")), ("min_closed", Decimal(1))),
    (("min_win_rate", Decimal(50)),),
    (("max_without_cost", Decimal(25)),),
)
GROUPS = (("solana", "kol"), ("solana", "smart"), ("solana", "whale"), ("eth", "kol"))


def figures(
    connection: Connection,
    now: datetime,
    windows: Iterable[int],
    mints: Sequence[tuple[str, str]],
    rule: PriceRule = DEFAULT_RULE,
    *,
    limit: int = 2,
) -> Figures:
    """Return the data of all operations: for all wallets and groups, these tokens and windows of seconds.

    What has pages is read to its end, `limit` rows at a time.
    """
    return (
        _of_wallets(connection, now, rule)
        | _of_tokens(connection, now, mints, rule, limit)
        | _of_groups(connection, now, rule)
        | _of_signals(connection, now, rule)
        | _of_windows(connection, now, windows, mints, limit)
    )


def compare(found: Figures, ledger: Ledger) -> None:
    """Assert that the figures are the naive ones."""
    for (operation, *arguments), data in found.items():
        assert data == getattr(ledger, operation)(*arguments), (operation, arguments)


def _of_wallets(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    found: Figures = {}
    for wallet in connection.execute("SELECT blockchain, type, address FROM wallets").fetchall():
        record = in_process.history(connection, now, **wallet, rule=rule)
        del record["pagination"]
        place = (wallet["blockchain"], wallet["address"])
        found["history", now, *place] = record
        found["calendar", now, *place] = in_process.calendar(connection, now, *place)
        for period in in_process.PERIODS:
            found["tracker", now, *place, period] = in_process.tracker(connection, now, *place, period, rule)
        found["connections", now, *place] = in_process.connections(connection, now, *place)
    return found


def _of_tokens(
    connection: Connection, now: datetime, mints: Sequence[tuple[str, str]], rule: PriceRule, limit: int
) -> Figures:
    found: Figures = {}
    for chain in {chain for chain, _ in mints}:
        # One of them twice.
        own = (*(mint for other, mint in mints if other == chain), mints[0][1])
        found["token_prices", now, chain, own] = in_process.token_prices(connection, now, chain, own, rule)
    for place in mints:
        found["token", now, *place] = in_process.token(connection, now, *place, rule)
        for type in (None, *(type for blockchain, type in GROUPS if blockchain == place[0])):
            token = (now, *place, type)
            found["token_transactions", *token] = in_process.token_transactions(
                connection, *token, limit=limit
            )
            found["token_stats", *token] = in_process.token_stats(connection, *token, rule)
            found["token_holders", *token] = in_process.token_holders(connection, *token)
        for (sort, order), held in zip(product(TRADER_SORTS, ("asc", "desc")), cycle((None, True, False))):
            ordered = (now, *place, sort, order, held)
            found["token_order", *ordered] = in_process.token_order(connection, *ordered, rule, limit)
    return found


def _of_groups(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    found: Figures = {}
    for group in GROUPS:
        for period in in_process.PERIODS:
            tokens = in_process.analytics(connection, now, *group, period, rule)
            found["analytics", now, *group, period] = tokens
            found["volume_trend", now, *group, period] = in_process.volume_trend(
                connection, now, *group, period
            )
        boards: list[tuple[Any, ...]] = [(period,) for period in in_process.BOARD_PERIODS]
        # Periods are sums of days, all of it is kept.
        boards += product(("7d", ALL), SORTS, ORDERS)
        boards += [("7d", SORTS[0], ORDERS[0], filters) for filters in FILTERS]
        for board in boards:
            found["leaderboard", now, *group, *board] = in_process.leaderboard(
                connection, now, *group, *board
            )
        for period, sort in (("1h", None), ("6h", "net_flow"), ("1d", "buyers"), ("7d", None)):
            flows = (now, *group, period, sort)
            found["net_flow", *flows] = in_process.net_flow(connection, *flows)
    return found


def _of_signals(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    """Return those of now, and those as of a day ago, which later trades have not changed."""
    asked = (
        ("cluster", 1, Decimal(0)),
        ("cluster", 2, Decimal(1)),
        ("entry", 1, Decimal(0)),
        ("exit", 1, Decimal(0)),
        ("exit", 1, Decimal(1)),
    )
    return {
        ("signals", moment, *group, mode, hours, least, min_value): in_process.signals(
            connection, moment, *group, mode, hours, least, min_value, rule
        )
        for moment, hours in ((now, 24), (now - timedelta(hours=23), 1), (now - timedelta(days=1), 168))
        for group in GROUPS
        for mode, least, min_value in asked
    }


def _of_windows(
    connection: Connection,
    now: datetime,
    windows: Iterable[int],
    mints: Sequence[tuple[str, str]],
    limit: int,
) -> Figures:
    found: Figures = {}
    for group in GROUPS:
        for mint in (None, *(mint for blockchain, mint in mints if blockchain == group[0])):
            found["latest", now, *group, mint] = in_process.latest(connection, now, *group, mint, limit=limit)
            for seconds in windows:
                window = (now, *group, seconds, mint)
                found["count", *window] = in_process.count(connection, *window)
                found["volume", *window] = in_process.volume(connection, *window)
                if seconds <= MAX_WINDOW_SECONDS:
                    found["timerange", *window] = in_process.timerange(connection, *window)
    return found

"""The figures of all operations at a moment, and whether they are the naive ones."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import cycle, product
from typing import Any

from tests.ledger.in_process import Row, exact, made
from tests.ledger.loaded import in_period, loaded
from tests.naive.ledger import Ledger
from wallet_api.api.schemas.analytics import BucketSchema, FlowsSchema, TradedTokenSchema
from wallet_api.api.schemas.calendar import CalendarArguments, CalendarSchema
from wallet_api.api.schemas.connections import ConnectionsArguments, ConnectionsSchema
from wallet_api.api.schemas.feed import LatestArguments, LatestSchema, TimerangeSchema, TokenSchema
from wallet_api.api.schemas.history import HistoryArguments, HistorySchema
from wallet_api.api.schemas.leaderboard import EntrySchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.signals import OutcomeSchema, SignalSchema
from wallet_api.api.schemas.tokens import (
    TRADER_SORTS,
    PricesSchema,
    TokenHoldersArguments,
    TokenHoldersSchema,
    TokenStatsArguments,
    TokenStatsSchema,
    TokenTransactionsArguments,
    TokenTransactionsSchema,
)
from wallet_api.api.schemas.tracker import TrackerArguments, TrackerSchema
from wallet_api.api.schemas.volume import WindowArguments
from wallet_api.api.schemas.wallet_tokens import SORTS, WalletTokensArguments, WalletTokensSchema
from wallet_api.base.errors import TokenNotFound
from wallet_api.base.orders import BOARD_SORTS, ORDERS
from wallet_api.base.periods import ALL, OUTCOME_SPANS, Bounds
from wallet_api.database import Connection, row_count, rows_of
from wallet_api.ledger.tokens import find_tokens
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.analytics import read_most_traded
from wallet_api.queries.calendar import wallet_calendar
from wallet_api.queries.connections import wallet_connections
from wallet_api.queries.feed import MAX_WINDOW_SECONDS, latest_trades, trades_within
from wallet_api.queries.history import wallet_history
from wallet_api.queries.holdings_worth import Balance, worth_of
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.net_flow import COLUMNS, read_flows, read_windows
from wallet_api.queries.outcomes import TokenMoment, read_outcomes
from wallet_api.queries.paging import MAX_LIMIT
from wallet_api.queries.prices import token_prices
from wallet_api.queries.signals import SignalOptions, group_signals
from wallet_api.queries.token_block import read_token
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.tokens import token_holders, token_stats, token_transactions
from wallet_api.queries.tracker import track_wallet
from wallet_api.queries.volume import count_trades, group_volume
from wallet_api.queries.volume_trend import volume_trend
from wallet_api.queries.wallet_tokens import wallet_tokens

# By operation and arguments.
Figures = dict[tuple[Any, ...], Any]

PERIODS = ("6h", "1d", "7d", "30d")
BOARD_PERIODS = (*PERIODS, "90d", "all")

# What leaves out entries of a board, alone and together.
FILTERS = (
    (("min_txn", Decimal(2)),),
    (("min_volume", Decimal("0.5")), ("min_closed", Decimal(1))),
    (("min_win_rate", Decimal(50)),),
    (("max_without_cost", Decimal(25)),),
    (("max_open_cost", Decimal(50)),),
    (("min_win_rate_low", Decimal("20.6543")),),
    (("min_profit_factor", Decimal("1.5")),),
    (("min_active_days", Decimal(2)), ("max_fast_share", Decimal(50))),
    (("max_drawdown", Decimal("0.5")),),
)
# The shapes of what has pages.
_PAGES: dict[Callable[..., Row], Shape] = {
    latest_trades: LatestSchema(),
    token_transactions: TokenTransactionsSchema(),
    token_stats: TokenStatsSchema(),
    token_holders: TokenHoldersSchema(),
}
GROUPS = (("solana", "kol"), ("solana", "smart"), ("solana", "whale"), ("solana", "all"), ("eth", "kol"))


def figures(
    connection: Connection,
    now: datetime,
    windows: Iterable[int],
    mints: Sequence[tuple[str, str]],
    rule: PriceRule = DEFAULT_RULE,
    *,
    limit: int = 2,
    spans: Sequence[Bounds] = (),
) -> Figures:
    """Return the data of all operations: of wallets and groups, these tokens, windows of seconds, and spans.

    What has pages is read to its end, `limit` rows at a time.
    """
    return (
        _of_wallets(connection, now, rule)
        | _of_tokens(connection, now, mints, rule, limit)
        | _of_groups(connection, now, rule)
        | _of_signals(connection, now, rule)
        | _of_outcomes(connection, now, mints, rule)
        | _of_windows(connection, now, windows, mints, limit)
        | of_spans(connection, now, spans, mints, rule, limit)
    )


def of_spans(
    connection: Connection,
    now: datetime,
    spans: Sequence[Bounds],
    mints: Sequence[tuple[str, str]],
    rule: PriceRule = DEFAULT_RULE,
    limit: int = 2,
) -> Figures:
    """Return the data of all operations that have windows of any time, in these."""
    found: Figures = {}
    for wallet, span in product(connection.execute("SELECT * FROM wallets").fetchall(), spans):
        place = (now, wallet["blockchain"], wallet["address"])
        tracked = find_wallet(connection, *place[1:])
        data = track_wallet(connection, tracked, now, loaded(TrackerArguments, period=span), rule)
        found["tracker", *place, span] = exact(made(TrackerSchema), data)
        data = wallet_calendar(connection, tracked, now, loaded(CalendarArguments, window=span))
        found["calendar", *place, span] = exact(made(CalendarSchema), data)
    for group, span in product(GROUPS, spans):
        found |= of_group(connection, now, group, span, rule)
        for mint in (None, *(mint for blockchain, mint in mints if blockchain == group[0])):
            asked = loaded(LatestArguments, **_of(*group, mint), limit=limit, window=span)
            feed = _pages("transactions", latest_trades, connection, now, asked)
            found["latest", now, *group, mint, span] = feed
    for (blockchain, mint), span in product(mints, spans):
        for type in (None, *(type for chain, type in GROUPS if chain == blockchain)):
            token = (now, blockchain, mint, type)
            feed = _if_traded(_feed_of_token, connection, token, limit, span) or []
            found["token_transactions", *token, span] = feed
    return found


def of_group(
    connection: Connection,
    now: datetime,
    group: tuple[str, str],
    span: Bounds | str,
    rule: PriceRule = DEFAULT_RULE,
) -> Figures:
    """Return the data of the operations of a group that have windows of any time, in one or a period."""
    asked = in_period(group, span)
    most = read_most_traded(connection, now, asked, rule)
    trend = volume_trend(connection, now, asked)
    board = read_board(connection, now, asked, with_charts=True)
    assert most.span == trend.span == board.span
    entries = exact(made(EntrySchema), rows_of(leaderboard_page(board, asked)["leaderboard"]))
    return {
        ("analytics", now, *group, span): exact(made(TradedTokenSchema), rows_of(most.tokens)),
        ("volume_trend", now, *group, span): _serialized(made(BucketSchema), rows_of(trend.buckets)),
        ("leaderboard_charts", now, *group, span): {e["wallet"]: e.pop("chart") for e in entries},
        ("leaderboard", now, *group, span): entries,
    }


def compare(found: Figures, ledger: Ledger) -> None:
    """Assert that the figures are the naive ones."""
    for (operation, *arguments), data in found.items():
        assert data == getattr(ledger, operation)(*arguments), (operation, arguments)


def signals(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    mode: str,
    hours: int = 24,
    least_wallets: int = 3,
    min_value: Decimal = Decimal(0),
    least_transactions: int = 1,
    rule: PriceRule = DEFAULT_RULE,
) -> list[Row]:
    """Return the signals of a group as of `now`, a day later; without wallets they are the same."""
    options = SignalOptions(blockchain, type, mode, MAX_LIMIT, least_wallets, min_value, hours, as_of=now)
    options = replace(options, min_transactions=least_transactions)
    rows, brief = (
        _serialized(
            made(SignalSchema),
            group_signals(
                connection, now + timedelta(days=1), replace(options, include_wallets=included), rule
            )["signals"],
        )
        for included in (True, False)
    )
    assert brief == [{name: value for name, value in row.items() if name != "wallets"} for row in rows]
    return rows


def _serialized(schema: Shape, rows: list[Row]) -> list[Row]:
    return list(exact(schema, rows))


def _of_wallets(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    found: Figures = {}
    for wallet in connection.execute("SELECT blockchain, type, address FROM wallets").fetchall():
        tracked = find_wallet(connection, **wallet)
        record = exact(
            made(HistorySchema),
            wallet_history(connection, tracked, now, loaded(HistoryArguments, limit=1000), rule),
        )
        del record["pagination"]
        place = (wallet["blockchain"], wallet["address"])
        found["history", now, *place] = record
        found["calendar", now, *place] = exact(
            made(CalendarSchema), wallet_calendar(connection, tracked, now, loaded(CalendarArguments))
        )
        for period in BOARD_PERIODS:
            data = track_wallet(connection, tracked, now, loaded(TrackerArguments, period=period), rule)
            found["tracker", now, *place, period] = exact(made(TrackerSchema), data)
        for sort, order, holding in product(SORTS, ORDERS, (None, True, False)):
            given = {"sort": sort, "order": order, "still_holding": holding, "limit": MAX_LIMIT}
            data = wallet_tokens(connection, tracked, now, loaded(WalletTokensArguments, **given), rule)
            found["wallet_tokens", now, *place, sort, order, holding] = exact(made(WalletTokensSchema), data)[
                "tokens"
            ]
        record = exact(
            made(ConnectionsSchema),
            wallet_connections(connection, tracked, now, loaded(ConnectionsArguments)),
        )
        assert record.pop("pagination")["total"] == record["total"]
        found["connections", now, *place] = record
    return found


def _of_tokens(
    connection: Connection, now: datetime, mints: Sequence[tuple[str, str]], rule: PriceRule, limit: int
) -> Figures:
    found: Figures = {}
    for chain in {chain for chain, _ in mints}:
        # One of them twice.
        own = (*(mint for other, mint in mints if other == chain), mints[0][1])
        for moment in (now, now - timedelta(hours=30), now - timedelta(days=9)):
            given = {"blockchain": chain, "mint": own, "as_of": moment}
            data = token_prices(connection, now, given, rule)
            found["token_prices", moment, chain, own] = exact(made(PricesSchema), data)["tokens"]
        balances = tuple(
            zip(("native", *own), cycle(("0", "12.5", "98765432109876.5", f"0.{1:018}")), strict=False)
        )
        worth = worth_of(connection, now, chain, [Balance(*balance) for balance in balances], rule)
        found["holdings_worth", now, chain, balances] = worth
    for place in mints:
        _, block = read_token(connection, now, rule, *place)
        found["token", now, *place] = block and {
            name: exact(made(TokenSchema), block)[name]
            for name in ("token_name", "price", "price_usd", "price_at", "price_source", "liquidity_usd")
        }
        for type in (None, *(type for blockchain, type in GROUPS if blockchain == place[0])):
            token = (now, *place, type)
            found["token_transactions", *token] = _if_traded(_feed_of_token, connection, token, limit) or []
            found["token_stats", *token] = _if_traded(_stats, connection, token, rule)
            found["token_holders", *token] = _if_traded(_holders, connection, token)
        for (sort, order), held in zip(product(TRADER_SORTS, ("asc", "desc")), cycle((None, True, False))):
            page = {"sort": sort, "order": order, "still_holding": held, "limit": limit}
            ordered = _if_traded(_traders_in_order, connection, now, _of_token(*place) | page, rule) or []
            found["token_order", now, *place, sort, order, held] = ordered
    return found


def _if_traded(read: Callable[..., Any], *question: Any) -> Any:
    """Return what is read of a token; None if nobody traded it."""
    try:
        return read(*question)
    except TokenNotFound:
        return None


def _feed_of_token(
    connection: Connection, token: tuple[Any, ...], limit: int, window: Bounds | None = None
) -> list[Row]:
    now, *place = token
    asked = loaded(TokenTransactionsArguments, **_of_token(*place), limit=limit, window=window)
    return _pages("transactions", token_transactions, connection, now, asked)


def _stats(connection: Connection, token: tuple[Any, ...], rule: PriceRule) -> Row:
    now, *place = token
    asked = loaded(TokenStatsArguments, **_of_token(*place))
    record: Row = exact(made(TokenStatsSchema), token_stats(connection, now, asked, rule))
    assert record.pop("pagination")["total"] == len(record["traders"])
    # `token` has its figures.
    del record["token"]
    return record


def _holders(connection: Connection, token: tuple[Any, ...]) -> Row:
    now, *place = token
    asked = loaded(TokenHoldersArguments, **_of_token(*place), limit=MAX_LIMIT)
    record: Row = exact(made(TokenHoldersSchema), token_holders(connection, now, asked))
    assert record.pop("pagination")["total"] == record["total"]
    del record["token"]
    return record


def _traders_in_order(
    connection: Connection, now: datetime, given: dict[str, Any], rule: PriceRule
) -> list[str]:
    """Return the addresses of the traders of a token on all pages; its holders are in the same order."""
    asked = loaded(TokenStatsArguments, **given)
    traders = _pages("traders", token_stats, connection, now, asked, rule)
    holders = _pages("holders", token_holders, connection, now, asked, rule)
    held = [row["profile"] for row in traders if row["trader_holdings"]["token_amount_peak"]]
    assert [row["profile"] for row in holders] == held
    return [row["profile"]["wallet_address"] for row in traders]


def _of_groups(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    found: Figures = {}
    for group in GROUPS:
        for period in PERIODS:
            total, tokens, *_ = read_most_traded(connection, now, in_period(group, period), rule)
            assert total == row_count(tokens)
            found["analytics", now, *group, period] = exact(made(TradedTokenSchema), rows_of(tokens))
            buckets = rows_of(volume_trend(connection, now, in_period(group, period)).buckets)
            found["volume_trend", now, *group, period] = _serialized(made(BucketSchema), buckets)
        orders: list[tuple[Any, ...]] = [(period, BOARD_SORTS[0], ORDERS[0], ()) for period in BOARD_PERIODS]
        # Periods are sums of days, all of it is kept.
        orders += [(*order, ()) for order in product(("7d", ALL), BOARD_SORTS, ORDERS)]
        orders += [("7d", BOARD_SORTS[0], ORDERS[0], filters) for filters in FILTERS]
        boards = {period: read_board(connection, now, in_period(group, period)) for period in BOARD_PERIODS}
        for period, sort, order, filters in orders:
            asked = in_period(group, period) | {"sort": sort, "order": order} | dict(filters)
            page = leaderboard_page(boards[period], asked)
            found["leaderboard", now, *group, period, sort, order, filters] = exact(
                made(EntrySchema), rows_of(page["leaderboard"])
            )
        for period in BOARD_PERIODS:
            asked = in_period(group, period)
            page = leaderboard_page(read_board(connection, now, asked, with_charts=True), asked)
            entries = exact(made(EntrySchema), rows_of(page["leaderboard"]))
            found["leaderboard_charts", now, *group, period] = {
                entry["wallet"]: entry["chart"] for entry in entries
            }
            profits = [entry["period_stats"]["realized_pnl"] for entry in entries]
            assert [entry["chart"]["values"][-1] for entry in entries] == profits
        sorts = (("1h", None), ("6h", "net_flow"), ("1d", "buyers"), ("7d", None))
        for (period, sort), order in product(sorts, ORDERS):
            flows = net_flows(
                connection, now, blockchain=group[0], type=group[1], period=period, sort=sort, order=order
            )
            found["net_flow", now, *group, period, sort, order] = _serialized(made(FlowsSchema), flows)
    return found


def net_flows(
    connection: Connection,
    now: datetime,
    *,
    blockchain: str,
    type: str,
    period: str,
    limit: int = 1000,
    sort: str | None = None,
    order: str = "desc",
) -> list[dict[str, Any]]:
    """Return the flows of tokens as they are answered."""
    flows = read_flows(connection, now, in_period((blockchain, type), period))
    _, token_ids = flows.choose(limit, sort, order)
    windows = read_windows(connection, flows, token_ids)
    return [dict(zip(COLUMNS, windows[token_id], strict=True)) for token_id in token_ids]


def _of_signals(connection: Connection, now: datetime, rule: PriceRule) -> Figures:
    """Return those of now, and those as of a day ago, which later trades have not changed."""
    questions = (
        ("cluster", 1, Decimal(0), 1),
        ("cluster", 2, Decimal(1), 1),
        ("cluster", 2, Decimal(0), 2),
        ("entry", 1, Decimal(0), 1),
        ("exit", 1, Decimal(0), 1),
        ("exit", 1, Decimal(0), 2),
        ("exit", 1, Decimal(1), 1),
    )
    return {
        ("signals", moment, *group, mode, hours, *least): signals(
            connection, moment, *group, mode, hours, *least, rule
        )
        for moment, hours in ((now, 24), (now - timedelta(hours=23), 1), (now - timedelta(days=1), 168))
        for group in GROUPS
        for mode, *least in questions
    }


def _of_outcomes(
    connection: Connection, now: datetime, mints: Sequence[tuple[str, str]], rule: PriceRule
) -> Figures:
    """Return what became of each traded token after moments from which a price is searched for at an edge."""
    ids = find_tokens(connection, list(mints))
    places = {
        TokenMoment(token_id, now - timedelta(minutes=minutes)): (*token, minutes)
        for token, token_id in ids.items()
        for minutes in (60, 61, 66, 120, 361, 420, 1440, 1441, 1500, 1584, 2880)
    }
    found = read_outcomes(connection, now, list(places), rule)
    return {
        ("outcome", moment.at, now, *places[moment][:2]): {
            name: exact(made(OutcomeSchema), outcomes[name]) if name in outcomes else None
            for name in OUTCOME_SPANS
        }
        for moment, outcomes in found.items()
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
            asked = loaded(LatestArguments, **_of(*group, mint), limit=limit)
            found["latest", now, *group, mint] = _pages("transactions", latest_trades, connection, now, asked)
            for seconds in windows:
                window = (now, *group, seconds, mint)
                asked = loaded(WindowArguments, **_of(*group, mint), window_seconds=seconds)
                counted = count_trades(connection, now, asked)
                found["count", *window] = counted["count"], counted["wallet_count"]
                sums = group_volume(connection, now, asked)
                found["volume", *window] = {name: sums[name] for name in ("volume", "volume_usd")}
                if seconds <= MAX_WINDOW_SECONDS:
                    found["timerange", *window] = _timerange(connection, now, asked)
    return found


def _timerange(connection: Connection, now: datetime, asked: dict[str, Any]) -> list[Row]:
    data = trades_within(connection, now, asked | {"limit": MAX_LIMIT})
    rows: list[Row] = exact(made(TimerangeSchema), data)["transactions"]
    assert (data["total"], data["count"]) == (len(rows), len(rows))
    return rows


def _of(blockchain: str, type: str | None, mint: str | None) -> dict[str, Any]:
    return {"blockchain": blockchain, "type": type, "mint": mint}


def _of_token(blockchain: str, mint: str, type: str | None = None) -> dict[str, Any]:
    return _of(blockchain, type, mint)


def _pages(
    name: str,
    read: Callable[..., Row],
    connection: Connection,
    now: datetime,
    asked: dict[str, Any],
    rule: PriceRule = DEFAULT_RULE,
) -> list[Row]:
    """Return the rows on all pages; each page reports how many there are, but in a window."""
    found: list[Row] = []
    totals = set()
    cursor: str | None = ""
    while cursor is not None:
        data = read(connection, now, asked | {"cursor": cursor}, rule)
        found += exact(_PAGES[read], data)[name]
        totals.add(data["pagination"].get("total"))
        cursor = data["pagination"]["next_cursor"]
    assert totals == {None if "window" in asked else len(found)}
    return found

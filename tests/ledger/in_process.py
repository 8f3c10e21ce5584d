"""Imports, removals and queries in the process of the test, with rows as in files and answers as in JSON."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

import orjson

from wallet_api.database import Connection, connect
from wallet_api.errors import TokenNotFound
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.identities import TradeIdentity, WalletIdentity
from wallet_api.ledger.imports import Summary, import_prices, import_trades, import_wallets
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.remove import Removal, remove_trades, remove_wallets, stage_trades, stage_wallets
from wallet_api.ledger.rows import PriceRow, TradeRow, WalletRow
from wallet_api.queries.analytics import read_tokens
from wallet_api.queries.calendar import wallet_calendar
from wallet_api.queries.connections import wallet_connections
from wallet_api.queries.count import count_trades
from wallet_api.queries.feed import latest_trades, trades_within
from wallet_api.queries.history import wallet_history
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.net_flow import net_flows
from wallet_api.queries.prices import token_prices as find_prices
from wallet_api.queries.signals import MAX_SIGNALS, group_signals
from wallet_api.queries.token_block import find_token
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.tokens import token_holders as find_holders
from wallet_api.queries.tokens import token_stats as find_stats
from wallet_api.queries.tokens import token_transactions as find_transactions
from wallet_api.queries.tracker import track_wallet
from wallet_api.queries.volume import group_volume
from wallet_api.queries.volume_trend import volume_trend as find_trend
from wallet_api.schemas.analytics import BucketSchema, FlowsSchema
from wallet_api.schemas.fields import Shape
from wallet_api.schemas.signals import SignalSchema
from wallet_api.wallet_ids import WalletIds

Row = dict[str, Any]

PERIODS = ("6h", "1d", "7d", "30d")
BOARD_PERIODS = (*PERIODS, "90d", "all")


class Importer:
    """Import rows, each call over a session of its own, like one run of the command."""

    def __init__(self, url: str, batch_rows: int = 100_000) -> None:
        self._url = url
        self._batch_rows = batch_rows

    def wallets(self, rows: Iterable[Row]) -> Summary:
        """Import a file of wallets, in which nothing may be bad."""
        with connect(self._url) as connection:
            return import_wallets(connection, ndjson_records(_lines(rows), WalletRow), _refuse)

    def trades(self, rows: Iterable[Row]) -> Summary:
        """Import a file of trades, in which nothing may be bad."""
        with connect(self._url) as connection:
            records = ndjson_records(_lines(rows), TradeRow)
            return import_trades(connection, records, _refuse, batch_rows=self._batch_rows)

    def prices(self, rows: Iterable[Row]) -> Summary:
        """Import a file of prices, in which nothing may be bad."""
        with connect(self._url) as connection:
            return import_prices(connection, ndjson_records(_lines(rows), PriceRow), _refuse)

    def remove_wallets(self, rows: Iterable[Row]) -> Removal:
        """Remove the wallets of a file; unknown ones are counted."""
        with connect(self._url) as connection:
            found = stage_wallets(connection, ndjson_records(_lines(rows), WalletIdentity), _leave_out)
            return replace(remove_wallets(connection), rejected=found.rejected)

    def remove_trades(self, rows: Iterable[Row]) -> Removal:
        """Remove the trades of a file; unknown ones are counted."""
        with connect(self._url) as connection:
            found = stage_trades(connection, ndjson_records(_lines(rows), TradeIdentity), _leave_out)
            removed = remove_trades(connection, batch_rows=self._batch_rows)
            return replace(removed, rejected=found.rejected)


def history(
    connection: Connection, now: datetime, blockchain: str, type: str, address: str, **page: Any
) -> Row:
    """The data of a history answer, its numbers exact."""
    data = wallet_history(connection, WalletIds(), now, blockchain, type, address, **({"limit": 1000} | page))
    record: Row = parsed(orjson.dumps(data))
    return record


def calendar(connection: Connection, now: datetime, blockchain: str, address: str) -> Row:
    """The data of a calendar answer, its numbers exact."""
    data: Row = parsed(orjson.dumps(wallet_calendar(connection, WalletIds(), now, blockchain, address)))
    return data


def tracker(
    connection: Connection,
    now: datetime,
    blockchain: str,
    address: str,
    period: str,
    rule: PriceRule = DEFAULT_RULE,
) -> Row:
    """The data of a tracker answer, its numbers exact."""
    data = track_wallet(connection, WalletIds(), now, blockchain, address, period, rule)
    record: Row = parsed(orjson.dumps(data, default=_exact))
    return record


def token(
    connection: Connection, now: datetime, blockchain: str, mint: str, rule: PriceRule = DEFAULT_RULE
) -> Row | None:
    """The name and the price of a token, exact; None if nobody traded it."""
    _, block = find_token(connection, now, rule, blockchain, mint)
    return block and {name: block[name] for name in ("token_name", "price", "price_usd", "price_at")}


def token_prices(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mints: Sequence[str],
    rule: PriceRule = DEFAULT_RULE,
) -> list[Row]:
    """What is known of each token, exact."""
    rows: list[Row] = parsed(orjson.dumps(find_prices(connection, now, blockchain, mints, rule)["tokens"]))
    return rows


def connections(connection: Connection, now: datetime, blockchain: str, address: str, **page: Any) -> Row:
    """The data of a connections answer, its numbers exact."""
    data: Row = parsed(orjson.dumps(wallet_connections(connection, now, blockchain, address, **page)))
    return data


def volume(
    connection: Connection, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None
) -> Row:
    """The totals of a volume answer, exact."""
    data = group_volume(connection, now, blockchain, type, seconds, mint)
    return {"volume": data["volume"], "volume_usd": data["volume_usd"]}


def latest(
    connection: Connection, now: datetime, blockchain: str, type: str, mint: str | None = None, limit: int = 2
) -> list[Row]:
    """The trades on all pages of a feed, exact; each page reports how many there are."""
    return _pages(lambda cursor: latest_trades(connection, now, blockchain, type, limit, mint, cursor))


def token_transactions(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mint: str,
    type: str | None = None,
    limit: int = 2,
) -> list[Row]:
    """The trades on all pages of a token's feed, exact; each page reports how many there are."""
    try:
        return _pages(
            lambda cursor: find_transactions(connection, now, blockchain, mint, type, limit, cursor)
        )
    except TokenNotFound:
        return []


def _pages(read: Callable[[str], Row], rows: str = "transactions") -> list[Row]:
    found: list[Row] = []
    totals = set()
    cursor: str | None = ""
    while cursor is not None:
        data = read(cursor)
        found += parsed(orjson.dumps(data[rows]))
        totals.add(data["pagination"]["total"])
        cursor = data["pagination"]["next_cursor"]
    assert totals == {len(found)}
    return found


def token_stats(
    connection: Connection, now: datetime, blockchain: str, mint: str, type: str | None, rule: PriceRule
) -> Row | None:
    """The stats of a token but for the token itself, exact; None if nobody traded it."""
    try:
        data = find_stats(connection, now, blockchain, mint, type, rule=rule)
    except TokenNotFound:
        return None
    record: Row = parsed(orjson.dumps(data, default=_exact))
    assert record.pop("pagination")["total"] == len(record["traders"])
    return without_token(record)


def token_order(
    connection: Connection,
    now: datetime,
    blockchain: str,
    mint: str,
    sort: str,
    order: str,
    still_holding: bool | None,
    rule: PriceRule,
    limit: int = 2,
) -> list[str]:
    """The addresses of the traders of a token on all pages of its stats, and of its holders among them."""
    page = {"sort": sort, "order": order, "still_holding": still_holding, "rule": rule, "limit": limit}
    try:
        traders = _pages(
            lambda cursor: find_stats(connection, now, blockchain, mint, cursor=cursor, **page), "traders"
        )
        holders = _pages(
            lambda cursor: find_holders(connection, now, blockchain, mint, cursor=cursor, **page), "holders"
        )
    except TokenNotFound:
        return []
    held = [row["profile"] for row in traders if row["trader_holdings"]["token_amount_peak"]]
    assert [row["profile"] for row in holders] == held
    return [row["profile"]["wallet_address"] for row in traders]


def token_holders(
    connection: Connection, now: datetime, blockchain: str, mint: str, type: str | None
) -> Row | None:
    """All holders of a token but for the token itself, exact; None if nobody traded it."""
    try:
        data = find_holders(connection, now, blockchain, mint, type)
    except TokenNotFound:
        return None
    record: Row = parsed(orjson.dumps(data, default=_exact))
    assert record.pop("pagination")["total"] == record["total"]
    return without_token(record)


def without_token(record: Row) -> Row:
    """The data of an answer without the token, which `token` has."""
    return {name: value for name, value in record.items() if name != "token"}


def analytics(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    period: str,
    rule: PriceRule = DEFAULT_RULE,
) -> list[Row]:
    """The most traded tokens of a group, their numbers exact."""
    tokens: list[Row] = parsed(orjson.dumps(read_tokens(connection, now, blockchain, type, period, rule)))
    return tokens


def net_flow(
    connection: Connection, now: datetime, blockchain: str, type: str, period: str, sort: str | None = None
) -> list[Row]:
    """The flows of a group's tokens, exact; in the other direction they are the same."""
    question = (connection, now, blockchain, type, period, 1000, sort)
    rows = _serialized(FlowsSchema(), net_flows(*question))
    rising = _serialized(FlowsSchema(), net_flows(*question, "asc"))
    assert sorted(rising, key=_mint) == sorted(rows, key=_mint)
    return rows


def _mint(row: Row) -> str:
    mint: str = row["mint"]
    return mint


def volume_trend(connection: Connection, now: datetime, blockchain: str, type: str, period: str) -> list[Row]:
    """The volume of a group in each bucket of a period, exact."""
    return _serialized(BucketSchema(), find_trend(connection, now, blockchain, type, period))


def signals(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    mode: str,
    hours: int = 24,
    least_wallets: int = 3,
    min_value: Decimal = Decimal(0),
    rule: PriceRule = DEFAULT_RULE,
) -> list[Row]:
    """The signals of a group, exact; a list without wallets is the same without them."""
    question = {"min_wallets": least_wallets, "min_value": min_value, "hours": hours, "limit": MAX_SIGNALS}
    data = group_signals(connection, now, blockchain, type, mode, **question, rule=rule)
    brief = group_signals(
        connection, now, blockchain, type, mode, **question, include_wallets=False, rule=rule
    )
    rows = _serialized(SignalSchema(), data["signals"])
    assert _serialized(SignalSchema(), brief["signals"]) == [
        {name: value for name, value in row.items() if name != "wallets"} for row in rows
    ]
    return rows


def timerange(
    connection: Connection, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None
) -> list[Row]:
    """The trades of a window, exact."""
    data = trades_within(connection, now, blockchain, type, seconds, 1000, mint)
    rows: list[Row] = parsed(orjson.dumps(data["transactions"]))
    assert (data["total"], data["count"]) == (len(rows), len(rows))
    return rows


def count(
    connection: Connection, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None
) -> tuple[int, int]:
    """The number of trades in a window, and of wallets."""
    data = count_trades(connection, now, blockchain, type, seconds, mint)
    return data["count"], data["wallet_count"]


def leaderboard(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    period: str,
    sort: str = "total_volume",
    order: str = "desc",
    filters: Iterable[tuple[str, Decimal]] = (),
) -> list[Row]:
    """The entries of a leaderboard, their numbers exact."""
    group = (blockchain, type, period)
    data = leaderboard_page(read_board(connection, now, *group), *group, sort, order, **dict(filters))
    rows: list[Row] = parsed(orjson.dumps(data["leaderboard"]))
    return rows


def parsed(body: bytes) -> Any:
    """A JSON document whose numbers lose no digit."""
    return json.loads(body, parse_float=Decimal)


def clear(connection: Connection) -> None:
    """Empty the ledger: as fast as it goes, since it has few rows."""
    ledger = (
        "trades",
        "removals",
        "arrivals",
        "ledger_events",
        "positions",
        "lifetimes",
        "position_days",
        "wallet_days",
        "volume_rollup",
    )
    tables = (*ledger, "token_prices", "native_prices", "tokens", "wallet_groups", "wallets")
    # In a cluster, wallets are not deleted after others at once.
    sequential = "SET LOCAL citus.multi_shard_modify_mode = sequential"
    connection.execute("; ".join((sequential, *(f"DELETE FROM {table}" for table in tables))))


def cut(rows: Sequence[Row], places: Iterable[int]) -> list[list[Row]]:
    """The rows as consecutive files, cut at these places."""
    edges = [0, *sorted({place % (len(rows) + 1) for place in places}), len(rows)]
    return [list(rows[start:end]) for start, end in pairwise(edges) if start < end]


def _serialized(schema: Shape, rows: list[Row]) -> list[Row]:
    """The rows as the operation serializes them."""
    serialized: list[Row] = parsed(orjson.dumps(schema.dump(rows, many=True), default=_exact))
    return serialized


def _lines(rows: Iterable[Row]) -> Iterable[bytes]:
    return (json.dumps(row).encode() + b"\n" for row in rows)


def _exact(value: object) -> orjson.Fragment:
    assert isinstance(value, Decimal)
    return orjson.Fragment(format(value, "f"))


def _leave_out(number: int, line: bytes, fault: BadRow) -> None:
    assert str(fault) in ("the wallet has no such trade", "the wallet is not tracked"), fault


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise AssertionError(f"line {number} was rejected: {fault}: {line!r}")

"""Imports and removals in the process of the test, with rows as in files, and JSON with exact numbers."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Any

from wallet_api.api.schemas.shapes import Shape
from wallet_api.base.forms import BadRow
from wallet_api.database import Connection, connect
from wallet_api.ledger.files.ndjson import ndjson_records
from wallet_api.ledger.files.rejects import Repeated
from wallet_api.ledger.files.rows import (
    PriceRow,
    QuoteRow,
    TradeIdentity,
    TradeRow,
    WalletIdentity,
    WalletRow,
)
from wallet_api.ledger.imports import Summary, TradeOptions, import_prices, import_trades, import_wallets
from wallet_api.ledger.quotes import QuoteRule, import_quotes
from wallet_api.ledger.remove import Removal, remove_trades, remove_wallets, stage_trades, stage_wallets

Row = dict[str, Any]


class Importer:
    """Import rows, each call over a session of its own, like one run of the command."""

    def __init__(self, url: str, batch_rows: int = 100_000) -> None:
        self._url = url
        self._batch_rows = batch_rows

    def wallets(self, rows: Iterable[Row]) -> Summary:
        """Import a file of wallets, in which nothing may be bad but repeats with other values."""
        with connect(self._url) as connection:
            return import_wallets(connection, ndjson_records(_lines(rows), WalletRow), _refuse)

    def trades(self, rows: Iterable[Row]) -> Summary:
        """Import a file of trades, in which nothing may be bad but repeats with other values."""
        with connect(self._url) as connection:
            records = ndjson_records(_lines(rows), TradeRow)
            return import_trades(connection, records, _refuse, TradeOptions(batch_rows=self._batch_rows))

    def prices(self, rows: Iterable[Row]) -> Summary:
        """Import a file of prices, in which nothing may be bad but repeats with other values."""
        with connect(self._url) as connection:
            return import_prices(connection, ndjson_records(_lines(rows), PriceRow), _refuse)

    def quotes(self, rows: Iterable[Row], rule: QuoteRule | None = None) -> Summary:
        """Import a file of quotes, in which nothing may be bad but tokens that nobody traded."""
        with connect(self._url) as connection:
            records = ndjson_records(_lines(rows), QuoteRow)
            return import_quotes(connection, records, _leave_out, rule or QuoteRule())

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


def parsed(body: bytes) -> Any:
    """A JSON document whose numbers lose no digit."""
    return json.loads(body, parse_float=Decimal)


def exact(shape: Shape, data: Any) -> Any:
    """The data of a query as a response of this shape has it, its numbers exact; or a list of rows."""
    if isinstance(data, list):
        return [parsed(row.encode()) for row in shape.write(data)]
    return parsed(shape.write([data])[0].encode())


@cache
def made(shape: type[Shape]) -> Shape:
    """A shape of this class, made once: to make one takes longer than to write a record."""
    return shape()


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
        "wallet_hours",
        "volume_rollup",
        "token_days",
    )
    tables = (
        *(*ledger, "token_quotes", "market_prices", "token_prices", "native_prices", "final_blocks"),
        *("signal_hours", "token_outcomes", "tokens", "wallet_groups", "wallets"),
    )
    # In a cluster, wallets are not deleted after others at once.
    sequential = "SET LOCAL citus.multi_shard_modify_mode = sequential"
    connection.execute("; ".join((sequential, *(f"DELETE FROM {table}" for table in tables))))


def cut(rows: Sequence[Row], places: Iterable[int]) -> list[list[Row]]:
    """The rows as consecutive files, cut at these places."""
    edges = [0, *sorted({place % (len(rows) + 1) for place in places}), len(rows)]
    return [list(rows[start:end]) for start, end in pairwise(edges) if start < end]


def _lines(rows: Iterable[Row]) -> Iterable[bytes]:
    return (json.dumps(row).encode() + b"\n" for row in rows)


def _leave_out(number: int, line: bytes, fault: BadRow) -> None:
    allowed = ("the wallet has no such trade", "the wallet is not tracked")
    assert str(fault) in (*allowed, "no tracked wallet ever traded this token"), fault


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    assert isinstance(fault, Repeated), f"line {number} was rejected: {fault}: {line!r}"
    assert json.loads(line)

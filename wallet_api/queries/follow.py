"""The changes of a feed in the order in which they arrived: new trades, corrections and removals."""

import uuid
from datetime import datetime
from itertools import islice
from typing import Annotated, Any, LiteralString, NamedTuple, Unpack

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Database, Row, load_sql
from wallet_api.errors import CursorUnknown
from wallet_api.ledger import arrivals
from wallet_api.queries import cursors
from wallet_api.queries.feed_filters import FilterArguments, read_filters
from wallet_api.queries.token_block import UNKNOWN_TOKEN_ID
from wallet_api.queries.windows import MAX_LIMIT, limit_warnings, with_warnings

_NEWEST = load_sql(__package__, "newest_arrival")
_AFTER = load_sql(__package__, "arrivals_after")
_PAGE = load_sql(__package__, "arrivals_page")
_FIND_TOKEN_ID = load_sql(__package__, "find_token_id")

NOW, START = "now", "start"

# A chunk has about as many trades. A page reads as many chunks as fill it if all trades are in its feed, and
# then twice as many as the rest of it needs by the share of those so far, but at most four times as many as
# the time before: 15,000 trades in all.
_CHUNK_TRADES = 100
_MAX_CHUNKS = 150
_GROWTH = 4

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ChangeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a change within its chunk."""

    kind: Annotated[int, msgspec.Meta(ge=0, le=2)]
    wallet_id: Number
    token_id: Number
    tx_signature: str
    is_sell: bool
    event_index: int


class Position(msgspec.Struct, array_like=True, frozen=True):
    """Up to where a follower has read: a batch, the next of its chunks, the last change in that one.

    Without an id it is the start of the feed.
    """

    batch_id: Annotated[bytes, msgspec.Meta(max_length=16)] = b""
    chunk: Number = 0
    key: ChangeKey | None = None


class _Chunk(NamedTuple):
    batch_id: bytes
    # Its number, and its place in its batch.
    number: int
    nth: int
    arrived_at: datetime


class _Page(NamedTuple):
    # Up to where it was read, how many changes it has, these as JSON, and whether these chunks have more.
    end: Position
    rows: int
    changes: str
    has_more: bool


# A key before all others.
_NO_KEY = ChangeKey(0, 0, 0, "", False, 0)


def follow(
    database: Database,
    now: datetime,
    operation: str,
    blockchain: str,
    after: str,
    type: str | None = None,
    mint: str | None = None,
    limit: int = 50,
    **given: Unpack[FilterArguments],
) -> dict[str, Any]:
    """Return up to `limit` changes (at most 1000) that arrived after a cursor, oldest first.

    `after` may also be `now`, after which there is no change yet, or `start`. Raises InvalidParameter,
    CursorUnknown.
    """
    with database.read() as connection:
        filters = read_filters(connection, blockchain, type, given)
        scope = (operation, "after", blockchain, type or "", mint or "", *filters.scope)
        if after == NOW:
            position, chunks = _newest(database, connection), []
        else:
            position = Position() if after == START else cursors.decode(after, scope, Position, "after")
            chunks = _chunks_after(database, connection, position)
        wanted = {
            "blockchain": blockchain,
            "type": type,
            "currency": CHAINS[blockchain].currency,
            "now": now,
            "mint": mint,
            "token_id": _token_id(connection, blockchain, mint) if mint and chunks else None,
            "addresses": list(given["address"]) if "address" in given else None,
            "limit": min(limit, MAX_LIMIT),
            **filters.parameters,
        }
        page = _read(connection, wanted, position, chunks)
    pagination = {
        "limit": min(limit, MAX_LIMIT),
        "has_more": page.has_more,
        "next_cursor": cursors.encode(scope, page.end),
    }
    data = {
        "blockchain": blockchain,
        **({} if type is None else {"type": type}),
        "currency": CHAINS[blockchain].currency,
        "count": page.rows,
        "transactions": orjson.Fragment(page.changes),
        "pagination": pagination,
    }
    return with_warnings(data, [*limit_warnings(limit), *filters.warnings])


def _newest(database: Database, connection: Connection) -> Position:
    """Return the position behind all changes that are committed."""
    batches = _placed(database, connection, _NEWEST, {})
    return _behind(batches[-1]) if batches else Position()


def _behind(batch: Row) -> Position:
    return Position(batch["batch_id"].bytes, batch["last_chunk"] - batch["first_chunk"] + 1)


def _chunks_after(database: Database, connection: Connection, position: Position) -> list[_Chunk]:
    """Return the next chunks, one more than a page reads; refuse a batch that the ledger does not know."""
    batch_id = uuid.UUID(bytes=position.batch_id) if position.batch_id else None
    parameters = {"batch_id": batch_id, "batches": _MAX_CHUNKS + 2}
    batches = _placed(database, connection, _AFTER, parameters)
    if batch_id is not None and not batches:
        _refuse_unknown(database, parameters)
    chunks = (
        _Chunk(batch["batch_id"].bytes, number, number - batch["first_chunk"], batch["arrived_at"])
        for batch in batches
        for number in range(
            batch["first_chunk"] + (position.chunk if batch["batch_id"] == batch_id else 0),
            batch["last_chunk"] + 1,
        )
    )
    return list(islice(chunks, _MAX_CHUNKS + 1))


def _placed(
    database: Database, connection: Connection, statement: LiteralString, parameters: dict[str, Any]
) -> list[Row]:
    """Return the batches that a statement reads, once all of those that are committed have a place.

    A writer that was killed has left one without.
    """
    rows = connection.execute(statement, parameters).fetchall()
    if rows[0]["has_unplaced"]:
        with database.write() as primary:
            arrivals.place(primary)
        rows = connection.execute(statement, parameters).fetchall()
    return [row for row in rows if row["batch_id"] is not None]


def _refuse_unknown(database: Database, parameters: dict[str, Any]) -> None:
    """Refuse the batch of a cursor, unless only a standby does not have it yet."""
    if not database.reads_primary:
        with database.write() as primary:
            if _placed(database, primary, _AFTER, parameters):
                return
    raise CursorUnknown


def _token_id(connection: Connection, blockchain: str, mint: str) -> int:
    token_id = connection.fetch_value(_FIND_TOKEN_ID, {"blockchain": blockchain, "mint": mint})
    return UNKNOWN_TOKEN_ID if token_id is None else token_id


def _read(connection: Connection, wanted: dict[str, Any], position: Position, chunks: list[_Chunk]) -> _Page:
    """Return the changes of the first chunks, and of more and more of them until the page is full."""
    rows, changes, done = 0, [], 0
    number = wanted["limit"] // _CHUNK_TRADES + 1
    while done < min(len(chunks), _MAX_CHUNKS):
        part = chunks[done : min(done + number, _MAX_CHUNKS)]
        page = _read_chunks(connection, wanted | {"limit": wanted["limit"] - rows}, position, part)
        rows, position = rows + page.rows, page.end
        changes += [page.changes] if page.rows else []
        if page.has_more:
            break
        done += len(part)
        missing = wanted["limit"] - rows + 1
        number = min(_GROWTH * number, 2 * (done * missing // max(rows, 1) + 1))
    return _Page(position, rows, f"[{','.join(changes)}]", has_more=done < len(chunks))


def _read_chunks(
    connection: Connection, wanted: dict[str, Any], position: Position, chunks: list[_Chunk]
) -> _Page:
    begun = chunks[0].batch_id == position.batch_id and chunks[0].nth == position.chunk and position.key
    key = begun or _NO_KEY
    parameters = {
        "chunks": [chunk.number for chunk in chunks],
        "times": [chunk.arrived_at for chunk in chunks],
        "key_chunk": chunks[0].number if begun else 0,
        "kind": key.kind,
        "wallet_id": key.wallet_id,
        "last_token_id": key.token_id,
        "tx_signature": key.tx_signature,
        "is_sell": key.is_sell,
        "event_index": key.event_index,
    }
    row = connection.execute(_PAGE, wanted | parameters).fetchone()
    assert row is not None
    if not row["is_cut"]:
        end = Position(chunks[-1].batch_id, chunks[-1].nth + 1)
    elif row["row_count"]:
        last = next(chunk for chunk in chunks if chunk.number == row["arrival"])
        end = Position(
            last.batch_id, last.nth, ChangeKey(*[row[name] for name in ChangeKey.__struct_fields__])
        )
    else:
        end = position
    return _Page(end, row["row_count"], row["changes"], row["is_cut"])

"""The changes of a feed in the order in which they arrived: new trades, corrections and removals."""

import uuid
from datetime import datetime
from typing import Annotated, Any, LiteralString, NamedTuple, Unpack

import msgspec
import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Database, Row, load_sql
from wallet_api.errors import CursorUnknown
from wallet_api.ledger import arrivals
from wallet_api.queries import cursors
from wallet_api.queries.feed_filters import FilterArguments, read_filters
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_block import UNKNOWN_TOKEN_ID

_NEWEST = load_sql(__package__, "newest_arrival")
_PAGE = load_sql(__package__, "arrivals_page")
_FIND_TOKEN_ID = load_sql(__package__, "find_token_id")

NOW, START = "now", "start"

# A chunk has about as many trades. A page reads from eight times as many chunks as it may need, then from all
# others up to 9,000 trades, which takes about as long as a full page. PostgreSQL stops at the chunk that
# fills it.
_CHUNK_TRADES = 100
_FIRST_CHUNKS = 8
_MAX_CHUNKS = 90

Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ChangeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a change within its chunk."""

    kind: Annotated[int, msgspec.Meta(ge=0, le=2)]
    wallet_id: Number
    token_id: Number
    tx_signature: str
    is_sell: bool
    event_index: int


class Run(msgspec.Struct, array_like=True, frozen=True):
    """What a follower who reads page after page has seen: arrivals.standing in arrivals_page.sql.

    The horizon is named by its batch, since a restored ledger gives its place to another one.
    """

    seen: Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]
    horizon_id: Annotated[bytes, msgspec.Meta(max_length=16)]


class Position(msgspec.Struct, array_like=True, frozen=True):
    """Up to where a follower has read: a batch, the next of its chunks, the last change in that one.

    Without an id it is the start of the feed. A run lasts until the end of the feed.
    """

    batch_id: Annotated[bytes, msgspec.Meta(max_length=16)] = b""
    chunk: Number = 0
    key: ChangeKey | None = None
    run: Run | None = None


class _Page(NamedTuple):
    # Up to where it was read, how many changes it has, these as JSON, and whether there may be more.
    end: Position
    rows: int = 0
    changes: str = "[]"
    has_more: bool = False


# A key before all others.
_NO_KEY = ChangeKey(0, 0, 0, "", False, 0)


def follow(
    database: Database,
    now: datetime,
    operation: str,
    blockchain: str | None,
    after: str,
    type: str | None = None,
    mint: str | None = None,
    limit: int = 50,
    **given: Unpack[FilterArguments],
) -> dict[str, Any]:
    """Return up to `limit` changes (at most 1000) that arrived after a cursor, oldest first.

    Without `blockchain` they are of all chains. `after` may also be `now`, after which there is no change
    yet, or `start`. Raises InvalidParameter, CursorUnknown.
    """
    with database.read() as connection:
        filters = read_filters(connection, blockchain, type, given)
        scope = (operation, "after", blockchain or "", type or "", mint or "", *filters.scope)
        wanted = {
            "blockchain": blockchain,
            "type": type,
            "currencies": list({chain.currency for chain in CHAINS.values()}),
            "now": now,
            "mint": mint,
            "token_id": _token_id(connection, blockchain, mint) if blockchain and mint else None,
            "addresses": list(given["address"]) if "address" in given else None,
            **filters.parameters,
        }
        if after == NOW:
            page = _Page(_newest(database, connection))
        else:
            position = Position() if after == START else cursors.decode(after, scope, Position, "after")
            page = _read(database, connection, wanted, position, min(limit, MAX_LIMIT))
    pagination = {
        "limit": min(limit, MAX_LIMIT),
        "has_more": page.has_more,
        "next_cursor": cursors.encode(scope, page.end),
    }
    data = {
        **({} if blockchain is None else {"blockchain": blockchain}),
        **({} if type is None else {"type": type}),
        **({} if blockchain is None else {"currency": CHAINS[blockchain].currency}),
        "count": page.rows,
        "transactions": orjson.Fragment(page.changes),
        "pagination": pagination,
    }
    return with_warnings(data, [*limit_warnings(limit), *filters.warnings])


def _newest(database: Database, connection: Connection) -> Position:
    """Return the position behind all changes that are committed."""
    batch = _placed(database, connection, _NEWEST, {})
    if batch["batch_id"] is None:
        return Position()
    return Position(batch["batch_id"].bytes, batch["last_chunk"] - batch["first_chunk"] + 1)


def _placed(
    database: Database, connection: Connection, statement: LiteralString, parameters: dict[str, Any]
) -> Row:
    """Return the row of a statement, once all batches that are committed have a place.

    A writer that was killed has left one without.
    """
    row = connection.execute(statement, parameters).fetchone()
    assert row is not None
    if row["has_unplaced"]:
        with database.write() as primary:
            arrivals.place(primary)
        row = connection.execute(statement, parameters).fetchone()
        assert row is not None
    return row


def _token_id(connection: Connection, blockchain: str, mint: str) -> int:
    token_id = connection.fetch_value(_FIND_TOKEN_ID, {"blockchain": blockchain, "mint": mint})
    return UNKNOWN_TOKEN_ID if token_id is None else token_id


def _read(
    database: Database, connection: Connection, wanted: dict[str, Any], position: Position, limit: int
) -> _Page:
    """Return the changes of the first chunks, and of the others if these do not fill the page."""
    rows, changes, has_more = 0, [], False
    first = _FIRST_CHUNKS * (limit // _CHUNK_TRADES + 1)
    for chunks in (first, _MAX_CHUNKS - first):
        parameters = wanted | _parameters(position) | {"limit": limit - rows, "chunks": chunks}
        row = _placed(database, connection, _PAGE, parameters)
        if not row["is_known"]:
            _refuse_unknown(database, parameters)
        rows += row["row_count"]
        changes += [row["changes"]] if row["row_count"] else []
        has_more = row["is_cut"] or row["has_more_chunks"]
        position = _end(position, row, has_more=has_more)
        if row["is_cut"] or not has_more:
            break
    return _Page(position, rows, f"[{','.join(changes)}]", has_more)


def _parameters(position: Position) -> dict[str, Any]:
    key = position.key or _NO_KEY
    return {
        "seen": position.run.seen if position.run else None,
        "horizon_id": uuid.UUID(bytes=position.run.horizon_id) if position.run else None,
        "batch_id": uuid.UUID(bytes=position.batch_id) if position.batch_id else None,
        "chunk": position.chunk,
        "kind": key.kind,
        "wallet_id": key.wallet_id,
        "last_token_id": key.token_id,
        "tx_signature": key.tx_signature,
        "is_sell": key.is_sell,
        "event_index": key.event_index,
    }


def _end(position: Position, row: Row, *, has_more: bool) -> Position:
    """Return up to where a row has read that began at a position."""
    if row["batch_id"] is None:
        return position
    run = position.run if has_more else None
    if has_more and row["reached_place"] > row["horizon"]:
        # What is now at most at the newest place, and first arrived after the horizon, was in no page yet.
        run = Run(row["horizon"], row["newest_id"].bytes)
    if not row["is_cut"]:
        return Position(row["batch_id"].bytes, row["chunk"] + 1, None, run)
    key = ChangeKey(*[row[name] for name in ChangeKey.__struct_fields__])
    return Position(row["batch_id"].bytes, row["chunk"], key, run)


def _refuse_unknown(database: Database, parameters: dict[str, Any]) -> None:
    """Refuse the batch of a cursor, unless only a standby does not have it yet."""
    if not database.reads_primary:
        with database.write() as primary:
            if _placed(database, primary, _PAGE, parameters)["is_known"]:
                return
    raise CursorUnknown

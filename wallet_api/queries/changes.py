"""The changes of a feed in the order in which they arrived: new trades, corrections and removals."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec

from wallet_api.base.chains import CHAINS, one_type
from wallet_api.base.errors import CursorUnknown
from wallet_api.database import Columns, Connection, Database, Row, load_sql
from wallet_api.ledger.tokens import find_tokens
from wallet_api.queries import cursors
from wallet_api.queries.feed_filters import filter_words, read_filters
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings
from wallet_api.queries.token_block import UNKNOWN_TOKEN_ID

_NEWEST = load_sql(__package__, "newest_arrival")
_PAGE = load_sql(__package__, "changes_page")
_UNREAD = load_sql(__package__, "unread")

NOW, START = "now", "start"

# A chunk has as many trades, up to 148 in the largest batches. A page reads from eight times as many chunks
# as it may need, then from all others up to 90 chunks, which takes about as long as a full page. PostgreSQL
# stops at the chunk that fills it.
_CHUNK_TRADES = 100
_FIRST_CHUNKS = 8
_MAX_CHUNKS = 90

BigInt = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class ChangeKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a change within its chunk.

    The kind is 0 of a trade, 1 of a removal, 2 of an event of the ledger. The subject is the wallet of the
    first two; of an event it is the event, which has no more of a key.
    """

    kind: Annotated[int, msgspec.Meta(ge=0, le=2)]
    subject_id: BigInt
    token_id: BigInt
    tx_signature: str
    is_sell: bool
    event_index: int


class Run(msgspec.Struct, array_like=True, frozen=True):
    """What a follower who reads page after page has seen: standing in changes_page.sql.

    The horizon is named by its batch, since a restored ledger gives its place to another one.
    """

    seen: Annotated[int, msgspec.Meta(ge=-1, le=2**63 - 1)]
    horizon_id: Annotated[bytes, msgspec.Meta(max_length=16)]


class Place(msgspec.Struct, array_like=True, frozen=True):
    """Up to where a follower has read: a batch, the next of its chunks, the last change in that one.

    Without an id it is the start of the feed. A run lasts until the end of the feed.
    """

    batch_id: Annotated[bytes, msgspec.Meta(max_length=16)] = b""
    chunk: BigInt = 0
    key: ChangeKey | None = None
    run: Run | None = None


class _Page(NamedTuple):
    # Up to where it was read, how many changes it has, these, and whether there may be more.
    end: Place
    rows: int = 0
    changes: Mapping[str, Sequence[Any]] = {}
    has_more: bool = False


# A key before all others.
_NO_KEY = ChangeKey(0, 0, 0, "", False, 0)


def read_changes(
    database: Database, now: datetime, operation: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return up to `limit` changes (at most 1000) that arrived after a cursor, oldest first.

    Without `blockchain` they are of all chains; that a wallet left its group is one of them only with
    `wants_retyped`. `after` may also be `now`, after which there is no change yet, or `start`. Raises
    InvalidParameter, CursorUnknown.
    """
    blockchain, type, mint = (given.get(name) for name in ("blockchain", "type", "mint"))
    after, limit = given["after"], min(given["limit"], MAX_LIMIT)
    scope = (operation, "after", blockchain or "", type or "", mint or "", *filter_words(given))
    with database.read() as connection:
        filters, warnings = read_filters(connection, given)
        wanted = {
            "blockchain": blockchain,
            "type": one_type(type),
            "currencies": list({chain.currency for chain in CHAINS.values()}),
            "now": now,
            "mint": mint,
            "wants_retyped": given.get("wants_retyped", False),
            "token_id": _token_id(connection, blockchain, mint) if blockchain and mint else None,
            "addresses": list(given["address"]) if "address" in given else None,
            **filters,
        }
        if after == NOW:
            page = _Page(_newest(connection))
        else:
            place = Place() if after == START else cursors.decode_cursor(after, scope, Place, "after")
            page = _read(database, connection, wanted, place, limit)
    pagination = {
        "limit": limit,
        "has_more": page.has_more,
        "next_cursor": cursors.encode_cursor(scope, page.end),
    }
    data = {
        **({} if blockchain is None else {"blockchain": blockchain}),
        **({} if type is None else {"type": type}),
        **({} if blockchain is None else {"currency": CHAINS[blockchain].currency}),
        "count": page.rows,
        "transactions": page.changes,
        "pagination": pagination,
    }
    return with_warnings(data, [*limit_warnings(given["limit"]), *warnings])


def _newest(connection: Connection) -> Place:
    """Return the place behind all changes that have one."""
    batch = connection.execute(_NEWEST).fetchone()
    return Place() if batch is None else Place(batch["batch_id"].bytes, batch["chunks"])


def _token_id(connection: Connection, blockchain: str, mint: str) -> int:
    return find_tokens(connection, [(blockchain, mint)]).get((blockchain, mint), UNKNOWN_TOKEN_ID)


def _read(
    database: Database, connection: Connection, wanted: dict[str, Any], place: Place, limit: int
) -> _Page:
    """Return the changes of the first chunks, and of the others if these do not fill the page."""
    changes: dict[str, list[Any]] = {}
    count, has_more = 0, False
    first = _FIRST_CHUNKS * (limit // _CHUNK_TRADES + 1)
    for chunks in (first, _MAX_CHUNKS - first):
        parameters = wanted | _parameters(place) | {"limit": limit - count, "chunks": chunks}
        head, kinds = connection.fetch_lists(_PAGE, parameters)
        if not head["is_known"]:
            _refuse_unknown(database, parameters)
        count = _add(changes, count, kinds)
        has_more = head["is_cut"] or head["has_more_chunks"]
        place = _end(place, head, has_more=has_more)
        if head["is_cut"] or not has_more:
            break
    return _Page(place, count, changes, has_more)


def _add(changes: dict[str, list[Any]], count: int, kinds: Sequence[Columns]) -> int:
    """Add the changes of each kind to so many others, by their `ordinal`; return how many there are then."""
    total = count + sum(len(kind["ordinal"]) for kind in kinds)
    for name in {name for kind in kinds for name in kind}:
        changes.setdefault(name, [None] * count).extend([None] * (total - count))
    for kind in kinds:
        for name, values in kind.items():
            for ordinal, value in zip(kind["ordinal"], values, strict=True):
                changes[name][count + ordinal - 1] = value
    return total


def _parameters(place: Place) -> dict[str, Any]:
    key = place.key or _NO_KEY
    return {
        "seen": place.run.seen if place.run else None,
        "horizon_id": uuid.UUID(bytes=place.run.horizon_id) if place.run else None,
        "batch_id": uuid.UUID(bytes=place.batch_id) if place.batch_id else None,
        "chunk": place.chunk,
        "kind": key.kind,
        "subject_id": key.subject_id,
        "last_token_id": key.token_id,
        "tx_signature": key.tx_signature,
        "is_sell": key.is_sell,
        "event_index": key.event_index,
    }


def _end(place: Place, row: Row, *, has_more: bool) -> Place:
    """Return up to where a row has read that began at a place."""
    if row["batch_id"] is None:
        return place
    run = place.run if has_more else None
    if has_more and row["reached_place"] > row["horizon"]:
        # What is now at most at the newest place, and first arrived after the horizon, was in no page yet.
        run = Run(row["horizon"], row["newest_id"].bytes)
    if not row["is_cut"]:
        return Place(row["batch_id"].bytes, row["chunk"] + 1, None, run)
    key = ChangeKey(*[row[name] for name in ChangeKey.__struct_fields__])
    return Place(row["batch_id"].bytes, row["chunk"], key, run)


def _refuse_unknown(database: Database, parameters: dict[str, Any]) -> None:
    """Refuse the batch of a cursor, unless only a standby does not have it yet."""
    if not database.reads_primary:
        with database.write() as primary:
            row = primary.execute(_PAGE, parameters).fetchone()
        if row is not None and row["is_known"]:
            return
    raise CursorUnknown


def unread_since(connection: Connection, operation: str, after: str) -> datetime | None:
    """Return when the oldest change after a cursor of a feed without filters arrived; None without one."""
    place = cursors.decode_cursor(after, (operation, "after", "", "", ""), Place, "after")
    arrived_at: datetime | None = connection.fetch_value(_UNREAD, _parameters(place))
    return arrived_at

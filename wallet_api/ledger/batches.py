"""Batches of a file's trades: checked, by position, and each trade once."""

import gc
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import astuple, replace

from wallet_api.base.forms import BadRow, check_address
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rejects import BITS, OPTIONAL, Repeated, StagedReject, TradeKey, mark_of
from wallet_api.ledger.files.rows import RowAmounts, Text, TradeRow
from wallet_api.ledger.merge import LOCKS
from wallet_api.ledger.signatures import is_hash
from wallet_api.ledger.tokens import Token

# So many new objects cause a search for garbage. With the 700 of Python it takes a fifth of the reading.
_UNCOLLECTED_OBJECTS = 50_000
_encode = msgspec.json.Encoder().encode
_NULL = r"\N"
_ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_STATED = ("created_at", "token_amount", *OPTIONAL)

KnownWallets = dict[tuple[str, str], int]


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search for garbage seldom in this block: batches are many objects, none of them in a cycle."""
    first, *later = gc.get_threshold()
    gc.set_threshold(max(first, _UNCOLLECTED_OBJECTS), *later)
    try:
        yield
    finally:
        gc.set_threshold(first, *later)


class Trade(msgspec.Struct, gc=False):
    """A trade without what identifies it. Amounts are texts; UNSET is what its row leaves out."""

    created_at: datetime
    token_amount: str
    value: str | UnsetType
    token_name: Text
    value_usd: Text
    exchanged_value: Text
    block: int | UnsetType
    block_index: int | UnsetType
    line_number: int


# Positions (wallet id and token) with their trades.
Share = list[tuple[int, Token, dict[TradeKey, Trade]]]


class Batch:
    """The accepted rows of a batch by position, and the rejected ones. Rows of the same trade are merged.

    `denied` counts the rows of denied tokens, which are left out, `own_ids` those whose signature is no hash.
    `marks` are those of the accepted rows. `has_dollars_alone`: a row states no value but in dollars.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.denied = 0
        self.own_ids = 0
        self.has_dollars_alone = False
        self.rejected: list[tuple[int, bytes, BadRow]] = []
        self.marks = array("q")
        self._positions: list[dict[tuple[int, Token], dict[TradeKey, Trade]]] = [{} for _ in range(LOCKS)]

    def __len__(self) -> int:
        return self.rows + self.denied + len(self.rejected)

    @property
    def tokens(self) -> set[Token]:
        """Return the tokens of all trades."""
        return {token for positions in self._positions for _, token in positions}

    def add(self, number: int, wallet_id: int, row: TradeRow, amounts: RowAmounts) -> None:
        """Add a checked row with its line number, and its amounts as texts. Raises Repeated."""
        token = (row.blockchain, row.mint)
        trades = self._positions[wallet_id % LOCKS].setdefault((wallet_id, token), {})
        amount, value, usd, exchanged = amounts
        name = row.token_name if row.token_name is UNSET else row.token_name or None
        block, index = row.block, row.block_index
        trade = Trade(row.created_at, amount, value, name, usd, exchanged, block, index, number)
        key = (row.tx_signature, row.transaction_type == "sell", row.event_index)
        earlier = trades.setdefault(key, trade)
        if earlier is not trade:
            trades[key] = _merged(earlier, trade)
        self.has_dollars_alone |= value is UNSET
        stated = (name is not UNSET) | (usd is not UNSET) << 1 | (exchanged is not UNSET) << 2
        stated |= (value is not UNSET) << 3 | (block is not UNSET) << 4 | (index is not UNSET) << 5
        self.marks.append(mark_of(wallet_id, token, key, stated))
        self.rows += 1

    def marks_without(self, repeats: Iterable[StagedReject]) -> Iterable[int]:
        """Return the marks of the rows but of these."""
        rejected = {repeat.mark for repeat in repeats}
        return [mark for mark in self.marks if mark & ~BITS not in rejected] if rejected else self.marks

    def shares(self, count: int) -> list[Share]:
        """Return the trades in `count` parts of nearly equal size. All trades of one lock are in one part."""
        shares: list[Share] = [[] for _ in range(count)]
        sizes = [0] * count
        of_locks = [(sum(map(len, positions.values())), positions) for positions in self._positions]
        for size, positions in sorted(of_locks, key=itemgetter(0), reverse=True):
            smallest = sizes.index(min(sizes))
            shares[smallest] += [(*position, trades) for position, trades in positions.items()]
            sizes[smallest] += size
        return shares


def incoming_lines(share: Share, token_ids: Mapping[Token, int]) -> Iterator[str]:
    """Yield the rows of a share for `incoming`, as COPY reads them, by position, so that they are sorted.

    Beside each value that a row may leave out is whether the stored one is kept; a place that it leaves out
    always is.
    """
    for wallet_id, token, trades in sorted(share, key=lambda position: (position[0], token_ids[position[1]])):
        position = f"{wallet_id}\t{token_ids[token]}"
        for (signature, is_sell, event_index), trade in trades.items():
            created_at, amount, value, name, usd, exchanged, block, index, number = astuple(trade)
            # Several times as fast as lists of values, which psycopg adapts one by one.
            columns = (
                *(position, _copied(signature), str(is_sell), str(event_index), _time(created_at), amount),
                *(_optional(value), _optional(_copied(name) if name else name)),
                *(_optional(usd), _optional(exchanged)),
                *(_NULL if block is UNSET else str(block), _NULL if index is UNSET else str(index)),
                str(number),
            )
            yield "\t".join(columns) + "\n"


def read_batch(
    records: Iterator[Record[TradeRow]], wallet_ids: KnownWallets, rows: int, denied: frozenset[Token]
) -> Batch:
    """Return the next `rows` rows, good or bad; fewer at the end, none after it.

    Those of `denied` tokens are only counted.
    """
    batch = Batch()
    now = datetime.now(UTC)
    for number, line, row in islice(records, rows):
        try:
            if isinstance(row, BadRow):
                raise row
            amounts = row.check(now)
            if denied and (row.blockchain, row.mint) in denied:
                batch.denied += 1
                continue
            wallet_id = wallet_ids.get((row.blockchain, row.wallet_address))
            if wallet_id is None:
                raise _unknown_wallet(row)
            batch.add(number, wallet_id, row, amounts)
            batch.own_ids += not is_hash(row.tx_signature)
        except BadRow as fault:
            batch.rejected.append((number, line, fault))
    return batch


def _copied(text: str) -> str:
    """Return a text as COPY reads it."""
    return text.translate(_ESCAPED) if "\\" in text or not text.isprintable() else text


def _optional(text: Text) -> str:
    """Return a value that a row may leave out, as COPY reads it, and whether the stored one is kept."""
    if text is None or text is UNSET:
        return f"{_NULL}\t{text is UNSET}"
    return f"{text}\tFalse"


def _time(moment: datetime) -> str:
    # Faster than isoformat().
    return _encode(moment)[1:-1].decode()


def _merged(earlier: Trade, later: Trade) -> Trade:
    """Return the earlier of two rows of one trade, with what only the later one states.

    Raises Repeated if they state different values.
    """
    stated = [name for name in _STATED if getattr(later, name) is not UNSET]
    differing = [name for name in stated if not _is_same(name, getattr(earlier, name), getattr(later, name))]
    if differing:
        raise Repeated(later.line_number, earlier.line_number, differing)
    missing = {name: getattr(later, name) for name in stated if getattr(earlier, name) is UNSET}
    # Of two times that are the same, the later one has the part of its second.
    return replace(earlier, created_at=max(earlier.created_at, later.created_at), **missing)


def _is_same(name: str, known: Any, given: Any) -> bool:
    """Return whether a field of a trade has the value that is known, if there is one."""
    if name == "created_at":
        whole = known.replace(microsecond=0)
        return bool(known == given or (whole == given.replace(microsecond=0) and whole in (known, given)))
    if name == "token_name" or known in (UNSET, None) or given is None:
        return known is UNSET or known == given
    return Decimal(known) == Decimal(given)


def _unknown_wallet(trade: TradeRow) -> BadRow:
    check_address(trade.blockchain, trade.wallet_address)
    return BadRow("the wallet is not tracked; import it first")

"""Batches of a file's trades: checked, and formatted for COPY."""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from wallet_api.forms import BadRow, check_address
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rejects import BITS, Repeat, Repeated, escaped, key_of, mark_of
from wallet_api.ledger.files.rows import Text, TradeRow
from wallet_api.ledger.merge import LOCKS
from wallet_api.ledger.tokens import Token

_encode = msgspec.json.Encoder().encode
_BLOCK_LINES = 1000
_NULL = "\\N"
# An optional column without a value, and the column after it: whether the stored value is kept.
_EMPTY = f"{_NULL}\tf"
_KEPT = f"{_NULL}\tt"

KnownWallets = dict[tuple[str, str], int]
# Positions (wallet id and token) with their trades. A trade is a line in PostgreSQL's COPY text format
# without the columns of the position, in two parts: those that identify the trade, and the others.
Share = list[tuple[int, Token, dict[str, str]]]


class _Columns(NamedTuple):
    """The columns of a line after those that identify the trade."""

    created_at: str
    token_name: str
    keeps_name: str
    token_amount: str
    value: str
    value_usd: str
    keeps_usd: str
    exchanged_value: str
    keeps_exchanged: str
    line_number: str


# The columns that a row may leave out, each with the one that says so.
_OPTIONAL = {"token_name": "keeps_name", "value_usd": "keeps_usd", "exchanged_value": "keeps_exchanged"}


class Batch:
    """The accepted rows of a batch by position, and the rejected ones. Rows of the same trade are merged.

    `denied` counts the rows of denied tokens, which are left out; `marks` are those of the accepted rows.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.denied = 0
        self.rejected: list[tuple[int, bytes, BadRow]] = []
        self.marks = array("q")
        self._positions: list[dict[tuple[int, Token], dict[str, str]]] = [{} for _ in range(LOCKS)]

    def __len__(self) -> int:
        return self.rows + self.denied + len(self.rejected)

    @property
    def tokens(self) -> set[Token]:
        """Return the tokens of all trades."""
        return {token for positions in self._positions for _, token in positions}

    def add(
        self,
        number: int,
        wallet_id: int,
        trade: TradeRow,
        amount: str,
        value: str,
        usd: Text,
        exchanged: Text,
    ) -> None:
        """Add a checked row with its line number, and its amounts as texts. Raises Repeated."""
        token = (trade.blockchain, trade.mint)
        trades = self._positions[wallet_id % LOCKS].setdefault((wallet_id, token), {})
        name = trade.token_name
        name_columns = f"{escaped(name)}\tf" if name else _KEPT if name is UNSET else _EMPTY
        usd_columns = f"{usd}\tf" if usd else _KEPT if usd is UNSET else _EMPTY
        exchanged_columns = f"{exchanged}\tf" if exchanged else _KEPT if exchanged is UNSET else _EMPTY
        key = key_of(trade.tx_signature, trade.transaction_type == "sell", trade.event_index)
        optional = f"{usd_columns}\t{exchanged_columns}"
        line = f"\t{_time(trade.created_at)}\t{name_columns}\t{amount}\t{value}\t{optional}\t{number}\n"
        earlier = trades.setdefault(key, line)
        if earlier is not line:
            trades[key] = _merged(number, earlier, line)
        stated = (name is not UNSET) | (usd is not UNSET) << 1 | (exchanged is not UNSET) << 2
        self.marks.append(mark_of(wallet_id, token, key, stated))
        self.rows += 1

    def marks_without(self, repeats: Iterable[Repeat]) -> Iterable[int]:
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


def blocks(share: Share, token_ids: Mapping[Token, int]) -> Iterator[str]:
    """Yield the lines of a share in blocks, by position, so that PostgreSQL need not sort them."""
    texts: list[str] = []
    for wallet_id, token, trades in sorted(share, key=lambda position: (position[0], token_ids[position[1]])):
        start = f"{wallet_id}\t{token_ids[token]}\t"
        texts += [f"{start}{key}{rest}" for key, rest in trades.items()]
        if len(texts) >= _BLOCK_LINES:
            yield "".join(texts)
            texts = []
    yield "".join(texts)


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
            batch.add(number, wallet_id, row, *amounts)
        except BadRow as fault:
            batch.rejected.append((number, line, fault))
    return batch


def _time(moment: datetime) -> str:
    # Faster than isoformat().
    return _encode(moment)[1:-1].decode()


def _merged(number: int, earlier: str, later: str) -> str:
    """Return the earlier of two lines of one trade, with what only the later one states.

    Raises Repeated if they state different values.
    """
    line = _Columns(*earlier[1:-1].split("\t"))
    new = _Columns(*later[1:-1].split("\t"))
    differing = []
    if datetime.fromisoformat(line.created_at) != datetime.fromisoformat(new.created_at):
        differing.append("created_at")
    if Decimal(line.token_amount) != Decimal(new.token_amount):
        differing.append("token_amount")
    if Decimal(line.value) != Decimal(new.value):
        differing.append("value")
    for field, keeps in _OPTIONAL.items():
        if getattr(new, keeps) == "t":
            continue
        given, known = getattr(new, field), getattr(line, field)
        if getattr(line, keeps) == "t":
            line = line._replace(**{field: given, keeps: "f"})
        elif given != known and (field == "token_name" or _amount(given) != _amount(known)):
            differing.append(field)
    if differing:
        raise Repeated(number, int(line.line_number), differing)
    return "\t" + "\t".join(line) + "\n"


def _amount(text: str) -> Decimal | None:
    return None if text == _NULL else Decimal(text)


def _unknown_wallet(trade: TradeRow) -> BadRow:
    check_address(trade.blockchain, trade.wallet_address)
    return BadRow("the wallet is not tracked; import it first")

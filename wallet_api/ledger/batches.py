"""Batches of a file's trades: checked, and formatted for COPY."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from wallet_api.forms import BadRow, check_address
from wallet_api.ledger.lines import Record
from wallet_api.ledger.merge import LOCKS
from wallet_api.ledger.rows import Text, TradeRow

_encode = msgspec.json.Encoder().encode
_BLOCK_LINES = 1000
_NULL = "\\N"
# An optional column without a value, and the column after it: whether the stored value is kept.
_EMPTY = f"{_NULL}\tf"
_KEPT = f"{_NULL}\tt"

WalletIds = dict[tuple[str, str], int]
Token = tuple[str, str]
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
    derives_again: str


class Batch:
    """The accepted rows of a batch by position, and the rejected ones. Rows of the same trade are merged.

    `denied` counts the rows of denied tokens, which are left out.
    """

    def __init__(self) -> None:
        self.rows = 0
        self.denied = 0
        self.rejected: list[tuple[int, bytes, BadRow]] = []
        self._positions: list[dict[tuple[int, Token], dict[str, str]]] = [{} for _ in range(LOCKS)]

    def __len__(self) -> int:
        return self.rows + self.denied + len(self.rejected)

    @property
    def tokens(self) -> set[Token]:
        """Return the tokens of all trades."""
        return {token for positions in self._positions for _, token in positions}

    def add(
        self, wallet_id: int, trade: TradeRow, amount: str, value: str, usd: Text, exchanged: Text
    ) -> None:
        """Add a checked row, and its amounts as texts."""
        self.rows += 1
        position = (wallet_id, (trade.blockchain, trade.mint))
        trades = self._positions[wallet_id % LOCKS].setdefault(position, {})
        side = "t" if trade.transaction_type == "sell" else "f"
        name = trade.token_name
        name_columns = f"{_escaped(name)}\tf" if name else _KEPT if name is UNSET else _EMPTY
        usd_columns = f"{usd}\tf" if usd else _KEPT if usd is UNSET else _EMPTY
        exchanged_columns = f"{exchanged}\tf" if exchanged else _KEPT if exchanged is UNSET else _EMPTY
        key = f"{_escaped(trade.tx_signature)}\t{side}\t{trade.event_index}"
        optional = f"{usd_columns}\t{exchanged_columns}"
        line = f"\t{_time(trade.created_at)}\t{name_columns}\t{amount}\t{value}\t{optional}\tf\n"
        earlier = trades.setdefault(key, line)
        if earlier is not line:
            trades[key] = _merged(earlier, line)

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
    records: Iterator[Record[TradeRow]], wallet_ids: WalletIds, rows: int, denied: frozenset[Token]
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
            batch.add(wallet_id, row, *amounts)
        except BadRow as fault:
            batch.rejected.append((number, line, fault))
    return batch


def _time(moment: datetime) -> str:
    # Faster than isoformat().
    return _encode(moment)[1:-1].decode()


def _escaped(text: str) -> str:
    # Few texts need it, and checking is faster than replacing.
    if not ("\\" in text or "\t" in text or "\n" in text or "\r" in text):
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _merged(earlier: str, later: str) -> str:
    """Return the later of two lines of one trade; fields that it leaves out are those of the earlier one."""
    was = _Columns(*earlier[1:-1].split("\t"))
    line = _Columns(*later[1:-1].split("\t"))
    if line.keeps_name == "t":
        line = line._replace(token_name=was.token_name, keeps_name=was.keeps_name)
    if line.keeps_usd == "t":
        line = line._replace(value_usd=was.value_usd, keeps_usd=was.keeps_usd)
    if line.keeps_exchanged == "t":
        line = line._replace(exchanged_value=was.exchanged_value, keeps_exchanged=was.keeps_exchanged)
    if line.value_usd == _NULL and (
        was.derives_again == "t"
        or was.value_usd != _NULL
        or Decimal(was.value) != Decimal(line.value)
        or datetime.fromisoformat(was.created_at) != datetime.fromisoformat(line.created_at)
    ):
        line = line._replace(derives_again="t")
    return "\t" + "\t".join(line) + "\n"


def _unknown_wallet(trade: TradeRow) -> BadRow:
    check_address(trade.blockchain, trade.wallet_address)
    return BadRow("the wallet is not tracked; import it first")

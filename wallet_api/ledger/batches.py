"""Trades of a file, checked and made ready to be copied in, so many at a time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, islice

import msgspec

from wallet_api.chains import CHAINS
from wallet_api.ledger.readers import Record
from wallet_api.ledger.rows import BadRow, TradeRow

# Wallets share so many locks, lest a large batch fill the server's lock table (as in lock.sql).
LOCKS = 64

_encode = msgspec.json.Encoder().encode
_BLOCK_TEXTS = 2000

WalletIds = dict[tuple[str, str], int]
Share = list[dict[str, str]]


class Batch:
    """The good rows of a batch, of equal ones the last, by lock and identity; and what was rejected."""

    def __init__(self) -> None:
        self.rows = 0
        self.tokens: dict[tuple[str, str], int] = {}
        # Lines in PostgreSQL's COPY text format: what identifies a trade, and the rest of its line.
        self.trades: list[dict[str, str]] = [{} for _ in range(LOCKS)]
        self.rejected: list[tuple[int, bytes, BadRow]] = []

    def __len__(self) -> int:
        return self.rows + len(self.rejected)

    def add(self, wallet_id: int, trade: TradeRow) -> None:
        """Take in a checked row."""
        self.rows += 1
        token = self.tokens.setdefault((trade.blockchain, trade.mint), len(self.tokens))
        side = "t" if trade.transaction_type == "sell" else "f"
        name = "\\N" if trade.token_name is None else _escaped(trade.token_name)
        usd = "\\N" if trade.value_usd is None else str(trade.value_usd)
        key = f"{wallet_id}\t{token}\t{_escaped(trade.tx_signature)}\t{side}\t{trade.event_index}"
        self.trades[wallet_id % LOCKS][key] = (
            f"\t{_time(trade.created_at)}\t{name}\t{trade.token_amount!s}\t{trade.value!s}\t{usd}\n"
        )

    def shares(self, count: int) -> list[Share]:
        """The trades in so many parts of nearly the same size, those of one lock in one part."""
        shares: list[Share] = [[] for _ in range(count)]
        sizes = [0] * count
        for trades in sorted(self.trades, key=len, reverse=True):
            smallest = sizes.index(min(sizes))
            shares[smallest].append(trades)
            sizes[smallest] += len(trades)
        return shares


def blocks(share: Share) -> Iterator[str]:
    """The lines of a share, in pieces of bearable size."""
    texts = chain.from_iterable(item for trades in share for item in trades.items())
    while block := "".join(islice(texts, _BLOCK_TEXTS)):
        yield block


def read_batch(records: Iterator[Record[TradeRow]], wallet_ids: WalletIds, rows: int) -> Batch:
    """The next `rows` rows, good or bad; fewer at the end, none after it."""
    batch = Batch()
    now = datetime.now(UTC)
    for number, line, row in islice(records, rows):
        try:
            if isinstance(row, BadRow):
                raise row
            row.check(now)
            wallet_id = wallet_ids.get((row.blockchain, row.wallet_address))
            if wallet_id is None:
                raise BadRow(_unknown_wallet(row))
            batch.add(wallet_id, row)
        except BadRow as fault:
            batch.rejected.append((number, line, fault))
    return batch


def _time(moment: datetime) -> str:
    # Far faster than isoformat().
    return _encode(moment)[1:-1].decode()


def _escaped(text: str) -> str:
    # Telling that there is nothing to do is cheaper than doing it.
    if not ("\\" in text or "\t" in text or "\n" in text or "\r" in text):
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _unknown_wallet(trade: TradeRow) -> str:
    known = CHAINS[trade.blockchain].is_address(trade.wallet_address)
    return "the wallet is not tracked; import it first" if known else "wallet_address is not an address"

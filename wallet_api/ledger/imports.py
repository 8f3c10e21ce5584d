"""Taking files in: rows are checked, staged with COPY, and merged batch by batch, each in a transaction."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.ledger import merge
from wallet_api.ledger.readers import Record
from wallet_api.ledger.rows import BadRow, PriceRow, TradeRow, WalletRow, good

# Large enough that a position or bucket is touched once for many trades, small enough that two batches in
# memory stay far below the importer's bound of 300 MB.
BATCH_ROWS = 100_000

Reject = Callable[[int, bytes, BadRow], None]
Progress = Callable[[], None]

_WALLETS = load_sql(__package__, "wallets")
_RETYPED = load_sql(__package__, "retyped")
_REGROUPED = load_sql(__package__, "regrouped")
_PRICES = load_sql(__package__, "prices")
_UNPRICED = load_sql(__package__, "unpriced")

_STAGE_WALLETS = """
CREATE TEMP TABLE incoming_wallets (line_number bigint, LIKE wallets) ON COMMIT DROP;
ALTER TABLE incoming_wallets DROP COLUMN wallet_id
"""
_STAGE_PRICES = "CREATE TEMP TABLE incoming_prices (line_number bigint, LIKE native_prices) ON COMMIT DROP"
_COPY_WALLETS = (
    "COPY incoming_wallets (line_number, blockchain, type, address, name, image_url, twitter, telegram,"
    " copytrade_link) FROM STDIN"
)
_COPY_TRADES = (
    "COPY incoming (wallet_id, token_number, tx_signature, is_sell, event_index, created_at, token_name,"
    " token_amount, value, value_usd) FROM STDIN"
)
_COPY_TOKENS = "COPY incoming_tokens (token_number, blockchain, mint) FROM STDIN"
_COPY_PRICES = "COPY incoming_prices (line_number, currency, usd, priced_at) FROM STDIN"


@dataclass
class Summary:
    """What an import did: rows read that were good, those of them that changed something, rows rejected."""

    landed: int = 0
    changed: int = 0
    rejected: int = 0


def import_wallets(connection: Connection, records: Iterator[Record[WalletRow]], reject: Reject) -> Summary:
    """Track the wallets of `records`, in one transaction. One tracked already gets the new profile."""
    summary = Summary()
    now = datetime.now(UTC)
    merge.prepare(connection)
    with connection.transaction():
        connection.execute(_STAGE_WALLETS)
        with connection.cursor() as cursor, cursor.copy(_COPY_WALLETS) as copy:
            for number, line, row in records:
                try:
                    copy.write_row((number, *good(row).columns()))
                    summary.landed += 1
                except BadRow as fault:
                    reject(number, line, fault)
                    summary.rejected += 1
        merge.lock_all(connection)
        retyped = [row["wallet_id"] for row in connection.execute(_RETYPED)]
        recent: dict[str, Any] = {"wallet_ids": retyped, "horizon": now - merge.VOLUME_HORIZON}
        if retyped:
            connection.execute(_REGROUPED, {**recent, "sign": -1})
            merge.add_to_volume(connection, recent["horizon"])
        summary.changed = connection.execute(_WALLETS).rowcount
        if retyped:
            connection.execute("TRUNCATE walked")
            connection.execute(_REGROUPED, {**recent, "sign": 1})
            merge.add_to_volume(connection, recent["horizon"])
            merge.drop_volume(connection, recent["horizon"], corrected=True)
    return summary


def import_prices(connection: Connection, records: Iterator[Record[PriceRow]], reject: Reject) -> Summary:
    """Take in native prices, all in one transaction, and value the trades in their hour that have no USD."""
    summary = Summary()
    now = datetime.now(UTC)
    merge.prepare(connection)
    with connection.transaction():
        connection.execute(_STAGE_PRICES)
        with connection.cursor() as cursor, cursor.copy(_COPY_PRICES) as copy:
            for number, line, row in records:
                try:
                    price = good(row)
                    price.check(now)
                    copy.write_row((number, price.currency, price.usd, price.priced_at))
                    summary.landed += 1
                except BadRow as fault:
                    reject(number, line, fault)
                    summary.rejected += 1
        # Importers of trades read the prices under these locks, so none can miss a price that lands now.
        merge.lock_all(connection)
        summary.changed = connection.execute(_PRICES).rowcount
        span = connection.execute(
            "SELECT min(priced_at) AS earliest, max(priced_at) AS latest FROM incoming_prices"
        ).fetchone()
        if span is not None and span["earliest"] is not None:
            connection.execute(_UNPRICED, span)
            merge.merge_fresh(connection, now)
    return summary


def import_trades(
    connection: Connection,
    records: Iterator[Record[TradeRow]],
    reject: Reject,
    progress: Progress = lambda: None,
    batch_rows: int = BATCH_ROWS,
) -> Summary:
    """Take trades in, `batch_rows` a transaction; `progress` is called after each.

    The next batch is read and checked while PostgreSQL merges the one before.
    """
    summary = Summary()
    merge.prepare(connection)
    wallet_ids = {
        (row["blockchain"], row["address"]): row["wallet_id"]
        for row in connection.execute("SELECT blockchain, address, wallet_id FROM wallets")
    }
    with ThreadPoolExecutor(1) as reader:
        pending = reader.submit(_read_batch, records, wallet_ids, batch_rows)
        while True:
            batch = pending.result()
            if not batch.rows and not batch.rejected:
                return summary
            pending = reader.submit(_read_batch, records, wallet_ids, batch_rows)
            for number, line, fault in batch.rejected:
                reject(number, line, fault)
            with connection.transaction(), connection.cursor() as cursor:
                with cursor.copy(_COPY_TOKENS) as copy:
                    for (blockchain, mint), number in batch.tokens.items():
                        copy.write_row((number, blockchain, mint))
                with cursor.copy(_COPY_TRADES) as copy:
                    lines = iter(batch.trades.values())
                    while block := "".join(islice(lines, 1000)):
                        copy.write(block)
                summary.changed += merge.merge_incoming(connection, datetime.now(UTC))
            summary.landed += batch.rows
            summary.rejected += len(batch.rejected)
            progress()


class _Batch:
    """The good rows of a batch by their identity, of equal ones the last, and what was rejected."""

    def __init__(self) -> None:
        self.rows = 0
        self.tokens: dict[tuple[str, str], int] = {}
        # In PostgreSQL's COPY text format, ready to be sent.
        self.trades: dict[tuple[int, int, str, str, int | None], str] = {}
        self.rejected: list[tuple[int, bytes, BadRow]] = []

    def add(self, wallet_id: int, trade: TradeRow) -> None:
        """Take in a checked row."""
        self.rows += 1
        token = self.tokens.setdefault((trade.blockchain, trade.mint), len(self.tokens))
        side = "t" if trade.transaction_type == "sell" else "f"
        name = "\\N" if trade.token_name is None else _escaped(trade.token_name)
        usd = "\\N" if trade.value_usd is None else trade.value_usd
        self.trades[wallet_id, token, trade.tx_signature, side, trade.event_index] = (
            f"{wallet_id}\t{token}\t{_escaped(trade.tx_signature)}\t{side}\t{trade.event_index}"
            f"\t{trade.created_at.isoformat()}\t{name}\t{trade.token_amount}\t{trade.value}\t{usd}\n"
        )


def _read_batch(
    records: Iterator[Record[TradeRow]], wallet_ids: dict[tuple[str, str], int], batch_rows: int
) -> _Batch:
    batch = _Batch()
    now = datetime.now(UTC)
    for number, line, row in records:
        try:
            trade = good(row)
            trade.check(now)
            wallet_id = wallet_ids.get((trade.blockchain, trade.wallet_address))
            if wallet_id is None:
                raise BadRow(_unknown_wallet(trade))
            batch.add(wallet_id, trade)
        except BadRow as fault:
            batch.rejected.append((number, line, fault))
        if batch.rows + len(batch.rejected) >= batch_rows:
            break
    return batch


def _escaped(text: str) -> str:
    if text.isalnum():
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _unknown_wallet(trade: TradeRow) -> str:
    known = CHAINS[trade.blockchain].is_address(trade.wallet_address)
    return "the wallet is not tracked; import it first" if known else "wallet_address is not an address"

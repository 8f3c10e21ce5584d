"""The last blocks of which trades were read, and the removal of what a reorganisation took away."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from wallet_api.database import Connection, load_statements
from wallet_api.forms import BadRow
from wallet_api.ledger.identities import TradeIdentity
from wallet_api.ledger.lines import Record
from wallet_api.ledger.remove import remove_trades, stage_trades
from wallet_api.providers.trades.source import Block

# More than any reorganisation has been deep, and each round adds at least one.
_KEPT_BLOCKS = 256

_BLOCKS = load_statements(__package__, "blocks")


def read_blocks(connection: Connection, blockchain: str) -> list[Block]:
    """Return the blocks whose hashes are known, in their order."""
    rows = connection.execute(_BLOCKS["known"], {"blockchain": blockchain})
    return [Block(row["number"], row["hash"], row["created_at"], row["transactions"]) for row in rows]


def save_blocks(connection: Connection, blockchain: str, blocks: Sequence[Block]) -> None:
    """Keep these blocks, and forget the oldest ones."""
    if not blocks:
        return
    rows = [
        asdict(block) | {"blockchain": blockchain, "transactions": list(block.transactions)}
        for block in blocks
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_BLOCKS["keep"], rows)
    connection.execute(_BLOCKS["forget"], {"blockchain": blockchain, "kept": _KEPT_BLOCKS})


def remove_orphans(connection: Connection, blockchain: str, orphans: Sequence[Block]) -> int:
    """Remove what was imported from blocks that the chain no longer has; return how many trades.

    The blocks are forgotten last, so that a crash in between repeats the removal.
    """
    removed = 0
    signatures = [signature for block in orphans for signature in block.transactions]
    parameters = {
        "blockchain": blockchain,
        "signatures": signatures,
        "moments": [block.created_at for block in orphans for _ in block.transactions],
        "numbers": [block.number for block in orphans],
    }
    if signatures:
        trades = connection.execute(_BLOCKS["trades"], parameters).fetchall()

        def records() -> Iterator[Record[TradeIdentity]]:
            yield from ((number, b"", TradeIdentity(**trade)) for number, trade in enumerate(trades))

        stage_trades(connection, records(), _already_gone)
        removed = remove_trades(connection).trades
        connection.execute(_BLOCKS["left_out"], parameters)
    connection.execute(_BLOCKS["orphaned"], parameters)
    return removed


def _already_gone(number: int, line: bytes, fault: BadRow) -> None:
    """Accept that another command has removed a trade."""

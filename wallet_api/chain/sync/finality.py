"""What may still disappear from a chain: its last blocks; and what may not: its final ones."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from wallet_api.base.chains import CHAINS
from wallet_api.chain.providers.trades.source import Block
from wallet_api.database import Connection, load_statements
from wallet_api.ledger.files.rows import TradeIdentity
from wallet_api.ledger.remove import remove_trades, stage_trades

# So many are kept at least, also of a chain whose blocks are final soon; each round adds one or more.
_KEPT_BLOCKS = 256

_FINALITY = load_statements(__package__, "finality")


def read_blocks(connection: Connection, blockchain: str) -> list[Block]:
    """Return the blocks whose hashes are known, in their order."""
    rows = connection.execute(_FINALITY["known_blocks"], {"blockchain": blockchain})
    return [Block(row["number"], row["hash"], row["created_at"], row["transactions"]) for row in rows]


def save_blocks(connection: Connection, blockchain: str, blocks: Sequence[Block]) -> None:
    """Keep these blocks, and forget those that are final, but for the newest ones."""
    if not blocks:
        return
    rows = [
        asdict(block) | {"blockchain": blockchain, "transactions": list(block.transactions)}
        for block in blocks
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_FINALITY["keep_block"], rows)
    newest = max(block.created_at for block in blocks)
    final = timedelta(seconds=CHAINS[blockchain].rules_on(newest.date()).final_seconds)
    parameters = {"blockchain": blockchain, "kept": _KEPT_BLOCKS, "final": final}
    connection.execute(_FINALITY["forget_blocks"], parameters)


def save_final(connection: Connection, blockchain: str, number: int) -> None:
    """Keep the number of the newest final block of a chain, unless a later one is known."""
    connection.execute(_FINALITY["keep_final"], {"blockchain": blockchain, "number": number})


def forget_final(connection: Connection, chains: Sequence[str]) -> None:
    """Forget which blocks are final: of chains that no sync reads, or one that does not state it."""
    connection.execute(_FINALITY["forget_final"], {"blockchains": list(chains)})


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
        trades = connection.execute(_FINALITY["orphaned_trades"], parameters).fetchall()
        records = ((number, b"", TradeIdentity(**trade)) for number, trade in enumerate(trades))
        # Another command may have removed one.
        stage_trades(connection, records, lambda *rejected: None)
        removed = remove_trades(connection).trades
        connection.execute(_FINALITY["orphaned_left_out"], parameters)
    connection.execute(_FINALITY["orphaned_blocks"], parameters)
    return removed

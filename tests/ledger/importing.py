"""An importer to be killed: `python -m tests.ledger.importing FILE BATCH_ROWS` says each batch that landed.

The database is that of DATABASE_URL. The command takes 100,000 rows a batch, which leaves few instants
between two of them; this takes as few as it is told.
"""

import os
import sys

from wallet_api.database import connect
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_trades
from wallet_api.ledger.readers import open_source
from wallet_api.ledger.rows import TradeRow


def main(file: str, batch_rows: int) -> None:
    """Take the trades of `file` in."""
    with open_source(file) as source, connect(os.environ["DATABASE_URL"]) as connection:
        import_trades(connection, source.records(TradeRow), _refuse, _say, batch_rows)


def _say() -> None:
    print("landed", flush=True)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise AssertionError(f"line {number} was rejected: {fault}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

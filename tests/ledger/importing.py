"""An importer to kill: `python -m tests.ledger.importing FILE BATCH_ROWS` prints a line for each batch.

The database is that of DATABASE_URL. The command imports large batches, so there are few moments between
two of them; here the batches are small.
"""

import os
import sys

from wallet_api.database import connect
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_trades
from wallet_api.ledger.readers import open_source
from wallet_api.ledger.rows import TradeRow


def main(file: str, batch_rows: int) -> None:
    """Import the trades of `file`."""
    with open_source(file) as source, connect(os.environ["DATABASE_URL"]) as connection:
        import_trades(connection, source.records(TradeRow), _refuse, _say, batch_rows)


def _say() -> None:
    print("landed", flush=True)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise AssertionError(f"line {number} was rejected: {fault}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

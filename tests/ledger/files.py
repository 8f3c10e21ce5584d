"""Write files of trades, valid or not, and read them."""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.ledger.command import trade
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.readers import open_source
from wallet_api.ledger.rows import TradeRow

COLUMNS = (
    *("blockchain", "wallet_address", "tx_signature", "mint", "token_name", "transaction_type"),
    *("token_amount", "value", "value_usd", "exchanged_value", "created_at", "event_index"),
)
HEADER = ",".join(COLUMNS).encode() + b"\n"


def ndjson(*rows: dict[str, Any] | bytes) -> bytes:
    """Return lines of NDJSON; bytes are used as they are."""
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in rows)


def csv_line(**fields: Any) -> bytes:
    """Return a line of CSV for HEADER."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([trade(**fields).get(name, "") for name in COLUMNS])
    return text.getvalue().encode()


def read(path: Path, content: bytes) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the signatures of the valid rows of a file, and the numbers and reasons of the others."""
    path.write_bytes(content)
    good, bad = [], []
    with open_source(str(path)) as source:
        for number, _, found in source.records(TradeRow):
            try:
                if isinstance(found, BadRow):
                    raise found
                found.check(datetime.now(UTC))
                good.append(found.tx_signature)
            except BadRow as fault:
                bad.append((number, str(fault)))
    return good, bad

"""Files of trades, whole or broken, and what a reader finds in them."""

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
    *("token_amount", "value", "value_usd", "created_at", "event_index"),
)
HEADER = ",".join(COLUMNS).encode() + b"\n"


def ndjson(*rows: dict[str, Any] | bytes) -> bytes:
    """Lines of NDJSON; bytes stand for themselves."""
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in rows)


def csv_line(**fields: Any) -> bytes:
    """A line of CSV under HEADER."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([trade(**fields).get(name, "") for name in COLUMNS])
    return text.getvalue().encode()


def read(path: Path, content: bytes) -> tuple[list[str], list[tuple[int, str]]]:
    """The signatures of the good rows of a file, and its bad lines with what is wrong with them."""
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

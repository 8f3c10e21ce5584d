"""Rows of files, in which only what a test is about is given, and the wallets that most tests track."""

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.ledger.mints import mint_of

Row = dict[str, Any]

GROUP = {"blockchain": "solana", "type": "kol"}
# Two of the group, in the order of their addresses, and one of each other type.
ANN = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
BEN = "So11111111111111111111111111111111111111112"
SMART = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
WHALE = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EVM = "0xAbCdEf0123456789aBcDeF0123456789ABCDEF01"
UNTRACKED = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"
WALLETS: list[Row] = [
    GROUP | {"wallet_address": ANN, "name": "Ann", "copytrade_link": "https://copy.example/ann"},
    GROUP | {"wallet_address": BEN},
    {"blockchain": "solana", "type": "smart", "wallet_address": SMART},
    {"blockchain": "solana", "type": "whale", "wallet_address": WHALE},
    {"blockchain": "eth", "type": "kol", "wallet_address": EVM},
]


def trade_row(address: str, signature: str, at: datetime, **fields: Any) -> Row:
    """A buy on Solana, of one token for one SOL; `fields` replace any of it.

    The signature is an id of its own, in which blanks are hyphens.
    """
    return {
        "blockchain": "solana",
        "wallet_address": address,
        "tx_signature": signature.strip().replace(" ", "-"),
        "mint": mint_of("mint"),
        "transaction_type": "buy",
        "token_amount": "1",
        "value": "1",
        "created_at": at.isoformat(),
        **fields,
    }


def price_row(usd: str, at: datetime) -> Row:
    """A price of SOL."""
    return {"currency": "SOL", "usd": usd, "priced_at": at.isoformat()}


def ndjson(*rows: Row | bytes) -> bytes:
    """Return lines of NDJSON; bytes are used as they are."""
    return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)


def written(file: Path, *rows: Row | bytes, delimiter: str = ",") -> Path:
    """Write rows to a file, and return it: CSV if it is called so, else NDJSON. Bytes are lines of either."""
    fields = [row for row in rows if not isinstance(row, bytes)]
    if file.suffix != ".csv" or not fields:
        file.write_bytes(ndjson(*rows))
        return file
    with file.open("w", newline="") as output:
        names = dict.fromkeys(name for row in fields for name in row)
        writer = csv.DictWriter(output, list(names), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(fields)
    return file

"""What the service is measured with: a demo world, and wallets of the sizes that the targets name."""

import hashlib
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import base58
import orjson

from tests.benchmarks.http_servers import MeasurementError, Server, environment_of
from wallet_api.database import Connection, connect

RECORD_TOKENS = 20
TRADES_PER_TOKEN = 5
CROWD = 5_000
PAGE = 50
_DEMO = ("demo", "--wallets", "200", "--trades", "40000", "--days", "30")
_SAVE_BALANCES = """
INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)
SELECT wallet_id, %(native_amount)s, %(tokens)s::jsonb, now()
  FROM wallets
 WHERE blockchain = 'solana'
   AND type = 'whale'
"""

Row = dict[str, Any]


def bytes_of(text: str, size: int) -> bytes:
    """Return as many bytes, derived from `text`."""
    return hashlib.shake_256(text.encode()).digest(size)


def solana_address(text: str) -> str:
    """Return a Solana address, derived from `text`."""
    return base58.b58encode(bytes_of(text, 32)).decode()


def evm_address(text: str) -> str:
    """Return an EVM address, derived from `text`."""
    return "0x" + bytes_of(text, 20).hex()


RECORDS = tuple(solana_address(f"record {number}") for number in range(400))


def write_files(folder: Path) -> None:
    """Write the files of wallets and trades that `fill` imports."""
    now = datetime.now(UTC).replace(microsecond=0)
    wallets = [
        *(_wallet("solana", "whale", address) for address in RECORDS),
        *(_wallet("base", "smart", evm_address(f"crowd {number}")) for number in range(CROWD)),
    ]
    trades = sorted((trade for address in RECORDS for trade in _trades(address, now)), key=_created_at)
    (folder / "wallets.ndjson").write_bytes(b"".join(_lines(wallets)))
    (folder / "trades.ndjson").write_bytes(b"".join(_lines(trades)))


def fill(tree: Path, environment: Mapping[str, str], files: Path) -> None:
    """Fill an empty database with the files and a demo world, by the command line of the checkout `tree`."""
    commands: list[tuple[str, ...]] = [("migrate",), _DEMO]
    commands += [("import", name, str(files / f"{name}.ndjson")) for name in ("wallets", "trades")]
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "wallet_api", *command],
            env=environment_of(tree, environment),
            cwd=tree,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise MeasurementError(f"'wallet-api {' '.join(command)}' of {tree} failed:\n{done.stderr}")
    with connect(environment["DATABASE_URL"]) as connection:
        _save_balances(connection)
        connection.execute("VACUUM ANALYZE")


def crowd_cursors(server: Server, key: str) -> Iterator[str]:
    """Yield the cursors of the pages of 50 after the first, which a server of their database has returned."""
    first = f"{server.url}/v1/wallets?blockchain=base&type=smart&limit={PAGE}"
    page = first
    while True:
        request = urllib.request.Request(page, headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            cursor = orjson.loads(response.read())["data"]["pagination"]["next_cursor"]
        if cursor is None:
            return
        yield cursor
        page = f"{first}&cursor={quote(cursor)}"


def _wallet(blockchain: str, type: str, address: str) -> Row:
    return {
        "blockchain": blockchain,
        "type": type,
        "wallet_address": address,
        "name": f"Wallet {address[:6]}",
        "image_url": f"https://images.example.com/{address}.png",
        "twitter": f"https://x.com/{address[2:14]}",
        "telegram": "",
        "copytrade_link": f"https://trade.example.com/copy/{address}?from=benchmark",
    }


def _trades(address: str, now: datetime) -> Iterator[Row]:
    step = timedelta(days=20) / (RECORD_TOKENS * TRADES_PER_TOKEN)
    for number in range(RECORD_TOKENS * TRADES_PER_TOKEN):
        token, place = divmod(number, TRADES_PER_TOKEN)
        yield {
            "blockchain": "solana",
            "wallet_address": address,
            "tx_signature": base58.b58encode(bytes_of(f"{address} {number}", 64)).decode(),
            "mint": solana_address(f"token {token}"),
            "token_name": f"Token {token}",
            "transaction_type": "sell" if place % 2 else "buy",
            "token_amount": f"{1000 + number}.{number % 997:06d}",
            "value": f"{1 + number % 7}.{(number * 7919) % 10**9:09d}",
            "created_at": (now - step * number - timedelta(seconds=2)).isoformat(),
        }


def _created_at(trade: Row) -> str:
    return str(trade["created_at"])


def _save_balances(connection: Connection) -> None:
    tokens = [
        {
            "address": solana_address(f"token {number}"),
            "name": f"Token {number}",
            "symbol": f"T{number}",
            "amount": str(10**9 * (number + 1)),
            "decimals": 9,
            "verified": False,
            "spam": False,
        }
        for number in range(1, RECORD_TOKENS)
    ]
    connection.execute(_SAVE_BALANCES, {"native_amount": 10**9, "tokens": orjson.dumps(tokens).decode()})


def _lines(rows: Iterable[Row]) -> Iterator[bytes]:
    return (orjson.dumps(row) + b"\n" for row in rows)

"""What the service is measured with: a demo world, and wallets of the sizes that the targets name."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import orjson
import requests

from tests.benchmarks.http_servers import run_command_of
from tests.ledger.rows import Row, trade_row
from tests.lib.processes import Gunicorn
from wallet_api.database import Connection, connect
from wallet_api.operate.demo import forms

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


def solana_address(text: str) -> str:
    """Return a Solana address, derived from `text`."""
    return forms.solana_address(forms.seeded(text))


RECORDS = tuple(solana_address(f"record {number}") for number in range(400))


def write_files(folder: Path) -> None:
    """Write the files of wallets and trades that `fill` imports."""
    now = datetime.now(UTC).replace(microsecond=0)
    crowd = (forms.evm_address(forms.seeded("crowd", number)) for number in range(CROWD))
    wallets = [
        *(_wallet("solana", "whale", address) for address in RECORDS),
        *(_wallet("base", "smart", address) for address in crowd),
    ]
    trades = sorted((trade for address in RECORDS for trade in _trades(address, now)), key=_created_at)
    (folder / "wallets.ndjson").write_bytes(b"".join(_lines(wallets)))
    (folder / "trades.ndjson").write_bytes(b"".join(_lines(trades)))


def fill(tree: Path, environment: Mapping[str, str], files: Path) -> None:
    """Fill an empty database with the files and a demo world, by the command line of the checkout `tree`."""
    commands: list[tuple[str, ...]] = [("migrate",), _DEMO]
    commands += [("import", name, str(files / f"{name}.ndjson")) for name in ("wallets", "trades")]
    for command in commands:
        run_command_of(tree, environment, *command)
    with connect(environment["DATABASE_URL"]) as connection:
        _save_balances(connection)
        connection.execute("VACUUM ANALYZE")


def crowd_cursors(server: Gunicorn, key: str) -> Iterator[str]:
    """Yield the cursors of the pages of 50 after the first, which a server of their database has returned."""
    first = f"{server.url}/v1/wallets?blockchain=base&type=smart&limit={PAGE}"
    page = first
    while True:
        response = requests.get(page, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        cursor = response.json()["data"]["pagination"]["next_cursor"]
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
        yield trade_row(
            address,
            forms.solana_signature(forms.seeded(address, number)),
            now - step * number - timedelta(seconds=2),
            mint=solana_address(f"token {token}"),
            token_name=f"Token {token}",
            transaction_type="sell" if place % 2 else "buy",
            token_amount=f"{1000 + number}.{number % 997:06d}",
            value=f"{1 + number % 7}.{(number * 7919) % 10**9:09d}",
        )


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

"""What the service is measured with: a demo world, and wallets of the sizes that the targets name."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import base58
import orjson

from wallet_api import demo, migrations
from wallet_api.access.keys import create_key
from wallet_api.database import Connection, connect
from wallet_api.demo.world import World
from wallet_api.ledger.imports import import_trades, import_wallets
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rows import BadRow, TradeRow, WalletRow
from wallet_api.queries.wallets import list_wallets

RECORD_WALLETS = 200
RECORD_TOKENS = 20
TRADES_PER_TOKEN = 5
HEAVY_TOKENS = 2_000
CROWD = 5_000
PAGE = 50
CREDITS = 10**12
RATE = "100000000/minute"

Row = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What there is to ask for."""

    key: str
    record_addresses: tuple[str, ...]
    heavy_address: str
    crowd_addresses: tuple[str, ...]
    crowd_cursors: tuple[str, ...]


def make(database_url: str) -> Made:
    """Fill an empty database."""
    now = datetime.now(UTC).replace(microsecond=0)
    records = tuple(solana_address(f"record {number}") for number in range(RECORD_WALLETS))
    crowd = tuple(sorted(evm_address(f"crowd {number}") for number in range(CROWD)))
    heavy = evm_address("heavy")
    with connect(database_url) as connection:
        migrations.migrate(connection)
    demo.load(database_url, World(now, wallets=200, trades=40_000, days=30))
    wallets = [
        *(_wallet("solana", "whale", address) for address in records),
        *(_wallet("base", "smart", address) for address in crowd),
        _wallet("eth", "kol", heavy),
    ]
    with connect(database_url) as connection:
        import_wallets(connection, ndjson_records(_lines(wallets), WalletRow), _refuse)
    trades = sorted(
        [
            *(trade for address in records for trade in _trades("solana", address, RECORD_TOKENS, now)),
            *_trades("eth", heavy, HEAVY_TOKENS, now),
        ],
        key=lambda trade: trade["created_at"],
    )
    with connect(database_url) as connection:
        import_trades(connection, ndjson_records(_lines(trades), TradeRow), _refuse)
    with connect(database_url) as connection:
        _save_balances(connection)
        connection.execute("VACUUM ANALYZE")
        key = create_key(connection, "benchmark", credits=CREDITS, rate=RATE)
        return Made(key, records, heavy, crowd, tuple(_cursors(connection)))


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


def _trades(blockchain: str, address: str, tokens: int, now: datetime) -> Iterator[Row]:
    mint_of: Callable[[str], str] = solana_address if blockchain == "solana" else evm_address
    step = timedelta(days=20) / (tokens * TRADES_PER_TOKEN)
    for token in range(tokens):
        for place in range(TRADES_PER_TOKEN):
            number = token * TRADES_PER_TOKEN + place
            yield {
                "blockchain": blockchain,
                "wallet_address": address,
                "tx_signature": base58.b58encode(bytes_of(f"{address} {number}", 64)).decode(),
                "mint": mint_of(f"token {token}"),
                "token_name": f"Token {token}",
                "transaction_type": "sell" if place % 2 else "buy",
                "token_amount": f"{1000 + number}.{number % 997:06d}",
                "value": f"{1 + number % 7}.{(number * 7919) % 10**9:09d}",
                "created_at": (now - step * number - timedelta(seconds=2)).isoformat(),
            }


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
    connection.execute(
        "INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)"
        " SELECT wallet_id, 1000000000, %s::jsonb, now()"
        "   FROM wallets WHERE blockchain = 'solana' AND type = 'whale'",
        [orjson.dumps(tokens).decode()],
    )


def _cursors(connection: Connection) -> Iterator[str]:
    cursor = None
    while page := list_wallets(connection, "base", "smart", PAGE, cursor)["pagination"]:
        cursor = page["next_cursor"]
        if cursor is None:
            return
        yield cursor


def _lines(rows: Iterable[Row]) -> Iterator[bytes]:
    return (orjson.dumps(row) + b"\n" for row in rows)


def _refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise fault


def bytes_of(text: str, size: int) -> bytes:
    """As many bytes, made from `text`."""
    return hashlib.shake_256(text.encode()).digest(size)


def solana_address(text: str) -> str:
    """A Solana address, made from `text`."""
    return base58.b58encode(bytes_of(text, 32)).decode()


def evm_address(text: str) -> str:
    """An EVM address, made from `text`."""
    return "0x" + bytes_of(text, 20).hex()

"""Many random trades, the same for the same seed: wallets that buy and sell, mostly in order."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import base58

from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.naive.ledger import Ledger

Row = dict[str, Any]

TYPES = ("kol", "smart", "whale")


def wallets(count: int) -> list[Row]:
    """Tracked wallets of Solana, in turn of each type."""
    return [
        {"blockchain": "solana", "type": TYPES[number % 3], "wallet_address": _address(number)}
        for number in range(count)
    ]


def prices(now: datetime, days: int) -> list[Row]:
    """A price of SOL every six hours, so that some trades have one within an hour."""
    return [
        {"currency": "SOL", "usd": str(100 + hours % 37), "priced_at": _text(now - timedelta(hours=hours))}
        for hours in range(0, 24 * days, 6)
    ]


def trades(count: int, wallet_count: int, now: datetime, days: int, late: float = 0.05) -> list[Row]:
    """Trades up to `now`, a part `late` out of order, and as many repeated, half with other values."""
    chance = random.Random(1)
    step = timedelta(days=days) / count
    rows = [_trade(chance, number, wallet_count, now - step * (count - number)) for number in range(count)]
    for _ in range(int(count * late / 2)):
        one, other = chance.randrange(count), chance.randrange(count)
        rows[one], rows[other] = rows[other], rows[one]
    return list(_with_repeats(chance, rows, late))


def fill(importer: Importer, wallet_count: int, count: int, days: int = 3) -> tuple[list[Row], list[Row]]:
    """Import trades up to now, with their wallets and prices; return the rows of wallets and trades."""
    now = datetime.now(UTC).replace(microsecond=0)
    tracked, rows = wallets(wallet_count), trades(count, wallet_count, now, days) if count else []
    import_all(importer, wallets=tracked, prices=prices(now, days), trades=rows)
    return tracked, rows


def import_coinciding(importer: Importer, count: int, now: datetime, mints: int | None = None) -> Ledger:
    """Import trades of 12 wallets at few different times, and return the ledger of them."""
    rows = trades(count, 12, now, days=3)
    for row in rows:
        if mints:
            row["mint"] = mint_of(f"mint-{ord(row['mint'][5]) % mints}")
        at = datetime.fromisoformat(row["created_at"])
        row["created_at"] = _text(at.replace(hour=at.hour // 6 * 6, minute=0, second=0, microsecond=0))
    return import_all(importer, wallets=wallets(12), prices=prices(now, 3), trades=rows)


def import_all(importer: Importer, *steps: tuple[str, list[Row]], **files: list[Row]) -> Ledger:
    """Import rows, each of a kind, in their order, and return the ledger of them."""
    ledger = Ledger()
    for kind, rows in (*steps, *files.items()):
        getattr(importer, kind)(rows)
        getattr(ledger, f"add_{kind}")(rows)
    return ledger


def _with_repeats(chance: random.Random, rows: list[Row], part: float) -> Iterator[Row]:
    for number, row in enumerate(rows):
        yield dict(row)
        if chance.random() < part:
            earlier = rows[chance.randrange(number + 1)]
            if chance.random() < 0.5:
                # An import rejects it; should the row come again, it is that one.
                earlier["value"] = str(Decimal(earlier["value"]) * 2)
            yield dict(earlier)


def _trade(chance: random.Random, number: int, wallet_count: int, at: datetime) -> Row:
    row: Row = {
        "blockchain": "solana",
        # The first wallets are the busiest.
        "wallet_address": _address(min(int(chance.expovariate(4 / wallet_count)), wallet_count - 1)),
        "tx_signature": f"signature-{number}",
        "mint": mint_of(f"mint-{int(chance.expovariate(0.1))}"),
        "transaction_type": chance.choice(("buy", "buy", "sell")),
        "token_amount": str(Decimal(chance.randint(1, 10**6)).scaleb(-chance.choice((0, 3, 6)))),
        "value": str(Decimal(chance.randint(0, 10**10)).scaleb(-9)),
        "created_at": _text(at),
    }
    if chance.random() < 0.5:
        row["value_usd"] = str(Decimal(chance.randint(0, 10**6)).scaleb(-2))
    return row


def _address(number: int) -> str:
    return base58.b58encode(random.Random(number).randbytes(32)).decode()


def _text(moment: datetime) -> str:
    return moment.isoformat()

"""Random ledgers for copiers: wallets that trade a few tokens within seconds, minutes and days."""

import random
from datetime import datetime, timedelta
from decimal import Decimal

from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, SMART, Row, trade_row

# The last one is a rug: nobody but the first wallet trades it.
MINTS = tuple(mint_of(f"copied {number}") for number in range(4))
# Between two trades of a token: beside each delay, the time that a buy waits, and the day that a sell waits.
STEPS = (
    *[timedelta(seconds=seconds) for seconds in (0, 0, 1, 4, 5, 6, 59, 60, 61, 599, 600, 601, 605, 606)],
    *[timedelta(hours=hours) for hours in (1, 5, 24)],
    timedelta(days=1, seconds=6),
    timedelta(microseconds=1),
)


def trades(chance: random.Random, now: datetime, count: int) -> list[Row]:
    """Trades of three wallets up to `now`, most of what is bought sold again, of small and of odd amounts."""
    ago = {mint: timedelta(0) for mint in MINTS}
    rows = []
    for number in range(count):
        mint = chance.choice(MINTS)
        address = ANN if mint == MINTS[-1] else chance.choice((ANN, ANN, BEN, SMART))
        row = trade_row(
            address,
            f"s{number}",
            now - ago[mint],
            mint=mint,
            transaction_type=chance.choice(("buy", "buy", "sell")),
            token_amount=_amount(chance, 1),
            value=_amount(chance, 0),
            event_index=chance.choice((0, 0, 1)),
        )
        if chance.random() < 0.3:
            row["exchanged_value"] = _amount(chance, 0)
        if chance.random() < 0.3:
            row["value_usd"] = chance.choice(("0.99", "1", "20"))
        if chance.random() < 0.3:
            row |= {"block": 7, "block_index": chance.choice((0, 1))}
        rows.append(row)
        ago[mint] += chance.choice(STEPS)
    return rows


def quotes(chance: random.Random, now: datetime, count: int) -> list[Row]:
    """Quotes of a day and a half, one a minute at most."""
    minutes = chance.sample(range(1, 36 * 60), count)
    return [
        {
            "blockchain": "solana",
            "mint": chance.choice(MINTS[:-1]),
            "usd": _amount(chance, 1),
            "priced_at": (now.replace(second=chance.randrange(60)) - timedelta(minutes=ago)).isoformat(),
            "liquidity_usd": chance.choice(("20000", "20000", "10")),
        }
        for ago in minutes
    ]


def _amount(chance: random.Random, least: int) -> str:
    if chance.random() < 0.5:
        return str(chance.choice((least, 1, 2, 3, 7, 100)))
    units = chance.randint(1, 10 ** chance.randint(1, 15))
    # No coin has been paid 10^20 times for a token: products of such prices would need more digits.
    return format(Decimal(units).scaleb(-chance.choice((6, 9, 12))), "f")

"""The kept signals of hours, and what became of them, are those of a naive reading, which looks not ahead."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product

from tests.ledger import in_process, random_trades
from tests.ledger.in_process import Row, exact, made
from tests.ledger.loaded import in_period
from tests.ledger.mints import mint_of
from tests.ledger.rows import price_row
from tests.naive.ledger import Ledger
from wallet_api.api.schemas.analytics import SignalOutcomesSchema
from wallet_api.base.periods import Bounds
from wallet_api.chain.sync.outcomes import decide_outcomes, keep_signals
from wallet_api.database import Connection, rows_of
from wallet_api.queries.signal_outcomes import read_signal_outcomes
from wallet_api.queries.token_price import DEFAULT_RULE

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC).replace(microsecond=0)
LATEST = NOW.replace(minute=0, second=0)
HOURS = [LATEST - number * HOUR for number in range(32, -1, -1)]
GROUPS = [("solana", type) for type in random_trades.TYPES[:2]]
KINDS = ("cluster", "entry", "exit", "base")
KEPT = """
SELECT type, hour, kind, mint
  FROM signal_hours
 CROSS JOIN LATERAL unnest(token_ids) AS token_id
  JOIN tokens USING (token_id)
"""
Kept = set[tuple[str, datetime, str, str]]


def test_the_signals_of_hours_and_their_outcomes_are_the_naive_ones(
    database_url: str, connection: Connection
) -> None:
    chance = random.Random(1)
    importer = in_process.Importer(database_url)
    ledger = Ledger()
    trades = sorted(_trades(chance), key=lambda row: str(row["created_at"]))
    wallets, prices = random_trades.wallets(10), [price_row("200", hour) for hour in HOURS]
    for kind, rows in (("wallets", wallets), ("prices", prices)):
        getattr(importer, kind)(rows)
        getattr(ledger, f"add_{kind}")(rows)
    ledger.add_trades(trades)
    # Each hour is kept when nothing later has come.
    for hour in HOURS:
        begun = [row for row in trades if row["created_at"] <= hour.isoformat()]
        importer.trades(begun)
        trades = trades[len(begun) :]
        for group in GROUPS:
            keep_signals(connection, hour, *group)
    then = _kept(connection)
    assert then == {
        (type, hour, kind, mint)
        for hour, (chain, type), kind in product(HOURS, GROUPS, KINDS)
        for mint in ledger.kept(hour, chain, type, kind)
    }
    assert {kind for _, _, kind, _ in then} == {*KINDS}
    importer.trades(trades)
    connection.execute("DELETE FROM signal_hours")
    for hour, group in product(HOURS, GROUPS):
        keep_signals(connection, hour, *group)
    assert _kept(connection) == then

    quotes = list(_quotes(chance))
    importer.quotes(quotes)
    ledger.add_quotes(quotes)
    assert sum(decide_outcomes(connection, NOW, ["solana"], DEFAULT_RULE)) > 200
    known = set()
    for (chain, type), signal in product(GROUPS, KINDS[:3]):
        since, until = HOURS[chance.randrange(8)], HOURS[-1] - timedelta(minutes=chance.randrange(90))
        asked = in_period((chain, type), Bounds(since, until)) | {"signal": signal}
        found = read_signal_outcomes(connection, NOW, asked)
        rows = exact(made(SignalOutcomesSchema), rows_of(found.rows))
        hours = [hour for hour in HOURS if since <= hour < until]
        assert rows == ledger.signal_outcomes(NOW, hours, chain, type, signal)
        assert (found.hours, found.missing) == (len(hours), 0)
        known |= {name for row in rows for name in ("known", "gone", "share_doubled") if row[name]}
    assert known == {"known", "gone", "share_doubled"}


def _trades(chance: random.Random) -> Iterator[Row]:
    """Trades of ten wallets in eight tokens, many at full hours, each wallet with what it can sell."""
    addresses = [row["wallet_address"] for row in random_trades.wallets(10)]
    for number in range(400):
        at = LATEST - timedelta(minutes=10 * chance.randrange(6 * 34))
        yield {
            "blockchain": "solana",
            "wallet_address": chance.choice(addresses),
            "tx_signature": f"s{number}",
            "mint": mint_of(f"token {chance.randrange(8)}"),
            "transaction_type": chance.choice(["buy", "sell"]),
            "token_amount": chance.choice(["1", "3"]),
            "value": chance.choice(["0", "0.001", "1", "1", "2", "5"]),
            "created_at": at.isoformat(),
        }


def _quotes(chance: random.Random) -> Iterator[Row]:
    """Quotes of minutes of their own, a part of them thin."""
    for number, minutes in enumerate(chance.sample(range(34 * 60), 400)):
        at = LATEST - timedelta(minutes=minutes)
        yield {
            "blockchain": "solana",
            "mint": mint_of(f"token {number % 8}"),
            "usd": str(chance.choice([100, 200, 400])),
            "priced_at": at.isoformat(),
            "liquidity_usd": chance.choice(["900", "900", "5000"]),
        }


def _kept(connection: Connection) -> Kept:
    rows = connection.execute(KEPT).fetchall()
    return {(row["type"], row["hour"].astimezone(UTC), row["kind"], row["mint"]) for row in rows}

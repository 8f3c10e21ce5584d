"""What a copier would have got of any ledger is what a naive model in fractions gives, to the last digit."""

import os
import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.ledger import copied_trades, in_process
from tests.ledger.in_process import exact, made
from tests.ledger.rows import WALLETS, price_row
from tests.naive.copies import Terms
from tests.naive.ledger import Ledger
from wallet_api.api.schemas.copies import CopySchema
from wallet_api.api.schemas.history import HistorySchema
from wallet_api.base.periods import Bounds
from wallet_api.database import Connection
from wallet_api.ledger.wallet import Wallet, find_wallet
from wallet_api.queries.copies import NO_IMPACT, CopyTerms, copy_wallet
from wallet_api.queries.history import wallet_history

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
LEDGERS = int(os.environ.get("COPIES_EXAMPLES", "2"))
OF_TERMS = ("wallet", "blockchain", "type", "currency", "delay", "fee_percent", "size")


def copied(connection: Connection, wallet: Wallet, now: datetime, given: dict[str, Any]) -> Row:
    """The figures of a copy and all of its steps, without what it is of."""
    data: Row = exact(made(CopySchema), copy_wallet(connection, wallet, now, {"limit": 1000} | given))
    assert data.pop("warnings") == [NO_IMPACT]
    assert data.pop("pagination")["total"] == len(data["steps"])
    return {name: value for name, value in data.items() if name not in OF_TERMS}


@pytest.mark.parametrize("seed", range(LEDGERS))
def test_a_copy_is_that_of_a_naive_model(seed: int, database_url: str, connection: Connection) -> None:
    chance = random.Random(seed)
    importer, ledger = in_process.Importer(database_url), Ledger()
    prices = [price_row("100", NOW - timedelta(minutes=50 * number)) for number in range(60)]
    files = {
        "wallets": WALLETS,
        "prices": prices if chance.random() < 0.8 else prices[:0],
        "trades": copied_trades.trades(chance, NOW, 150),
        "quotes": copied_trades.quotes(chance, NOW, 60),
    }
    for kind, rows in files.items():
        getattr(importer, kind)(rows)
        getattr(ledger, f"add_{kind}")(rows)
    for row in WALLETS[:3]:
        wallet = find_wallet(connection, row["blockchain"], row["wallet_address"])
        for _ in range(6):
            now = NOW + chance.choice((timedelta(0), timedelta(0), timedelta(hours=20)))
            ends = sorted(
                {NOW - chance.choice(copied_trades.STEPS) * chance.randint(1, 60) for _ in range(3)}
            )
            windows = [Bounds(), Bounds(since=ends[0]), Bounds(until=ends[-1])]
            window = chance.choice([*windows, Bounds(*ends[-2:])] if len(ends) > 1 else windows)
            terms = CopyTerms(
                chance.choice((0, 1, 5, 5, 60, 3600)),
                Decimal(chance.choice(("0", "1", "1", "0.3", "33.333", f"0.{10**25 // 7}", "100"))),
                chance.choice((None, None, Decimal("0.5"), Decimal(7), Decimal("0.000123"))),
            )
            naive = Terms(
                timedelta(seconds=terms.delay),
                Fraction(terms.fee_percent),
                None if terms.size is None else Fraction(terms.size),
            )
            found = copied(connection, wallet, now, {"window": window, **terms.parameters})
            expected = ledger.copy(now, wallet.blockchain, wallet.address, tuple(window), naive)
            assert found == expected, (seed, wallet.address, now, window, terms)


def test_at_its_own_prices_without_a_fee_a_copy_is_the_wallet(
    database_url: str, connection: Connection
) -> None:
    importer = in_process.Importer(database_url)
    importer.wallets(WALLETS)
    importer.trades(copied_trades.trades(random.Random(7), NOW, 300))
    for row in WALLETS[:3]:
        wallet = find_wallet(connection, row["blockchain"], row["wallet_address"])
        copy = copied(connection, wallet, NOW, {"delay": 0, "fee_percent": Decimal(0)})
        history = exact(made(HistorySchema), wallet_history(connection, wallet, NOW, {"limit": 1000}))
        stats = history["lifetime_stats"]
        of_history = ("buy", "realized_pnl", "unrealized_pnl", "unpriced_cost")
        figures = ("invested", "realized_pnl", "unrealized_pnl", "unpriced_cost")
        assert [copy[name] for name in figures] == [stats.get(name, 0) for name in of_history]
        assert copy["return_percent"] == copy["wallet_return_percent"] == copy["wallet_return_percent_all"]
        assert (copy["not_followed"], copy["stuck"], copy["fees"]) == (0, 0, 0)
        sales = {
            (trade["tx_signature"], trade["event_index"], trade["mint"]): trade["realized_pnl"]
            for trade in history["trades"]
            if "realized_pnl" in trade
        }
        assert sales == {
            (step["tx_signature"], step["event_index"], step["mint"]): step["realized_pnl"]
            for step in copy["steps"]
            if "realized_pnl" in step
        }

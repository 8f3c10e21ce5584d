"""The last day of a group's window: whole where no trade of the group is later, else read from its trades."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.figures import Figures, compare, net_flows, of_group, signals
from tests.ledger.in_process import Importer, Row, exact, made
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import ANN, BEN, EVM, SMART, WALLETS, trade_row
from tests.naive.ledger import Ledger
from wallet_api.api.schemas.analytics import FlowsSchema
from wallet_api.base.periods import Bounds
from wallet_api.database import Connection

INSTANT, HOUR, DAY = timedelta.resolution, timedelta(hours=1), timedelta(days=1)
MIDNIGHT = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - 3 * DAY
KOL, SMARTS, ALL, ETH = ("solana", "kol"), ("solana", "smart"), ("solana", "all"), ("eth", "kol")
GROUPS = (KOL, SMARTS, ALL, ETH)
OPERATIONS = {"analytics", "leaderboard", "leaderboard_charts", "net_flow", "signals", "volume_trend"}


def read(connection: Connection, now: datetime, group: tuple[str, str]) -> Figures:
    """Return the figures of a group in windows that end now: within a day, and of many lengths."""
    found: Figures = {}
    # The buckets of the longest are days.
    for span in ("6h", "7d", Bounds(now - HOUR, now + INSTANT), Bounds(now - 100 * DAY)):
        found |= of_group(connection, now, group, span)
    for period in ("1h", "1d"):
        flows = net_flows(connection, now, blockchain=group[0], type=group[1], period=period)
        found["net_flow", now, *group, period] = list(exact(made(FlowsSchema), flows))
    for mode, hours in (("cluster", 1), ("entry", 168)):
        found["signals", now, *group, mode, hours, 1] = signals(connection, now, *group, mode, hours, 1)
    return found


def whole(connection: Connection, now: datetime, kept: Figures) -> dict[tuple[str, str], set[str]]:
    """Return the operations that answer something else where the sums of the last day are gone, by group."""
    with connection.transaction(force_rollback=True):
        for table in ("position_days", "wallet_days"):
            connection.execute(f"DELETE FROM {table} WHERE day = %(day)s".encode(), {"day": now.date()})
        without = {key: figures for group in GROUPS for key, figures in read(connection, now, group).items()}
    differing = {key[:1] + key[2:4] for key, figures in kept.items() if figures != without[key]}
    return {group: {name for name, *of in differing if tuple(of) == group} for group in GROUPS}


def trades_until(now: datetime) -> Iterator[Row]:
    """Trades of each wallet: in tokens of the last day alone, of it and other days, and of others alone."""
    today, before = max(now - 5 * HOUR, MIDNIGHT), MIDNIGHT - 10 * HOUR
    turns = (
        *(("today", "buy", today), ("today", "sell", now), ("now", "buy", now)),
        *(("both", "buy", now - 7 * DAY), ("both", "buy", before), ("both", "sell", MIDNIGHT - INSTANT)),
        *(("both", "buy", MIDNIGHT), ("both", "sell", today), ("both", "sell", now - 3 * INSTANT)),
        *(("before", "buy", now - 8 * DAY), ("before", "sell", before), ("held", "buy", before)),
    )
    for place, (address, (name, side, at)) in enumerate(
        (address, turn) for address in (ANN, BEN, SMART, EVM) for turn in turns
    ):
        evm = {"blockchain": "eth", "mint": evm_mint_of(name.encode().hex())} if address == EVM else {}
        amount = {"token_amount": "1" if side == "sell" else "3", "value": f"{place % 7 + 1}.{place}"}
        yield trade_row(address, f"s{place}", at, mint=mint_of(name), transaction_type=side) | amount | evm


@pytest.mark.parametrize("now", [MIDNIGHT + 15.5 * HOUR, MIDNIGHT], ids=["afternoon", "midnight"])
def test_the_last_day_is_whole_while_no_trade_of_the_group_is_later(
    now: datetime, database_url: str, connection: Connection
) -> None:
    importer, tracked = Importer(database_url), list(WALLETS)
    rows = {row["tx_signature"]: row for row in trades_until(now)}

    def check(*expected: tuple[str, str]) -> None:
        ledger = Ledger()
        ledger.add_wallets(tracked)
        ledger.add_trades(list(rows.values()))
        found = {key: figures for group in GROUPS for key, figures in read(connection, now, group).items()}
        compare(found, ledger)
        names = {group: OPERATIONS if group in expected else set() for group in GROUPS}
        assert whole(connection, now, found) == names

    def add(row: Row) -> None:
        importer.trades([row])
        rows[row["tx_signature"]] = row

    def remove(*signatures: str) -> None:
        importer.remove_trades([rows.pop(signature) for signature in signatures])

    importer.wallets(tracked)
    importer.trades(rows.values())
    check(*GROUPS)
    # Later trades of another group, and of another chain.
    add(trade_row(SMART, "later", now + INSTANT, mint=mint_of("today")))
    check(KOL, ETH)
    remove("later")
    add(rows["s36"] | {"tx_signature": "of-eth", "created_at": (now + 2 * HOUR).isoformat()})
    check(KOL, SMARTS, ALL)
    # Of its own: on this day, and on the next one, with which a token is not one of this day alone.
    add(trade_row(ANN, "later", now + INSTANT, mint=mint_of("today")))
    check(SMARTS)
    remove("later")
    add(trade_row(BEN, "next-day", now + DAY, mint=mint_of("today")))
    check(SMARTS)
    remove("next-day")
    check(KOL, SMARTS, ALL)
    # What is corrected on this day, and what comes from another and goes to it; what is removed of it.
    add(rows["s0"] | {"value": "50"})
    add(rows["s4"] | {"created_at": now.isoformat()})
    add(rows["s7"] | {"created_at": (MIDNIGHT - 2 * HOUR).isoformat()})
    check(KOL, SMARTS, ALL)
    remove("s13", "s14", "s20")
    check(KOL, SMARTS, ALL)
    # With its wallet, a later trade goes to another group.
    add(trade_row(BEN, "later", now + INSTANT, mint=mint_of("today")))
    check(SMARTS)
    tracked[1] = tracked[1] | {"type": "whale"}
    importer.wallets(tracked)
    check(KOL, SMARTS)

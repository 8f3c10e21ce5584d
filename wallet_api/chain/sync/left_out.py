"""What a sync leaves out: kept by signature and reason, and read again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from wallet_api.chain.decoding.swaps import EXPIRED, UNSIGNED, LeftOut, Reason, TrackedWallet
from wallet_api.chain.providers.trades.source import Listed
from wallet_api.chain.sync import report
from wallet_api.database import Connection, MissingReference, Row, load_statements, translated

# What was left out is read again at the start of a process, and then once a day.
_AGAIN = timedelta(days=1)
# Those read again in a round: each may cost a request.
_MOST_AGAIN = 1000
# What others did is kept for so long, and so many of a chain.
_UNSIGNED_KEPT = timedelta(days=7)
_MOST_UNSIGNED = 10_000

_LEFT_OUT = load_statements(__package__, "left_out")


def left_out_due(connection: Connection, chains: Sequence[str], started: datetime) -> dict[int, list[Listed]]:
    """Return by wallet what to read again in a process that started then, those tried longest ago first."""
    parameters = {
        "blockchains": list(chains),
        "tried_before": max(started, datetime.now(UTC) - _AGAIN),
        "most": _MOST_AGAIN,
    }
    due: dict[int, list[Listed]] = {}
    for row in connection.execute(_LEFT_OUT["due"], parameters):
        wallet = TrackedWallet.from_row(row)
        listed = Listed(wallet, row["created_at"], row["tx_signature"], row["is_signed"])
        due.setdefault(row["wallet_id"], []).append(listed)
    return due


def save_left_out(connection: Connection, left_out: Iterable[LeftOut], now: datetime) -> list[LeftOut]:
    """Keep what was left out; count and return what was not kept before. A removed wallet keeps nothing."""
    rows = {(each.wallet.wallet_id, each.tx_signature): each for each in left_out}
    with suppress(MissingReference), translated(), connection.transaction():
        kept = keep(connection, list(rows.values()), [None] * len(rows), now)
        new = [rows[row["wallet_id"], row["tx_signature"]] for row in kept if row["is_new"]]
        report.add(connection, report.count_facts("left_out", Counter(counted_as(each) for each in new)))
        return new
    return []


def keep(
    connection: Connection, left_out: Sequence[LeftOut], trades: Sequence[str | None], now: datetime
) -> list[Row]:
    """Keep what was left out, each with its trades as JSON if it is named; return their rows."""
    parameters = {
        "wallet_ids": [each.wallet.wallet_id for each in left_out],
        "signatures": [each.tx_signature for each in left_out],
        "reasons": [each.reason for each in left_out],
        "details": [each.detail for each in left_out],
        "moments": [each.created_at for each in left_out],
        "signed": [each.is_signed for each in left_out],
        "trades": trades,
        "now": now,
    }
    return connection.execute(_LEFT_OUT["keep"], parameters).fetchall()


def counted_as(left_out: LeftOut) -> tuple[str, str]:
    """Return the chain and the reason for which it is counted: alarms are for what the wallets did."""
    return left_out.wallet.chain.name, str(left_out.reason) if left_out.is_signed else UNSIGNED


def expire_left_out(connection: Connection, chain: str, now: datetime) -> int:
    """Forget what others did a week ago, and the oldest of too many of a chain; count and return how many."""
    parameters = {"blockchain": chain, "seen_before": now - _UNSIGNED_KEPT, "most": _MOST_UNSIGNED}
    with connection.transaction():
        expired = connection.execute(_LEFT_OUT["expire"], parameters).rowcount
        report.add(connection, report.count_facts("left_out", {(chain, EXPIRED): expired}))
    return expired


def forget_left_out(connection: Connection, read: Sequence[tuple[int, str]]) -> None:
    """Forget these transactions, each of a wallet, since they could be read now."""
    wallet_ids, signatures = zip(*read, strict=True) if read else ((), ())
    connection.execute(_LEFT_OUT["forget"], {"wallet_ids": list(wallet_ids), "signatures": list(signatures)})


def count_unreadable(connection: Connection, chains: Sequence[str]) -> int:
    """Return how many transactions of these chains are kept because they could not be read."""
    parameters = {"blockchains": list(chains), "reason": Reason.UNREADABLE}
    count: int = connection.fetch_value(_LEFT_OUT["count"], parameters)
    return count

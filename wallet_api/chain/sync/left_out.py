"""What a sync leaves out: kept by signature and reason, and read again.

What looks like a trade without a proof is named, and taken in when an operator accepts it. The reasons are in
docs/sync.md, "What is named".
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from wallet_api.base.chains import CHAINS, stored_form
from wallet_api.base.errors import CommandError
from wallet_api.base.forms import BadRow
from wallet_api.chain.decoding.swaps import ACCEPTED, EXPIRED, UNSIGNED, LeftOut, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.providers.trades.source import Listed, Unproven
from wallet_api.chain.sync import report
from wallet_api.chain.sync.values import dollars_of
from wallet_api.database import Connection, MissingReference, Row, load_statements, translated
from wallet_api.ledger.files.rows import TradeRow
from wallet_api.ledger.imports import TradeOptions, import_trades

# What was left out is read again at the start of a process, and then once a day.
_AGAIN = timedelta(days=1)
# Those read again in a round: each may cost a request.
_MOST_AGAIN = 1000
# What others did is kept for so long, and so many of a chain.
_UNSIGNED_KEPT = timedelta(days=7)
_MOST_UNSIGNED = 10_000

# The first ones of a wallet that are named: a stranger can make any number.
MOST_NAMED = 100
# What is worth less is dust, by which strangers are seen.
_LEAST_USD = Decimal(1)
_DETAIL = "nothing proves that the wallet agreed to it"

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
        kept = _keep(connection, list(rows.values()), [None] * len(rows), now)
        new = [rows[row["wallet_id"], row["tx_signature"]] for row in kept if row["is_new"]]
        report.add(connection, report.count_facts("left_out", Counter(counted_as(each) for each in new)))
        return new
    return []


def _keep(
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


def save_named(connection: Connection, unproven: Sequence[Unproven], now: datetime) -> int:
    """Name what may be a trade of a dollar or more; return how many are named that were not before.

    Of a wallet, the first MOST_NAMED are kept, and further new ones are counted. A removed wallet keeps
    nothing.
    """
    worthy = _worthy(connection, unproven)
    if not worthy:
        return 0
    wallet_ids = list({each.row.wallet.wallet_id for each in worthy})
    signatures = [each.row.tx_signature for each in worthy]
    parameters: dict[str, Any] = {"unsigned": UNSIGNED, "wallet_ids": wallet_ids, "signatures": signatures}
    state = {row["wallet_id"]: row for row in connection.execute(_LEFT_OUT["known"], parameters)}
    known = {(wallet_id, signature) for wallet_id, row in state.items() for signature in row["known"]}
    room = {number: MOST_NAMED - (state[number]["named"] if number in state else 0) for number in wallet_ids}
    named: list[Unproven] = []
    beyond: Counter[tuple[str, str]] = Counter()
    for each in sorted(worthy, key=lambda each: each.row.created_at):
        wallet, key = each.row.wallet, (each.row.wallet.wallet_id, each.row.tx_signature)
        if key in known:
            continue
        known.add(key)
        if room[wallet.wallet_id] > 0:
            room[wallet.wallet_id] -= 1
            named.append(each)
        else:
            beyond[wallet.chain.name, wallet.address] += each.is_new
    with suppress(MissingReference), translated(), connection.transaction():
        rows = [
            LeftOut(row.wallet, row.tx_signature, UNSIGNED, _DETAIL, row.created_at, is_signed=False)
            for row in (each.row for each in named)
        ]
        _keep(connection, rows, [json.dumps([_trade(draft) for draft in each.drafts]) for each in named], now)
        report.add(connection, report.count_facts("named_beyond", +beyond))
        return len(named)
    return 0


def read_named(connection: Connection) -> tuple[list[Row], list[Row]]:
    """Return what is named, and by wallet how many more there were."""
    named = connection.execute(_LEFT_OUT["named"], {"unsigned": UNSIGNED}).fetchall()
    return named, connection.execute(_LEFT_OUT["beyond"]).fetchall()


def accept(connection: Connection, signature: str, address: str) -> tuple[Row, int]:
    """Write the trades of a named transaction; return it, and how many trades are new or corrected.

    Raise CommandError, nothing of it written, if it is not named, or if a trade cannot be written.
    """
    # The hashes of EVM chains have one form; those of Solana are no hexadecimal numbers.
    signature = signature.lower() if signature[:2].lower() == "0x" else signature
    parameters = {"address": stored_form(address, CHAINS.values()), "signature": signature}
    found = connection.execute(_LEFT_OUT["found"], parameters).fetchall()
    if not found:
        raise CommandError(
            "No such transaction is named. 'wallet-api sync status' names those that can be accepted."
        )
    if len(found) > 1:
        raise CommandError("More than one chain has this transaction of this wallet.")
    (row,) = found
    with connection.transaction():
        changed = _import(connection, row)
        connection.execute(
            _LEFT_OUT["accept"],
            {name: row[name] for name in ("wallet_id", "tx_signature")} | {"accepted": ACCEPTED},
        )
    return row, changed


def _import(connection: Connection, row: Row) -> int:
    def reject(number: int, line: bytes, fault: BadRow) -> None:
        raise CommandError(f"It cannot be accepted: {fault}")

    # What nothing proves makes no price.
    of_all = {name: row[name] for name in ("blockchain", "wallet_address", "tx_signature")}
    of_all["exchanged_value"] = "0"
    records = (
        (number, b"", msgspec.convert(trade | of_all, TradeRow)) for number, trade in enumerate(row["trades"])
    )
    known = {(row["blockchain"], row["wallet_address"]): row["wallet_id"]}
    return import_trades(connection, records, reject, TradeOptions(wallet_ids=known)).changed


def _worthy(connection: Connection, unproven: Sequence[Unproven]) -> list[Unproven]:
    """Return those that are worth a dollar, or of unknown worth, in the ledger's words."""
    worths = iter(dollars_of(connection, [draft for each in unproven for draft in each.drafts]))
    of_each = [(each, [next(worths) for _ in each.drafts]) for each in unproven]
    return [each for each, dollars in of_each if any(one is None or one >= _LEAST_USD for one in dollars)]


def _trade(draft: Draft) -> dict[str, Any]:
    """Return a trade as a file has it. A value that depends on a price is computed when it is written."""
    stated = {
        "mint": draft.mint,
        "transaction_type": "sell" if draft.is_sell else "buy",
        "token_name": draft.name,
        "token_amount": _text(draft.token_amount),
        "created_at": draft.created_at.isoformat(),
        "value": None if draft.usd_to_convert or draft.is_unvalued else _text(draft.native),
        "value_usd": None if draft.value_usd is None else _text(draft.value_usd),
    }
    return {name: value for name, value in stated.items() if value is not None} | draft.place


def _text(number: Decimal) -> str:
    return f"{number:f}"

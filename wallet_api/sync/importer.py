"""Import fetched chunks into the ledger, and count what is imported and what is left out."""

import logging
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from wallet_api.database import Connection
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_trades
from wallet_api.ledger.lines import Record
from wallet_api.ledger.merge import WalletRemoved
from wallet_api.ledger.rows import TradeRow
from wallet_api.providers.trades.swaps import Chunk, LeftOut, Reason, TrackedWallet
from wallet_api.sync.drafts import Draft, draft_trades
from wallet_api.sync.jobs import Job
from wallet_api.sync.left_out import NO_TRADE, read_reasons, save_left_out, save_reasons, settle_left_out
from wallet_api.sync.prices import Prices
from wallet_api.sync.summaries import TradesSummary
from wallet_api.sync.values import value_drafts

log = logging.getLogger(__name__)

PRICE_MISSING = "price_missing"
REMOVED = "removed"
NO_PRICE = "no native price of its hour is known"


@dataclass(slots=True)
class Part:
    """A fetched chunk of a wallet, its trades, and what is left out of it."""

    job: Job
    chunk: Chunk
    drafts: list[Draft] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def wallet(self) -> TrackedWallet:
        return self.job.wallet


class Importer:
    """Imports the parts of a round, and adds them to its summary."""

    def __init__(self, connection: Connection, prices: Prices, summary: TradesSummary) -> None:
        self._connection = connection
        self._prices = prices
        self._summary = summary
        # By chain and reason: what the round met, and what no round had met before.
        self._met: Counter[tuple[str, str]] = Counter()
        self._new: Counter[tuple[str, str]] = Counter()
        self._delays: defaultdict[str, list[float]] = defaultdict(list)

    def add(self, parts: Sequence[Part]) -> None:
        """Import the parts, at most one of each wallet.

        A wallet fails if it was removed, or if the price that a value needs cannot be fetched now. The trades
        come first, then what is left out, then how far the wallets are synced, so that a crash in between
        repeats the fetch.
        """
        for part in parts:
            part.left_out += part.chunk.left_out
            drafted = draft_trades(part.wallet.chain, part.chunk.swaps)
            part.drafts += drafted.drafts
            part.left_out += drafted.left_out
            self._summary.wraps += drafted.wraps
        drafts = [(part, draft) for part in parts for draft in part.drafts]
        values, is_final = value_drafts(
            self._connection, self._prices, [(part.wallet, draft) for part, draft in drafts]
        )
        rows = []
        for (part, draft), value in zip(drafts, values, strict=True):
            if value is not None:
                rows.append((part, draft, value))
            elif is_final:
                part.left_out.append(_left_out(draft, Reason.NO_VALUE, NO_PRICE))
            elif part.job.outcome is None:
                part.job.fail(self._connection, PRICE_MISSING)
        parts = [part for part in parts if part.job.outcome is None]
        self._import([row for row in rows if row[0].job.outcome is None])
        new = save_left_out(self._connection, _left_out_of(parts), datetime.now(UTC))
        settle_left_out(self._connection, _read(parts))
        for part in parts:
            if part.job.save_synced(self._connection, part.chunk):
                self._count(part)
            else:
                part.job.fail(self._connection, REMOVED)
        self._new.update((wallet.chain.name, each.reason) for wallet, each in new)
        self._summary.new_left_out += len(new)

    def finish(self, chains: Sequence[str]) -> dict[str, float]:
        """Save the counts by chain and reason, and return the delays.

        They are by chain the median time from block to ledger of the new trades.
        """
        save_reasons(self._connection, chains, self._new, self._met)
        self._summary.unreadable = sum(
            one.kept
            for one in read_reasons(self._connection)
            if one.blockchain in chains and one.reason == Reason.UNREADABLE
        )
        return {chain: statistics.median(delays) for chain, delays in self._delays.items() if delays}

    def _import(self, rows: Sequence[tuple[Part, Draft, Decimal]]) -> None:
        def records() -> Iterator[Record[TradeRow]]:
            for number, (part, draft, value) in enumerate(rows):
                yield number, b"", _row(part.wallet, draft, value)

        def reject(number: int, line: bytes, fault: BadRow) -> None:
            rejected[number] = fault.rule

        while rows:
            rejected: dict[int, str] = {}
            wallet_ids = {
                (part.wallet.chain.name, part.wallet.address): part.wallet.wallet_id for part, _, _ in rows
            }
            try:
                imported = import_trades(self._connection, records(), reject, wallet_ids=wallet_ids)
            except WalletRemoved as error:
                rows = [row for row in rows if row[0].wallet.wallet_id not in error.wallet_ids]
                continue
            self._summary.trades += imported.landed
            self._summary.changed += imported.changed
            for number, rule in rejected.items():
                part, draft, _ = rows[number]
                part.left_out.append(_left_out(draft, Reason.INVALID, rule))
            break

    def _count(self, part: Part) -> None:
        chain, summary = part.wallet.chain.name, self._summary
        for each in part.left_out:
            log.info("%s on %s: %s: %s", part.wallet.address, chain, each.tx_signature, each.detail)
            self._met[chain, each.reason] += 1
            summary.left_out += 1
            summary.left_out_reasons[str(each.reason)][each.detail] += 1
        for counts in (self._met, self._new):
            counts[chain, NO_TRADE] += part.chunk.no_trades
        summary.no_trades += part.chunk.no_trades
        summary.swaps += len(part.chunk.swaps)
        if (synced_until := part.job.synced_until) is not None:
            now = datetime.now(UTC)
            moments = {draft.tx_signature: draft.created_at for draft in part.drafts}
            new = [moment for moment in moments.values() if moment > synced_until]
            self._delays[chain] += [max(0.0, (now - moment).total_seconds()) for moment in new]


def _left_out_of(parts: Sequence[Part]) -> list[tuple[TrackedWallet, LeftOut]]:
    return [(part.wallet, each) for part in parts for each in part.left_out]


def _read(parts: Sequence[Part]) -> list[tuple[int, str]]:
    """Return the wallets and signatures of the transactions that could be read, with all of their trades."""
    read = {
        (part.wallet.wallet_id, signature)
        for part in parts
        for signature in (*(draft.tx_signature for draft in part.drafts), *part.chunk.settled)
    }
    return list(read - {(wallet.wallet_id, each.tx_signature) for wallet, each in _left_out_of(parts)})


def _left_out(draft: Draft, reason: Reason, detail: str) -> LeftOut:
    return LeftOut(draft.tx_signature, reason, detail, draft.created_at)


def _row(wallet: TrackedWallet, draft: Draft, native: Decimal) -> TradeRow:
    return TradeRow(
        blockchain=wallet.chain.name,  # type: ignore[arg-type]
        wallet_address=wallet.address,
        tx_signature=draft.tx_signature,
        mint=draft.mint,
        transaction_type="sell" if draft.is_sell else "buy",
        token_amount=draft.token_amount,
        value=native,
        created_at=draft.created_at,
        token_name=draft.name,
        value_usd=draft.value_usd,
        exchanged_value=native - draft.extra if draft.extra else None,
    )

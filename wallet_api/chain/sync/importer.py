"""Import fetched chunks into the ledger, and count what is imported and what is left out.

Drafts get their `values`, by native prices, and go to `ledger/`. What may disappear is kept by `finality`,
what made no trade by `left_out`.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal

from msgspec import UNSET

from wallet_api.base.forms import BadRow
from wallet_api.chain.decoding.swaps import (
    DENIED,
    EXPIRED,
    FROM_LOGS,
    NO_TRADE,
    OTHERS,
    REORGANISED,
    UNSIGNED,
    LeftOut,
    Reason,
)
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.providers.trades.source import Chunk
from wallet_api.chain.sync import report
from wallet_api.chain.sync.finality import remove_orphans, save_blocks, save_final
from wallet_api.chain.sync.left_out import (
    count_unreadable,
    counted_as,
    expire_left_out,
    forget_left_out,
    save_left_out,
    save_named,
)
from wallet_api.chain.sync.prices import Prices
from wallet_api.chain.sync.report import Fact
from wallet_api.chain.sync.summaries import TradesSummary
from wallet_api.chain.sync.tasks import REMOVED, Task
from wallet_api.chain.sync.values import NativeValue, known_trades, value_drafts
from wallet_api.database import Connection
from wallet_api.ledger.files.rows import TradeRow
from wallet_api.ledger.imports import TradeOptions, import_trades
from wallet_api.ledger.merge import WalletRemoved
from wallet_api.ledger.tokens import Token

log = logging.getLogger(__name__)

PRICE_MISSING = "price_missing"
NO_PRICE = "no native price of its hour is known"


@dataclass(slots=True)
class FetchedChunk:
    """A fetched chunk of a task, its trades, and what is left out of it: also those in `denied` tokens."""

    task: Task
    chunk: Chunk
    drafts: list[Draft] = field(default_factory=list)
    denied: list[Draft] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


class Importer:
    """Imports the fetched chunks of a round, and adds them to its summary."""

    def __init__(
        self, connection: Connection, prices: Prices, summary: TradesSummary, denied: frozenset[Token]
    ) -> None:
        self._connection = connection
        self._prices = prices
        self._summary = summary
        self._denied = denied
        # By chain and reason.
        self._met: Counter[tuple[str, str]] = Counter()
        self._delays: defaultdict[str, list[float]] = defaultdict(list)
        self.landed: Counter[str] = Counter()

    def add(self, fetched: Sequence[FetchedChunk]) -> None:
        """Import fetched chunks, at most one of each task.

        A task fails if its wallets were removed, or if the price that a value needs cannot be fetched now.
        First goes what a reorganisation took away. Then come the trades, then what is left out, then how far
        the wallets are synced, so that a crash in between repeats the fetch.
        """
        for one in fetched:
            self._remember_blocks(one)
            one.left_out += one.chunk.left_out
            for draft in one.chunk.drafts:
                (one.denied if self._is_denied([draft]) else one.drafts).append(draft)
            self._summary.wraps += one.chunk.wraps
        drafts = [(one, draft) for one in fetched for draft in one.drafts]
        values, is_final = value_drafts(self._connection, self._prices, [draft for _, draft in drafts])
        rows = []
        for (one, draft), value in zip(drafts, values, strict=True):
            if value is not None:
                rows.append((one, draft, value))
            elif is_final:
                one.left_out.append(_left_out(draft, Reason.NO_VALUE, NO_PRICE))
            elif one.task.outcome is None:
                one.task.fail(self._connection, PRICE_MISSING)
        fetched = [one for one in fetched if one.task.outcome is None]
        # What a round reads again is not new.
        known = known_trades(self._connection, [draft for one in fetched for draft in _new_drafts(one)])
        arrived = self._import([row for row in rows if row[0].task.outcome is None]) - known
        left_out = [each for one in fetched for each in one.left_out]
        new = save_left_out(self._connection, left_out, datetime.now(UTC))
        forget_left_out(self._connection, _read(fetched))
        unproven = [each for one in fetched for each in one.chunk.unproven]
        unproven = [each for each in unproven if not self._is_denied(each.drafts)]
        self._summary.named += save_named(self._connection, unproven, datetime.now(UTC))
        for one in fetched:
            counts = _new_counts(one)
            with self._connection.transaction():
                # What was read is not counted again.
                one.task.land(self._connection, one.chunk)
                if one.task.ranges:
                    report.add(self._connection, report.count_facts("left_out", counts))
            one.chunk.landed()
            if one.task.ranges:
                self._count(one, arrived)
            else:
                one.task.outcome = REMOVED
        self._summary.new_left_out += sum(each.is_signed for each in new)

    def finish(self, chains: Sequence[str]) -> list[Fact]:
        """Finish the summary, and return what made no trade, and how late new trades are."""
        for chain in chains:
            self._met[chain, EXPIRED] = expire_left_out(self._connection, chain, datetime.now(UTC))
        summary, met = self._summary, Counter[str]()
        for (_, reason), count in self._met.items():
            met[reason] += count
        summary.no_trades, summary.unsigned, summary.others = met[NO_TRADE], met[UNSIGNED], met[OTHERS]
        summary.from_logs, summary.denied = met[FROM_LOGS], met[DENIED]
        summary.reorganised = met[REORGANISED]
        summary.left_out = sum(met[reason] for reason in Reason)
        summary.unreadable = count_unreadable(self._connection, chains)
        facts = list(report.round_left_out_facts(chains, self._met))
        for chain, delays in self._delays.items():
            facts += report.delay_facts(chain, delays)
        return facts

    def _is_denied(self, drafts: Sequence[Draft]) -> bool:
        return all((draft.wallet.chain.name, draft.mint) in self._denied for draft in drafts)

    def _remember_blocks(self, one: FetchedChunk) -> None:
        """Remove what a reorganisation took away, and keep the hashes by which the next one is noticed."""
        chain, orphans, known = one.task.chain, one.chunk.orphans, len(one.task.known)
        if orphans:
            removed = remove_orphans(self._connection, chain, orphans)
            one.chunk.counts[REORGANISED] += removed
            log.warning("%s: removed %d trades of %d orphaned blocks", chain, removed, len(orphans))
            if len(orphans) >= known:
                deeper = (
                    "%s: the reorganisation is deeper than the %d blocks that are kept: trades of orphaned"
                    " blocks before block %d stay"
                )
                log.warning(deeper, chain, known, min(block.number for block in orphans))
        save_blocks(self._connection, chain, one.chunk.blocks)
        if one.chunk.final is not None:
            save_final(self._connection, chain, one.chunk.final)

    def _import(self, rows: Sequence[tuple[FetchedChunk, Draft, NativeValue]]) -> set[tuple[int, str]]:
        """Import the rows, and return the wallets and signatures of those that are not rejected."""

        def reject(number: int, line: bytes, fault: BadRow) -> None:
            rejected[number] = fault.rule

        while rows:
            rejected: dict[int, str] = {}
            wallets = (draft.wallet for _, draft, _ in rows)
            wallet_ids = {(str(one.chain.name), one.address): one.wallet_id for one in wallets}
            records = (
                (number, b"", trade_row(draft, value.native)) for number, (_, draft, value) in enumerate(rows)
            )
            derived = [number for number, (_, _, value) in enumerate(rows) if value.is_derived]
            try:
                options = TradeOptions(wallet_ids=wallet_ids, derived=derived)
                imported = import_trades(self._connection, records, reject, options)
            except WalletRemoved as error:
                rows = [row for row in rows if row[1].wallet.wallet_id not in error.wallet_ids]
                continue
            self._summary.trades += imported.landed
            accepted = [draft for number, (_, draft, _) in enumerate(rows) if number not in rejected]
            self.landed.update(draft.wallet.chain.name for draft in accepted)
            self._summary.changed += imported.changed
            for number, rule in rejected.items():
                one, draft, _ = rows[number]
                one.left_out.append(_left_out(draft, Reason.INVALID, rule))
            return {(draft.wallet.wallet_id, draft.tx_signature) for draft in accepted}
        return set()

    def _count(self, one: FetchedChunk, arrived: set[tuple[int, str]]) -> None:
        chain, chunk = one.task.chain, one.chunk
        for each in one.left_out:
            log.info("%s on %s: %s: %s", each.wallet.address, chain, each.tx_signature, each.detail)
            self._met[counted_as(each)] += 1
            if each.is_signed:
                self._summary.left_out_reasons[str(each.reason)][each.detail] += 1
        for name, count in chunk.counts.items():
            self._met[chain, name] += count
        self._met[chain, DENIED] += len(one.denied)
        self._summary.swaps += chunk.swaps
        now = datetime.now(UTC)
        moments = {
            (draft.wallet.wallet_id, draft.tx_signature): draft.created_at for draft in _new_drafts(one)
        }
        for transaction, moment in moments.items():
            if transaction in arrived:
                # Another chunk may have it too.
                arrived.remove(transaction)
                self._delays[chain].append(max(0.0, (now - moment).total_seconds()))


def _new_counts(one: FetchedChunk) -> Counter[tuple[str, str]]:
    """Return by chain and reason what made no trade, and was not counted before."""
    counts = Counter({(one.task.chain, name): count for name, count in one.chunk.counts.items()})
    synced_until = {each.wallet: each.synced_until for each in one.task.ranges}
    for draft in one.denied:
        until = synced_until.get(draft.wallet)
        # Those before it were counted when they were read first.
        counts[one.task.chain, DENIED] += until is None or draft.created_at > until
    return +counts


def _new_drafts(one: FetchedChunk) -> list[Draft]:
    """Return the trades that are new if the ledger does not have them."""
    after = {each.wallet: each.new_after for each in one.task.ranges}
    return [
        draft
        for draft in one.drafts
        if (start := after.get(draft.wallet)) is not None and draft.created_at > start
    ]


def _read(fetched: Sequence[FetchedChunk]) -> list[tuple[int, str]]:
    """Return the wallets and signatures of the transactions that could be read, with all of their trades."""
    read = {
        (each.wallet.wallet_id, each.tx_signature) for one in fetched for each in (*one.drafts, *one.denied)
    }
    read |= {(each.wallet.wallet_id, each.tx_signature) for one in fetched for each in one.chunk.reread}
    left = {(each.wallet.wallet_id, each.tx_signature) for one in fetched for each in one.left_out}
    return list(read - left)


def _left_out(draft: Draft, reason: Reason, detail: str) -> LeftOut:
    return LeftOut(draft.wallet, draft.tx_signature, reason, detail, draft.created_at)


def trade_row(draft: Draft, native: Decimal) -> TradeRow:
    """Return the row of a trade whose value in the native coin is known."""
    return TradeRow(
        blockchain=draft.wallet.chain.name,
        wallet_address=draft.wallet.address,
        tx_signature=draft.tx_signature,
        mint=draft.mint,
        transaction_type="sell" if draft.is_sell else "buy",
        token_amount=draft.token_amount,
        value=native,
        created_at=draft.created_at,
        # A name that is not known now removes none.
        token_name=draft.name or UNSET,
        value_usd=draft.value_usd,
        exchanged_value=draft.exchanged(native),
        **draft.place,
    )

"""The search: the first buyers of each token, the candidates among them, and the trades of these."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import BadRow
from wallet_api.chain.decoding.swaps import Reason
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.discovery.evm import EvmSource
from wallet_api.chain.discovery.launches import (
    Beginning,
    Launch,
    NotReached,
    Trades,
    candidates,
    joint_buyers,
)
from wallet_api.chain.discovery.purse import Purse, Spent
from wallet_api.chain.discovery.ranking import rank
from wallet_api.chain.discovery.results import Results, SavingNode
from wallet_api.chain.discovery.solana import SolanaSource
from wallet_api.chain.providers.faults import Broken, Malformed, ProviderFault, Rejected, TooLarge
from wallet_api.chain.sync.importer import trade_row
from wallet_api.chain.sync.prices import Prices
from wallet_api.chain.sync.sources import node_url, trade_limits
from wallet_api.chain.sync.values import value_drafts
from wallet_api.database import Connection
from wallet_api.settings import Settings

# The part of all requests that finding first buyers may take, so that some remain for their trades.
_FOR_FIRST = 3 / 4
# After so many faults without any result between them the search ends.
_FAULTS = 4

FirstBuyers = EvmSource | SolanaSource
"""The node of a chain. Its methods raise ProviderFault; what they have yielded was right."""


@dataclass(frozen=True, slots=True)
class Search:
    """The tokens, how many first buyers of each are read, and in how many tokens a candidate was early."""

    mints: Sequence[str]
    first: int
    min_tokens: int
    since: Mapping[str, Beginning] = field(default_factory=dict)


@dataclass(slots=True)
class Discovered:
    """What was found. `unread` are candidates whose trades were not all read, and who are not ranked."""

    launches: list[Launch]
    trades: Trades
    candidates: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Return whether all that was wanted could be read."""
        return not self.unread and all(launch.is_whole for launch in self.launches)

    @property
    def read(self) -> list[str]:
        """Return the candidates whose trades were all read."""
        return [address for address in self.candidates if address not in set(self.unread)]


@contextmanager
def node_source(
    settings: Settings, chain: str, mints: Sequence[str], purse: Purse, results: Results
) -> Iterator[Callable[[], FirstBuyers]]:
    """Yield what makes the source of a chain. Raise SettingsError."""
    node = SavingNode(node_url(settings, chain), trade_limits(settings), purse, results)

    def make() -> FirstBuyers:
        if CHAINS[chain].is_evm:
            return EvmSource(CHAINS[chain], node, settings.chain(chain).confirm_seconds, mints)
        return SolanaSource(node, mints)

    with closing(node.fetcher):
        yield make


def find_first_buyers(
    open_source: Callable[[], FirstBuyers],
    wanted: Search,
    purse: Purse,
    results: Results,
    note: Callable[[str], None],
) -> Discovered:
    """Return the first buyers of the tokens, and the trades of those that were early in enough of them.

    What the purse has no requests for is left out, and said. After a fault that may pass it begins again with
    what the node has returned. Raise ProviderFault.
    """
    faults, before = 0, -1
    while True:
        try:
            return _search(open_source(), wanted, purse, results, note)
        except ProviderFault as fault:
            if isinstance(fault, Malformed | Broken):
                # What contradicts itself may be among the last results.
                results.discard()
            faults = 1 if len(results) > before else faults + 1
            before = len(results)
            if not fault.worth_retrying or faults >= _FAULTS:
                raise
            pause = fault.retry_after_seconds or purse.hold_seconds * 2**faults
            note(f"{fault.message} It is requested again in {pause:.0f} s.")
            time.sleep(pause)


def _search(
    source: FirstBuyers, wanted: Search, purse: Purse, results: Results, note: Callable[[str], None]
) -> Discovered:
    found = Discovered([Launch(mint) for mint in wanted.mints], Trades(frozenset(wanted.mints)))
    for number, launch in enumerate(found.launches):
        share = (_FOR_FIRST * purse.most - purse.spent) / (len(found.launches) - number)
        with purse.allowance(max(0, int(share))):
            _read_first(source, wanted, launch, found.trades, results)
        note(f"{launch.mint}: {describe(launch, wanted.first)}; {purse.remaining:,} requests left")
    refusals = [launch.refusal for launch in found.launches if launch.refusal is not None]
    if len(refusals) == len(found.launches):
        raise refusals[0]
    found.candidates = candidates(found.launches, wanted.min_tokens)
    found.unread = list(found.candidates)
    if found.candidates:
        note(f"{len(found.candidates):,} candidates were early in {wanted.min_tokens} or more of them")
        with suppress(Spent):
            for readings, done in source.trades_of(found.candidates, found.launches):
                results.confirm()
                found.trades.add(readings)
                found.unread = [address for address in found.unread if address not in done]
        note(f"{len(found.read):,} of them are read; {purse.remaining:,} requests left")
    return found


def _read_first(
    source: FirstBuyers, wanted: Search, launch: Launch, trades: Trades, results: Results
) -> None:
    """Find where a token begins, and read its first buyers, as far as the purse allows."""
    try:
        launch.first_block = source.first_block(launch.mint, wanted.since.get(launch.mint))
        results.confirm()
        for readings in source.first_buys(launch.mint, launch.first_block):
            results.confirm()
            trades.add(readings)
            if launch.add(readings, wanted.first):
                break
        launch.is_whole = True
    except NotReached as error:
        launch.why = str(error)
    except (Rejected, TooLarge) as fault:
        # Of this token: others may be read.
        launch.refusal = fault
        launch.why = f"the node refused {fault.detail}"
    except Spent:
        if launch.first_block is None:
            launch.why = (
                "its beginning is not reached with these requests; run the command again to go on, or give it"
                " (--since)"
            )


def describe(launch: Launch, first: int) -> str:
    """Return in words how far a token was read."""
    if launch.first_block is None:
        return f"nobody is ranked as first: {launch.why}"
    buyers = f"{len(launch.buyers):,} first buyers"
    if launch.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(launch.left_out.items()))
        buyers += f" (left out, perhaps earlier ones: {reasons})"
    if launch.is_whole:
        return buyers
    return f"{buyers} of {first:,}; {launch.why or 'run the command again to go on'}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """The sums of the candidates that were read, the best first, and those of each of their tokens.

    Beside them who bought together, and what is left out of each.
    """

    wallets: Sequence[Mapping[str, Any]]
    positions: Mapping[tuple[str, str], Mapping[str, Any]]
    joint: Mapping[str, Sequence[str]]
    left_out: Mapping[str, Mapping[str, int]]


def rank_found(connection: Connection, prices: Prices, found: Discovered) -> Ranking:
    """Rank the candidates that were read. What the ledger would not accept is left out, and counted."""
    drafts = found.trades.drafts_of(set(found.read))
    values, _ = value_drafts(connection, prices, drafts)
    now = datetime.now(UTC)
    trades: list[tuple[Draft, str, str]] = []
    for draft, value in zip(drafts, values, strict=True):
        key = draft.wallet.address, draft.tx_signature
        if value is None:
            found.trades.left_out[key] = str(Reason.NO_VALUE)
            continue
        try:
            amount, native, *_ = trade_row(draft, value.native).check(now)
        except BadRow:
            found.trades.left_out[key] = str(Reason.INVALID)
            continue
        assert isinstance(native, str)
        trades.append((draft, amount, native))
    early = [
        (address, launch.mint)
        for launch in found.launches
        if launch.first_block is not None
        for address in launch.buyers
    ]
    return Ranking(
        *rank(connection, trades, early),
        joint_buyers([draft for draft, _, _ in trades]),
        found.trades.reasons(found.read),
    )

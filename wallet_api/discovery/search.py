"""The search: the first buyers of each token, the candidates among them, and the trades of these."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from wallet_api.database import Connection
from wallet_api.decoding.swaps import Reason
from wallet_api.decoding.trades import Draft
from wallet_api.discovery.kept import Kept
from wallet_api.discovery.launches import (
    FirstBuyers,
    Launch,
    NotReached,
    Since,
    Trades,
    candidates,
    together,
)
from wallet_api.discovery.purse import Purse, Spent
from wallet_api.discovery.ranking import Sums, rank
from wallet_api.forms import BadRow
from wallet_api.providers.faults import Broken, Malformed, ProviderFault, Rejected, TooLarge
from wallet_api.sync.importer import trade_row
from wallet_api.sync.prices import Prices
from wallet_api.sync.values import value_drafts

# The part of all requests that finding first buyers may take, so that some remain for their trades.
_FOR_FIRST = 3 / 4
# After so many faults without any result between them the search ends.
_FAULTS = 4

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The tokens, how many first buyers of each are read, and in how many tokens a candidate was early."""

    mints: Sequence[str]
    first: int
    min_tokens: int
    since: Mapping[str, Since] = field(default_factory=dict)


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


def search_patiently(
    open_source: Callable[[], FirstBuyers],
    wanted: Wanted,
    purse: Purse,
    kept: Kept,
    note: Note,
    pause_seconds: float,
) -> Discovered:
    """Search as search(); after a fault that may pass, begin again with what is kept. Raise ProviderFault."""
    faults, before = 0, -1
    while True:
        try:
            found = search(open_source(), wanted, purse, kept, note)
        except ProviderFault as fault:
            # What contradicts itself may be among the last results.
            (kept.discard if isinstance(fault, Malformed | Broken) else kept.keep)()
            faults = 1 if len(kept) > before else faults + 1
            before = len(kept)
            if not fault.worth_retrying or faults >= _FAULTS:
                raise
            pause = fault.retry_after_seconds or pause_seconds * 2**faults
            note(f"{fault.message} It is requested again in {pause:.0f} s.")
            time.sleep(pause)
        except BaseException:
            kept.keep()
            raise
        else:
            kept.keep()
            return found


def search(source: FirstBuyers, wanted: Wanted, purse: Purse, kept: Kept, note: Note) -> Discovered:
    """Return the first buyers of the tokens, and the trades of those that were early in enough of them.

    What the purse has no requests for is left out, and said. Raise ProviderFault.
    """
    found = Discovered([Launch(mint) for mint in wanted.mints], Trades(frozenset(wanted.mints)))
    for number, launch in enumerate(found.launches):
        share = (_FOR_FIRST * purse.most - purse.spent) / (len(found.launches) - number)
        with purse.allowance(max(0, int(share))):
            _read_first(source, wanted, launch, found.trades, kept)
        note(f"{launch.mint}: {describe(launch, wanted.first)}; {purse.left:,} requests left")
    refusals = [launch.refusal for launch in found.launches if launch.refusal is not None]
    if len(refusals) == len(found.launches):
        raise refusals[0]
    found.candidates = candidates(found.launches, wanted.min_tokens)
    found.unread = list(found.candidates)
    if found.candidates:
        note(f"{len(found.candidates):,} candidates were early in {wanted.min_tokens} or more of them")
        try:
            for own in source.own(found.candidates, found.launches):
                found.trades.add(own.readings)
                kept.keep()
                if own.done:
                    done = set(own.done)
                    found.unread = [address for address in found.unread if address not in done]
        except Spent:
            kept.keep()
        note(f"{len(found.read):,} of them are read; {purse.left:,} requests left")
    return found


def _read_first(source: FirstBuyers, wanted: Wanted, launch: Launch, trades: Trades, kept: Kept) -> None:
    """Find where a token begins, and read its first buyers, as far as the purse allows."""
    try:
        launch.beginning = source.beginning(launch.mint, wanted.since.get(launch.mint))
        kept.keep()
        for readings in source.first(launch.mint, launch.beginning):
            kept.keep()
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
        kept.keep()
        if launch.beginning is None:
            launch.why = (
                "its beginning is not reached with these requests; run the command again to go on, or give it"
                " (--since)"
            )


def describe(launch: Launch, first: int) -> str:
    """Return in words how far a token was read."""
    if launch.beginning is None:
        return f"nobody is ranked as first: {launch.why}"
    buyers = f"{len(launch.buyers):,} first buyers"
    if launch.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(launch.left_out.items()))
        buyers += f" (left out, perhaps earlier ones: {reasons})"
    if launch.is_whole:
        return buyers
    return f"{buyers} of {first:,}; {launch.why or 'run the command again to go on'}"


@dataclass(frozen=True, slots=True)
class Judged:
    """The sums of the candidates that were read, the best first, and those of each of their tokens.

    Beside them who bought together, and what is left out of each.
    """

    wallets: Sequence[Sums]
    positions: Mapping[tuple[str, str], Sums]
    together: Mapping[str, Sequence[str]]
    left_out: Mapping[str, Mapping[str, int]]


def judge(connection: Connection, prices: Prices, found: Discovered) -> Judged:
    """Rank the candidates that were read. What the ledger would not accept is left out, and counted."""
    drafts = found.trades.of(set(found.read))
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
        if launch.beginning is not None
        for address in launch.buyers
    ]
    return Judged(
        *rank(connection, trades, early),
        together([draft for draft, _, _ in trades]),
        found.trades.reasons(found.read),
    )

"""What is found of a token's first buyers and of their trades. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.providers.faults import ProviderFault

TOGETHER = timedelta(seconds=5)
"""Two wallets whose first buys of a token are not further apart have bought it together."""


class NotReached(Exception):
    """The beginning of a token cannot be shown. The message is the reason."""


Beginning = int | datetime | str
"""Where a token begins, as the operator states it: a block, a time, or the address of its pool."""


@dataclass(frozen=True, slots=True)
class ReadTransaction:
    """What a transaction was for a wallet: its trades, or why it is left out or no trade."""

    address: str
    tx_signature: str
    drafts: Sequence[Draft] = ()
    why: str | None = None


@dataclass(slots=True)
class Launch:
    """A token, the block (a slot) in which it begins, and its first buyers in their order, each with a block.

    Without a first block nobody is first, and `why` says why; `refusal` is that of the node, if it refused to
    return more. `left_out` counts by reason the transactions that could not be read, in which somebody may
    have bought earlier. `is_whole` is whether all wanted buyers were read, or all that there are.
    """

    mint: str
    first_block: int | None = None
    why: str = ""
    buyers: dict[str, int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    is_whole: bool = False
    refusal: ProviderFault | None = None

    def add(self, readings: Sequence[ReadTransaction], first: int) -> bool:
        """Add readings in their order; return whether the first buyers are complete."""
        for reading in readings:
            if reading.why is not None:
                self.left_out[reading.why] += 1
            bought = [each for each in reading.drafts if each.mint == self.mint and not each.is_sell]
            if bought and len(self.buyers) < first:
                self.buyers.setdefault(reading.address, bought[0].block or 0)
        return len(self.buyers) >= first

    def is_in_first_block(self, address: str) -> bool:
        """Return whether a wallet bought in the block in which the token begins."""
        return self.first_block is not None and self.buyers.get(address) == self.first_block


def candidate_wallets(chain: Chain) -> Callable[[str], TrackedWallet]:
    """Return what returns the wallet of an address in stored form. No wallet of the ledger has their ids."""
    known: dict[str, TrackedWallet] = {}
    return lambda address: known.setdefault(address, TrackedWallet(-1 - len(known), chain, address))


@dataclass(slots=True)
class Trades:
    """The trades of candidates, and what is left out of them: each transaction as it was read last."""

    mints: Collection[str]
    drafts: dict[tuple[str, str], list[Draft]] = field(default_factory=dict)
    left_out: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, readings: Sequence[ReadTransaction]) -> None:
        """Add readings; those of other tokens are no part of it."""
        for reading in readings:
            key = reading.address, reading.tx_signature
            self.drafts.pop(key, None)
            self.left_out.pop(key, None)
            if reading.why is not None:
                self.left_out[key] = reading.why
            elif drafts := [draft for draft in reading.drafts if draft.mint in self.mints]:
                self.drafts[key] = drafts

    def drafts_of(self, addresses: Collection[str]) -> list[Draft]:
        """Return the trades of these wallets."""
        return [
            each for (address, _), drafts in self.drafts.items() if address in addresses for each in drafts
        ]

    def reasons(self, addresses: Collection[str]) -> dict[str, Counter[str]]:
        """Return what is left out of these wallets, by reason."""
        reasons: dict[str, Counter[str]] = {address: Counter() for address in addresses}
        for (address, _), why in self.left_out.items():
            if address in reasons:
                reasons[address][why] += 1
        return reasons


def candidates(launches: Sequence[Launch], min_tokens: int) -> list[str]:
    """Return the wallets that were early in so many tokens, those of most tokens first."""
    early = Counter(
        address for launch in launches if launch.first_block is not None for address in launch.buyers
    )
    return [address for address, count in early.most_common() if count >= min_tokens]


def joint_buyers(drafts: Sequence[Draft]) -> dict[str, list[str]]:
    """Return by wallet those that bought the same tokens, and each of them together with it."""
    first: dict[str, dict[str, datetime]] = {}
    for draft in sorted(drafts, key=lambda each: each.created_at):
        if not draft.is_sell:
            first.setdefault(draft.wallet.address, {}).setdefault(draft.mint, draft.created_at)
    groups: dict[frozenset[str], list[str]] = {}
    for address, mints in first.items():
        groups.setdefault(frozenset(mints), []).append(address)

    def is_near(one: str, other: str) -> bool:
        return all(abs(moment - first[other][mint]) <= TOGETHER for mint, moment in first[one].items())

    return {
        address: [one for one in groups[frozenset(mints)] if one != address and is_near(address, one)]
        for address, mints in first.items()
    }

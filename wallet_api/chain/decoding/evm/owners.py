"""Who gained and lost what in an EVM transaction, within what a wallet consented to."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Self, TypeVar

from wallet_api.chain.decoding.changes import Changes, is_exchange
from wallet_api.chain.decoding.evm.consent import Consent
from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.logs import Event, EvmMove, Logs, Wrap, signed
from wallet_api.chain.decoding.evm.receipts import ZERO
from wallet_api.chain.decoding.evm.taxes import own_sales
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.venues import Role

LENDING = frozenset(venue.address for venue in EVM if venue.role == Role.LENDING)
# A part of what moved that is no exchange of its own, but left over.
_CRUMB = 1000
_Placed = TypeVar("_Placed", EvmMove, Wrap, Event)


@dataclass(slots=True)
class EvmOwners:
    """The changes of `wallet` (`mine`) and of all `others`; wrapped coin counts as the native coin (None).

    Without `balances` the native coin of others is what the logs of pools say, and what was wrapped and
    unwrapped came to its owner, or left it, as native coin.
    """

    wallet: TrackedWallet
    logs: Logs
    moves: Sequence[EvmMove]
    wraps: Sequence[Wrap]
    events: Sequence[Event]
    # The native coin that the wallet sent with the transaction.
    paid: int
    mine: Changes = field(default_factory=Counter)
    others: defaultdict[str, Changes] = field(default_factory=lambda: defaultdict(Counter))
    exchangers: dict[str, Changes] = field(default_factory=dict)
    # Tokens that sell for themselves what they keep as a tax.
    taxing: set[str] = field(default_factory=set)
    # What pools that hold native coin have got of it and (negative) given.
    pooled: int = 0
    _pools: set[str] = field(default_factory=set)
    by_owner: defaultdict[str, list[EvmMove]] = field(default_factory=lambda: defaultdict(list))
    # Money, and the tokens of the wallet: their logs are true of them.
    _trusted: set[str | None] = field(default_factory=set)
    # Through whom they went, and how much of them at once: by owner, whether he gave, and units.
    _seen_at: set[str] = field(default_factory=set)
    _seen: set[tuple[str, bool, int]] = field(default_factory=set)
    # The exchangers of each token, without what did not change.
    _parties: defaultdict[str | None, list[Changes]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def read(cls, evidence: EvmEvidence, consent: Consent, balances: Mapping[str, int] | None = None) -> Self:
        """Return the changes within the consent, with those of the native balances if they are known.

        Those of the logs alone are read once, though a decision begins again with each answer.
        """
        key = None if balances is not None else (consent.is_signed, tuple(consent.spans))
        owners: Self | None = evidence.owners.get(key)
        if owners is not None:
            return owners
        logs, wallet = evidence.logs, evidence.wallet
        sold = {move.mint for move in logs.by_owner.get(wallet.address, ()) if move.giver == wallet.address}
        other = own_sales(logs, sold)
        owners = cls(
            wallet,
            logs,
            _within(logs.moves, consent, other),
            _within(logs.wraps, consent, other),
            _within(logs.events, consent, other),
            evidence.value if logs.sender == wallet.address else 0,
            taxing={move.giver for move in logs.moves if move.place in other and move.giver == move.mint},
        )
        for move in owners.moves:
            owners._change(move.giver, move.mint, -move.units)
            owners._change(move.taker, move.mint, move.units)
            owners.by_owner[move.giver].append(move)
            owners.by_owner[move.taker].append(move)
        for wrap in owners.wraps:
            owners._change(wrap.owner, None, wrap.units)
        owners._add_pools(is_known=balances is not None)
        if balances is not None:
            fee = logs.receipt.fee
            for owner, units in balances.items():
                if owner != wallet.address:
                    owners.others[owner][None] += units + (fee if owner == logs.sender else 0)
        owners._find_exchangers()
        if key is not None:
            evidence.owners[key] = owners
        return owners

    def parties(self, mint: str | None) -> Sequence[Changes]:
        """Return the changes of those that exchanged a token, without what did not change."""
        for each in () if self._parties else self.exchangers.values():
            changes = Counter({one: units for one, units in each.items() if units})
            for one in changes:
                self._parties[one].append(changes)
        return self._parties.get(mint, ())

    @property
    def own_wraps(self) -> int:
        """Return the coin that the wallet itself wrapped, less what it unwrapped."""
        return sum(wrap.units for wrap in self.wraps if wrap.owner == self.wallet.address)

    @property
    def deposited(self) -> int:
        """Return the coin that others wrapped."""
        owner = self.wallet.address
        return sum(wrap.units for wrap in self.wraps if wrap.units > 0 and wrap.owner != owner)

    @property
    def withdrawn(self) -> int:
        """Return the coin that others unwrapped."""
        owner = self.wallet.address
        return -sum(wrap.units for wrap in self.wraps if wrap.units < 0 and wrap.owner != owner)

    def issued(self, mint: str) -> int:
        """Return the units that the token's contract burned and (negative) minted."""
        issuers = [issuer for issuer in {ZERO, mint} if issuer not in self.exchangers]
        return sum(self.others[issuer][mint] for issuer in issuers if issuer in self.others)

    def is_share(self, mint: str) -> bool:
        """Return whether what the wallet got or gave of a token was minted or burned for it."""
        units, issued = self.mine[mint], self.issued(mint)
        return units * issued < 0 and abs(issued) * 5 >= abs(units) * 4

    def _change(self, owner: str, mint: str | None, units: int) -> None:
        changes = self.mine if owner == self.wallet.address else self.others[owner]
        changes[mint] += units

    def _index(self) -> None:
        """Index, once, what went where of the money and of the wallet's tokens."""
        if self._trusted:
            return
        self._trusted = {None, *self.wallet.chain.stable_mints, *self.mine}
        for move in self.moves:
            if move.mint in self._trusted:
                self._seen_at |= {move.giver, move.taker}
                self._seen |= {(move.giver, True, move.units), (move.taker, False, move.units)}

    def _find_exchangers(self) -> None:
        """Find the owners that gave one thing for another, but for crumbs of what moved of a token."""
        largest: dict[str | None, int] = {}
        for changes in (self.mine, *self.others.values()):
            for mint, units in changes.items():
                if abs(units) > largest.get(mint, -1):
                    largest[mint] = abs(units)
        for owner, changes in self.others.items():
            if len(changes) > 1 and owner != ZERO and owner not in LENDING:
                whole = [units for mint, units in changes.items() if abs(units) * _CRUMB >= largest[mint]]
                if min(whole, default=0) < 0 < max(whole, default=0) and not self._is_deposit(owner):
                    self.exchangers[owner] = changes
        self._join_vaults()

    def _is_deposit(self, owner: str) -> bool:
        """Return whether a contract logged what it got or what it gave, but nothing with both.

        So do those that pay a reward when something is deposited, or lend.
        """
        if owner in self._pools:
            return False
        taken, given = Counter[str | None](), Counter[str | None]()
        amounts: tuple[set[int], set[int]] = (set(), set())
        for move in self.by_owner.get(owner, ()):
            side = move.giver == owner
            (given if side else taken)[move.mint] += move.units
            amounts[side].add(move.units)
        amounts[0].update(taken.values())
        amounts[1].update(given.values())
        logged = [
            {bool(amounts[0] & values), bool(amounts[1] & values)} for values in self.logs.amounts_of(owner)
        ]
        return {True, False} in logged and {True} not in logged

    def _join_vaults(self) -> None:
        """Join the owners of two vaults, of which one got and the other one gave what a pool logged."""
        events = [event for event in self.events if event.venue.role == Role.VAULTS]
        if events:
            self._index()
        lone: defaultdict[int, list[Changes]] = defaultdict(list)
        for owner, changes in self.others.items() if events else ():
            if len(changes) == 1 and owner not in self.exchangers:
                lone[next(iter(changes.values()))].append(changes)
        for event in events:
            got, gave = (event.values[place] for place in event.venue.places)
            vaults = [*lone.get(got, ()), *lone.get(-gave, ())]
            if len(vaults) == 2:
                pool: Changes = Counter(vaults[0])
                pool.update(vaults[1])
                if is_exchange(pool) and self._trusted & pool.keys():
                    self.exchangers[event.emitter] = pool

    def _add_pools(self, *, is_known: bool) -> None:
        """Find the pools, and add their native coin as they logged it, unless it is known from balances."""
        swaps: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for event in self.events:
            if event.venue.role in (Role.POOL, Role.MANAGER) and (swap := self._swap(event)) is not None:
                swaps[event.venue.holder or event.emitter].append(swap)
        self._pools |= swaps.keys()
        self._pools |= {event.emitter for event in self.events if event.venue.role == Role.SWAP}
        wrapped: Counter[str] = Counter()
        for wrap in self.wraps:
            wrapped[wrap.owner] += wrap.units
        for holder, amounts in () if is_known else swaps.items():
            moves = self.by_owner.get(holder, ())
            taken = {move.units for move in moves if move.taker == holder}
            given = {move.units for move in moves if move.giver == holder}
            got, gave = (sum(side) for side in zip(*amounts, strict=True))
            coin = 0 if got in taken else sum(units for units, _ in amounts if units not in taken)
            coin -= 0 if gave in given else sum(units for _, units in amounts if units not in given)
            # What it wraps or unwraps itself, it keeps.
            coin -= wrapped[holder]
            self.others[holder][None] += coin
            self.pooled += coin

    def _swap(self, event: Event) -> tuple[int, int] | None:
        """Return what a pool got and gave by its log, if it can be believed; else None.

        It is of a known contract, or the money or the wallet's token of one of its amounts went through it.
        """
        places = event.venue.places
        if len(event.values) <= max(places):
            return None
        got, *middle, gave = (event.values[place] for place in places)
        if middle:
            # Coin and tokens that came in, then those that went out.
            got, gave = got or middle[0], middle[1] or gave
        elif event.venue.role == Role.MANAGER:
            amounts = sorted(signed((got, gave)))
            got, gave = -amounts[0], amounts[1]
        if event.is_known:
            return got, gave
        self._index()
        holder = event.venue.holder or event.emitter
        is_seen = got == self.paid or (holder, False, got) in self._seen or (holder, True, gave) in self._seen
        return (got, gave) if is_seen and got > 0 and gave > 0 else None

    def is_seen_at(self, owner: str) -> bool:
        """Return whether money, or a token of the wallet, went through an owner."""
        self._index()
        return owner in self._seen_at


def _within(logs: Sequence[_Placed], consent: Consent, other: Set[int]) -> Sequence[_Placed]:
    """Return those that a consent covers, but for those at other places."""
    if consent.is_signed and not other:
        return logs
    return [one for one in logs if one.place not in other and consent.covers(one.place)]

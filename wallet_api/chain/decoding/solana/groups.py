"""What the moves inside one call of a Solana transaction are for a wallet, and who is its other side."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from wallet_api.chain.decoding.changes import FEES, Changes, added, agrees, is_exchange
from wallet_api.chain.decoding.solana.moves import Kind, SolanaMove, SolanaMoves, changes_by_owner
from wallet_api.chain.decoding.solana.transactions import OUTSIDE

# Who took back more than such a part of what it gave of a token keeps a position of the wallet.
_POSITION = 50


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the wallet gained and lost in a call, and the changes of its counterparts in it.

    `onward` is coin that the wallet sent on in the call after it had received it, which is not in `mine`.
    `others` are the changes of those that exchanged the same as the wallet, such as another buyer.
    """

    mine: Changes
    parties: Sequence[Changes]
    others: Changes
    onward: Sequence[SolanaMove]
    is_consented: bool


class _Counterpart(NamedTuple):
    """One that gave one thing for another, or the owners of the vaults of one pool, and what they moved."""

    owners: AbstractSet[str]
    changes: Changes


# What the wallet exchanged, the moves left over, and what else moved in pools.
_Found = tuple[Exchange | None, list[SolanaMove], Changes]


class _Group:
    """The moves inside a call, `top`, or what is left of the transaction (OUTSIDE)."""

    def __init__(self, wallet: str, read: SolanaMoves, inside: list[SolanaMove], top: int) -> None:
        self.wallet = wallet
        self.read = read
        self.inside = inside
        self.top = top
        changes = changes_by_owner(inside)
        own = {self.wallet, ""}
        self.dealers = {owner for owner, each in changes.items() if owner not in own and is_exchange(each)}
        self.moved = [move for move in inside if move.kind is not Kind.RENT or move.taker in self.dealers]
        self.moved_by = changes if len(self.moved) == len(inside) else changes_by_owner(self.moved)
        self.onward: Sequence[SolanaMove] = ()
        self._keep(_onward_of(self.moved, self.wallet, self.dealers))

    def _keep(self, onward: Sequence[SolanaMove]) -> None:
        """Take out what was sent on, if without it the wallet exchanged one token for coin."""
        kept = added((self.mine,))
        for move in onward:
            kept[move.mint] += move.units
        tokens = [units for mint, units in kept.items() if mint is not None and units]
        if onward and len(tokens) == 1 and tokens[0] * kept[None] < 0:
            self.onward = onward
            self.moved = [move for move in self.moved if move not in onward]
            self.moved_by = changes_by_owner(self.moved)

    @property
    def mine(self) -> Changes:
        return self.moved_by.get(self.wallet) or Counter()

    @property
    def tokens(self) -> list[str]:
        return [mint for mint, units in self.mine.items() if mint is not None and units]

    @cached_property
    def positions(self) -> AbstractSet[str]:
        """Return who both gave to the wallet and took from it the same token, more than a fee of it."""
        gave: Counter[tuple[str, str]] = Counter()
        took: Counter[tuple[str, str]] = Counter()
        for move in self.moved:
            if move.mint is not None and move.taker == self.wallet:
                gave[move.giver, move.mint] += move.units
            elif move.mint is not None and move.giver == self.wallet:
                took[move.taker, move.mint] += move.units
        both = ((gave[key], took[key], key[0]) for key in gave.keys() & took.keys())
        return {
            owner for given, taken, owner in both if min(given, taken) * _POSITION > max(given, taken)
        } - {""}

    @cached_property
    def alike(self) -> AbstractSet[str]:
        """Return who moved a token as the wallet did, and nothing the other way: other buyers or sellers."""
        return {owner for owner in self.dealers if self._moves_alike(self.moved_by[owner])}

    def _moves_alike(self, changes: Changes) -> bool:
        mine = self.mine
        if any(changes[mint] * mine[mint] < 0 for mint in mine):
            return False
        return any(changes[mint] * mine[mint] > 0 for mint in self.tokens)

    @cached_property
    def sides(self) -> Sequence[_Counterpart]:
        """Return who gave one thing for another, but for other buyers or sellers."""
        sides = [_Counterpart({owner}, self.moved_by[owner]) for owner in self.dealers - self.alike]
        return [*sides, *self._vaults()]

    def _vaults(self) -> Iterator[_Counterpart]:
        """Yield the pools with several owners, which one call (with all that it invoked) moved."""
        known = self.dealers | {self.wallet, ""}
        waiting: defaultdict[int, set[str]] = defaultdict(set)
        for move in self.moved:
            waiting[move.call] |= {move.giver, move.taker} - known
        # A call has a smaller number than those that it invoked.
        while waiting and (call := max(waiting)) > OUTSIDE:
            group = waiting.pop(call)
            pool = added(self.moved_by[owner] for owner in group)
            if is_exchange(pool):
                yield _Counterpart(group, pool)
                for others in waiting.values():
                    others -= group
            elif call != self.top:
                waiting[self.read.run[call].caller] |= group

    @cached_property
    def unjoined(self) -> AbstractSet[str]:
        """Return who neither signed, nor moved coin that no instruction states."""
        unstated = {
            owner
            for move in self.moved
            if move.mint is None and "" in move[:2]
            for owner in move[:2]
            if owner
        }
        agreed = unstated | self.read.signers
        return {owner for side in self.sides if side.owners.isdisjoint(agreed) for owner in side.owners}

    def is_other_side(self, without: AbstractSet[str] = frozenset()) -> bool:
        """Return whether others took some of what the wallet gave, and gave some of what it took."""
        moved = added(side.changes for side in self.sides if side.owners.isdisjoint(without))
        took = any(moved[mint] > 0 > units for mint, units in self.mine.items())
        return took and any(moved[mint] < 0 < units for mint, units in self.mine.items())

    def apart(self, owners: AbstractSet[str]) -> _Found:
        """Return what is found without the moves between the wallet and these owners, a pool of it."""
        left = [
            move for move in self.inside if not (self.wallet in move[:2] and not owners.isdisjoint(move[:2]))
        ]
        if len(left) == len(self.inside):
            return None, self.inside, self.mine
        return *find_exchange(self.wallet, self.read, left, self.top)[:2], self.mine

    def exchange(self) -> Exchange:
        parties = [side.changes for side in self.sides]
        others = added(self.moved_by[owner] for owner in self.alike)
        if self.top != OUTSIDE and not self._covers(added(parties), others):
            # A pool has an owner for each of its vaults, or one that takes a fee owns a vault.
            own = {self.wallet, ""}
            parties = [added(each for owner, each in self.moved_by.items() if owner not in own)]
            others = Counter()
        return Exchange(self.mine, parties, others, self.onward, self._is_consented())

    def _covers(self, moved: Changes, others: Changes) -> bool:
        """Return whether those that gave one thing for another are the wallet's counterpart."""
        mine, tokens = self.mine, self.tokens
        if not all(moved[mint] * mine[mint] < 0 for mint in tokens):
            return False
        return len(tokens) > 1 or agrees(-moved[None] - others[None], mine[None], FEES)

    def _is_consented(self) -> bool:
        """Return whether all that the wallet gave left it by its own authority."""
        if self.wallet in self.read.signers:
            return True
        given: Changes = Counter()
        for move in self.moved:
            if move.giver == self.wallet and move.is_consented:
                given[move.mint] += move.units
        return all(given[mint] >= -units for mint, units in self.mine.items() if units < 0)


def find_exchange(wallet: str, read: SolanaMoves, inside: list[SolanaMove], top: int) -> _Found:
    """Return what the wallet exchanged inside a call, the moves left over, and what else moved in pools.

    What joins moves of several calls is only that they are of one transaction. So of one that the wallet
    signs, the other side must have signed too, or no instruction states what it gave; else separate
    instructions paid something in and out.
    """
    nothing: _Found = None, inside, Counter()
    if not any(wallet in move[:2] for move in inside):
        return nothing
    group = _Group(wallet, read, inside, top)
    if not is_exchange(group.mine):
        return nothing
    if group.positions:
        # A pool in which the wallet has a position gave and took the same token.
        return group.apart(group.positions)
    if top == OUTSIDE:
        if not group.is_other_side():
            return nothing
        if wallet in read.signers and not group.is_other_side(group.unjoined):
            return group.apart(group.unjoined)
    return group.exchange(), [], Counter()


def _onward_of(moved: Sequence[SolanaMove], wallet: str, dealers: AbstractSet[str]) -> Sequence[SolanaMove]:
    """Return what the wallet sent on, after it had received some of it, to others that gave it nothing.

    What else they received is no part of the exchange either.
    """
    received = [move for move in moved if move.taker == wallet]
    partners = {move.giver for move in received} | dealers | {wallet, ""}
    given = [move for move in moved if move.giver == wallet and move.taker not in partners]
    # By token the place of the first step that brought some of it.
    since: dict[str | None, int] = {}
    for move in received:
        since[move.mint] = min(move.number, since.get(move.mint, move.number))
    onward = [move for move in given if since.get(move.mint, move.number) < move.number]
    friends = {move.taker for move in onward if move.mint is not None}
    return [*onward, *(move for move in given if move.taker in friends and move not in onward)]

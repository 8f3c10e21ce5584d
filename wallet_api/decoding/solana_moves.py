"""What a wallet exchanged in a Solana transaction, and with whom.

An exchange happens inside one call: the smallest one, with all that it invoked, in which the wallet gave one
thing and took another. The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from wallet_api.decoding.moves import FEES, Changes, added, agrees, exchanges
from wallet_api.decoding.solana import OUTSIDE, Step, Transaction
from wallet_api.decoding.solana_flows import Flow, Kind, SolanaFlows, flows_of
from wallet_api.decoding.solana_venues import SOLANA
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.venues import Role

_ORDERS = {venue.address: venue.places for venue in SOLANA if venue.role is Role.ESCROW}
_LENDING = frozenset(venue.address for venue in SOLANA if venue.role is Role.LENDING)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the wallet gained and lost in a call, and the changes of its counterparts in it.

    `onward` is coin that the wallet sent on in the call after it had received it, which is not in `mine`.
    `others` are the changes of those that exchanged the same as the wallet, such as another buyer.
    """

    mine: Changes
    parties: Sequence[Changes]
    others: Changes
    onward: Sequence[Flow]
    is_consented: bool


@dataclass(frozen=True, slots=True)
class Moves:
    """What a wallet moved: its exchanges, and the flows of all owners that belong to none of them.

    `owners` are the wallet, and the escrows of its orders that the transaction fills.
    """

    exchanges: Sequence[Exchange]
    rest: Sequence[Flow]
    total: Changes
    decimals: Mapping[str, int]
    owners: AbstractSet[str]
    is_signer: bool


def read_moves(wallet: TrackedWallet, transaction: Transaction) -> Moves:
    """Return what `wallet` moved in a transaction. Raise UnusableRow."""
    read = flows_of(wallet.chain.wrapped_mint, transaction)
    signers = transaction.signers
    is_signer = wallet.address in signers
    owners = {wallet.address} if is_signer else {wallet.address, *_escrows(wallet, read.run, signers)}
    flows = list(_without_nfts(read, owners))
    exchanges, rest = _by_call(flows, read.run, owners, is_signer=is_signer)
    held = added(changes for owner, changes in changes_of(flows).items() if owner in owners)
    return Moves(exchanges, rest, held, read.decimals, owners, is_signer)


def _escrows(wallet: TrackedWallet, run: Iterable[Step], signers: AbstractSet[str]) -> set[str]:
    """Return the owners that pay for orders of `wallet`, which it placed before and does not sign now."""
    escrows = set()
    for step in run:
        places = _ORDERS.get(step.program)
        if places is not None and len(step.accounts) > max(places):
            escrow, maker = (step.accounts[place] for place in places)
            if maker == wallet.address and escrow not in signers:
                escrows.add(escrow)
    return escrows


def _without_nfts(read: SolanaFlows, owners: AbstractSet[str]) -> Iterable[Flow]:
    """Yield what is no NFT, and no rent of others that came to the wallet."""
    held = added(changes for owner, changes in changes_of(read.flows).items() if owner in owners)
    unique = {mint for mint, decimals in read.decimals.items() if not decimals and abs(held[mint]) <= 1}
    unique |= read.unique
    for flow in read.flows:
        if flow.mint not in unique and not (flow.kind is Kind.REFUND and flow.taker in owners):
            yield flow


def _by_call(
    flows: Iterable[Flow], run: Sequence[Step], owners: AbstractSet[str], *, is_signer: bool
) -> tuple[list[Exchange], list[Flow]]:
    """Return the exchanges of the smallest calls, and the flows that belong to none."""
    found: list[Exchange] = []
    callers = {step.number: step.caller for step in run}
    waiting: defaultdict[int, list[Flow]] = defaultdict(list)
    for flow in flows:
        waiting[flow.call].append(flow)
    for step in reversed(run):
        inside = waiting.pop(step.number, [])
        # What is paid to a lender and comes from it is lent.
        if not inside or step.program in _LENDING:
            continue
        exchange = _exchange(inside, owners, callers, step.number, is_signer=is_signer)
        if exchange is None:
            waiting[step.caller] += inside
        else:
            found.append(exchange)
    rest = sorted(waiting[OUTSIDE], key=lambda flow: flow.number)
    exchange = _exchange(rest, owners, callers, OUTSIDE, is_signer=is_signer)
    return (found, rest) if exchange is None else ([*found, exchange], [])


def _exchange(
    inside: Sequence[Flow], owners: AbstractSet[str], callers: Mapping[int, int], top: int, *, is_signer: bool
) -> Exchange | None:
    """Return what the wallet exchanged in a call, or in what is left of the transaction; None for nothing."""
    dealers = {owner for owner, changes in changes_of(inside).items() if exchanges(changes)} - owners - {""}
    moved = [flow for flow in inside if flow.kind is not Kind.RENT or flow.taker in dealers]
    moved_by = changes_of(moved)
    mine = added(changes for owner, changes in moved_by.items() if owner in owners)
    onward = _onward(moved, owners, dealers)
    kept = added((mine, Counter()))
    for flow in onward:
        kept[flow.mint] += flow.units
    if _is_trade_for_coin(kept):
        mine = kept
        moved = [flow for flow in moved if flow not in onward]
        moved_by = changes_of(moved)
    else:
        onward = []
    if not exchanges(mine):
        return None
    tokens = [mint for mint, units in mine.items() if mint is not None and units]
    # Who moves a token as the wallet does, and nothing the other way, is another buyer or seller.
    same = {
        owner
        for owner in dealers
        if any(moved_by[owner][mint] * mine[mint] > 0 for mint in tokens)
        and not any(moved_by[owner][mint] * mine[mint] < 0 for mint in mine)
    }
    parties = [moved_by[owner] for owner in dealers - same]
    parties += _vaults(moved, moved_by, owners | dealers, callers, top)
    others = added(moved_by[owner] for owner in same)
    if top == OUTSIDE:
        # Several calls have in common only that they are of one transaction.
        if not _is_other_side(added(parties), mine):
            return None
    elif not _covers(parties, others, mine, tokens):
        parties, others = (
            [added(changes for owner, changes in moved_by.items() if owner not in {*owners, ""})],
            Counter(),
        )
    is_consented = is_signer or _consents(moved, owners, mine)
    return Exchange(mine, parties, others, onward, is_consented)


def _consents(moved: Sequence[Flow], owners: AbstractSet[str], mine: Changes) -> bool:
    """Return whether all that the wallet gave left it by its own authority."""
    given: Changes = Counter()
    for flow in moved:
        if flow.giver in owners and flow.is_consented:
            given[flow.mint] += flow.units
    return all(given[mint] >= -units for mint, units in mine.items() if units < 0)


def _vaults(
    moved: Iterable[Flow],
    moved_by: Mapping[str, Changes],
    known: AbstractSet[str],
    callers: Mapping[int, int],
    top: int,
) -> Iterator[Changes]:
    """Yield the changes of pools with several owners, which one call (with all that it invoked) moved."""
    waiting: defaultdict[int, set[str]] = defaultdict(set)
    for flow in moved:
        waiting[flow.call] |= {flow.giver, flow.taker} - known - {""}
    # A call has a smaller number than those that it invoked.
    while waiting and (call := max(waiting)) > OUTSIDE:
        group = waiting.pop(call)
        pool = added(moved_by[owner] for owner in group)
        if exchanges(pool):
            yield pool
            for others in waiting.values():
                others -= group
        elif call != top:
            waiting[callers[call]] |= group


def _is_other_side(moved: Changes, mine: Changes) -> bool:
    """Return whether others took some of what the wallet gave, and gave some of what the wallet took."""
    took = any(moved[mint] > 0 > units for mint, units in mine.items())
    return took and any(moved[mint] < 0 < units for mint, units in mine.items())


def _covers(parties: Iterable[Changes], others: Changes, mine: Changes, tokens: Iterable[str]) -> bool:
    """Return whether those that gave one thing for another are the wallet's counterpart.

    They are not if a pool has an owner for each of its vaults, or if one that takes a fee owns a vault.
    """
    moved = added(parties)
    if not all(moved[mint] * mine[mint] < 0 for mint in tokens):
        return False
    return len(tuple(tokens)) > 1 or agrees(-moved[None] - others[None], mine[None], FEES)


def _onward(moved: Iterable[Flow], owners: AbstractSet[str], dealers: AbstractSet[str]) -> list[Flow]:
    """Return what the wallet sent on, after it had received some of it, to others that gave it nothing.

    What else they received is no part of the exchange either.
    """
    moved = list(moved)
    givers = {flow.giver for flow in moved if flow.taker in owners}
    received: set[str | None] = set()
    onward: list[Flow] = []
    for flow in sorted(moved, key=lambda flow: flow.number):
        if flow.taker in owners and flow.giver not in owners:
            received.add(flow.mint)
        elif (
            flow.giver in owners
            and flow.taker
            and flow.taker not in givers.union(owners, dealers)
            and flow.mint in received
        ):
            onward.append(flow)
    friends = {flow.taker for flow in onward if flow.mint is not None}
    return [
        *onward,
        *(flow for flow in moved if flow.giver in owners and flow.taker in friends and flow not in onward),
    ]


def _is_trade_for_coin(changes: Changes) -> bool:
    tokens = [units for mint, units in changes.items() if mint is not None and units]
    return len(tokens) == 1 and tokens[0] * changes[None] < 0


def changes_of(flows: Iterable[Flow]) -> dict[str, Changes]:
    """Return what each owner gained and lost."""
    changes: defaultdict[str, Changes] = defaultdict(Counter)
    for flow in flows:
        changes[flow.giver][flow.mint] -= flow.units
        changes[flow.taker][flow.mint] += flow.units
    return dict(changes)

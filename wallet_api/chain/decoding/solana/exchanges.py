"""What a wallet exchanged in a Solana transaction, and with whom.

An exchange happens inside one call: the smallest one, with all that it invoked, in which the wallet gave one
thing and took another. The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wallet_api.chain.decoding.changes import FEES, Changes
from wallet_api.chain.decoding.solana.groups import Exchange, find_exchange
from wallet_api.chain.decoding.solana.moves import Kind, SolanaMove, SolanaMoves, changes_by_owner, read_moves
from wallet_api.chain.decoding.solana.transactions import OUTSIDE, SolanaEvidence
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.venues import Role

_ORDERS = {venue.address: venue.places for venue in SOLANA if venue.role is Role.ESCROW}
_LENDING = frozenset(venue.address for venue in SOLANA if venue.role is Role.LENDING)


@dataclass(frozen=True, slots=True)
class Exchanges:
    """What a wallet moved: its exchanges, and the moves of all owners that belong to none of them.

    What the escrows of its orders gave and took for it counts as its own. `is_liquidity` is whether it gave
    and took what makes no exchange, since a pool or an order book has kept it.
    """

    wallet: str
    found: Sequence[Exchange]
    rest: Sequence[SolanaMove]
    total: Changes
    decimals: Mapping[str, int]
    is_signer: bool
    is_liquidity: bool


def read_exchanges(evidence: SolanaEvidence) -> Exchanges:
    """Return what its wallet moved in a transaction. Raise UnusableRow."""
    read = read_moves(evidence)
    address = evidence.wallet.address
    is_signer = address in read.signers
    moved = read.moves if is_signer else _as_the_makers(address, read)
    total = changes_by_owner(moved).get(address, Changes())
    unique = read.unique | {mint for mint, of in read.decimals.items() if not of and abs(total[mint]) <= 1}
    # Neither NFTs, nor rent of others that came to the wallet.
    moves = [
        move
        for move in moved
        if move.mint not in unique and not (move.kind is Kind.REFUND and move.taker == address)
    ]
    found, rest, in_pools = _find_exchanges(address, read, moves)
    held = changes_by_owner(moves).get(address, Changes())
    # Who fills orders of others keeps nothing of what passes.
    kept = (abs(held[mint]) * FEES > abs(units) > 0 for mint, units in in_pools.items())
    return Exchanges(address, found, rest, held, read.decimals, is_signer, any(kept))


def _find_exchanges(
    wallet: str, read: SolanaMoves, moves: Iterable[SolanaMove]
) -> tuple[list[Exchange], list[SolanaMove], Changes]:
    """Return the exchanges of the smallest calls, the moves that belong to none, and what moved in pools."""
    found: list[Exchange] = []
    in_pools: Changes = Counter()
    waiting: defaultdict[int, list[SolanaMove]] = defaultdict(list)
    for move in moves:
        waiting[move.call].append(move)
    # What is paid to a lender and comes from it is lent.
    calls = ((step.number, step.caller) for step in reversed(read.run) if step.program not in _LENDING)
    for call, caller in (*calls, (OUTSIDE, OUTSIDE)):
        if inside := waiting.pop(call, None):
            ordered = sorted(inside, key=lambda move: move.number) if call == OUTSIDE else inside
            exchange, left, pooled = find_exchange(wallet, read, ordered, call)
            found += () if exchange is None else (exchange,)
            in_pools.update(pooled)
            waiting[caller] += left
    return found, waiting[OUTSIDE], in_pools


def _as_the_makers(wallet: str, read: SolanaMoves) -> Sequence[SolanaMove]:
    """Return the moves with those of the escrows of `wallet`, whose orders a transaction fills, as its own.

    An address at the place of an escrow proves nothing. What it gives is the maker's if a step of the order
    program itself invoked that transfer, and in that call alone. What comes to the maker otherwise, beside
    an order, is a gift, and left out.
    """
    programs = {step.number: step.program for step in read.run if step.program in _ORDERS}
    if not programs:
        return read.moves
    escrows = {
        escrow: program
        for escrow, program in _named(wallet, read)
        if escrow not in read.signers and any(_gives(move, escrow, program, programs) for move in read.moves)
    }
    return list(_relabelled(wallet, escrows, read.moves, programs)) if escrows else read.moves


def _named(wallet: str, read: SolanaMoves) -> Iterator[tuple[str, str]]:
    """Yield the escrows, each with its program, that steps name which paid the wallet as their maker."""
    paid = {move.call for move in read.moves if move.taker == wallet}
    for step in read.run:
        places = _ORDERS.get(step.program)
        if places is not None and step.number in paid and len(step.accounts) > max(places):
            escrow, maker = (step.accounts[place] for place in places)
            if maker == wallet:
                yield escrow, step.program


def _gives(move: SolanaMove, escrow: str, program: str, programs: Mapping[int, str]) -> bool:
    """Return whether an escrow gave this in a call of its program, by its own authority."""
    return move.giver == escrow and move.is_consented and programs.get(move.call) == program


def _relabelled(
    wallet: str, escrows: Mapping[str, str], moves: Sequence[SolanaMove], programs: Mapping[int, str]
) -> Iterator[SolanaMove]:
    for move in moves:
        program = escrows.get(move.giver, "")
        giver = wallet if _gives(move, move.giver, program, programs) else move.giver
        taker = wallet if move.taker in escrows else move.taker
        is_gift = move.taker == wallet and move.call not in programs
        if giver != taker and not is_gift:
            yield move._replace(giver=giver, taker=taker)

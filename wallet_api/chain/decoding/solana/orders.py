"""Orders on Solana that others fill: what their escrows give and take is their maker's."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from wallet_api.chain.decoding.solana.moves import SolanaMove
from wallet_api.chain.decoding.solana.transactions import Step
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.venues import Role

_ORDERS = {venue.address: venue.places for venue in SOLANA if venue.role is Role.ESCROW}


def as_the_makers(
    wallet: str, signers: AbstractSet[str], moves: Sequence[SolanaMove], run: Sequence[Step]
) -> Sequence[SolanaMove]:
    """Return the moves with those of the escrows of `wallet`, whose orders a transaction fills, as its own.

    An address at the place of an escrow proves nothing. What it gives is the maker's if a step of the order
    program itself invoked that transfer, and in that call alone. What comes to the maker otherwise, beside
    an order, is a gift, and left out.
    """
    programs = {step.number: step.program for step in run if step.program in _ORDERS}
    if not programs:
        return moves
    escrows = {
        escrow: program
        for escrow, program in _named(wallet, moves, run)
        if escrow not in signers and any(_gives(move, escrow, program, programs) for move in moves)
    }
    return list(_relabelled(wallet, escrows, moves, programs)) if escrows else moves


def _named(wallet: str, moves: Sequence[SolanaMove], run: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Yield the escrows, each with its program, that steps name which paid the wallet as their maker."""
    paid = {move.call for move in moves if move.taker == wallet}
    for step in run:
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

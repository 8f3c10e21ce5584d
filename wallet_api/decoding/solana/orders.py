"""Orders on Solana that others fill: what their escrows give and take is their maker's."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from wallet_api.decoding.solana.flows import Flow
from wallet_api.decoding.solana.transactions import Step
from wallet_api.decoding.solana.venues import SOLANA
from wallet_api.decoding.venues import Role

_ORDERS = {venue.address: venue.places for venue in SOLANA if venue.role is Role.ESCROW}


def as_the_makers(
    wallet: str, signers: AbstractSet[str], flows: Sequence[Flow], run: Sequence[Step]
) -> Sequence[Flow]:
    """Return the flows with those of the escrows of `wallet`, whose orders a transaction fills, as its own.

    An address at the place of an escrow proves nothing. What it gives is the maker's if a step of the order
    program itself invoked that transfer, and in that call alone. What comes to the maker otherwise, beside
    an order, is a gift, and left out.
    """
    programs = {step.number: step.program for step in run if step.program in _ORDERS}
    if not programs:
        return flows
    escrows = {
        escrow: program
        for escrow, program in _named(wallet, flows, run)
        if escrow not in signers and any(_gives(flow, escrow, program, programs) for flow in flows)
    }
    return list(_relabelled(wallet, escrows, flows, programs)) if escrows else flows


def _named(wallet: str, flows: Sequence[Flow], run: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Yield the escrows, each with its program, that steps name which paid the wallet as their maker."""
    paid = {flow.call for flow in flows if flow.taker == wallet}
    for step in run:
        places = _ORDERS.get(step.program)
        if places is not None and step.number in paid and len(step.accounts) > max(places):
            escrow, maker = (step.accounts[place] for place in places)
            if maker == wallet:
                yield escrow, step.program


def _gives(flow: Flow, escrow: str, program: str, programs: Mapping[int, str]) -> bool:
    """Return whether an escrow gave this in a call of its program, by its own authority."""
    return flow.giver == escrow and flow.is_consented and programs.get(flow.call) == program


def _relabelled(
    wallet: str, escrows: Mapping[str, str], flows: Sequence[Flow], programs: Mapping[int, str]
) -> Iterator[Flow]:
    for flow in flows:
        program = escrows.get(flow.giver, "")
        giver = wallet if _gives(flow, flow.giver, program, programs) else flow.giver
        taker = wallet if flow.taker in escrows else flow.taker
        is_gift = flow.taker == wallet and flow.call not in programs
        if giver != taker and not is_gift:
            yield flow._replace(giver=giver, taker=taker)

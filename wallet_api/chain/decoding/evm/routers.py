"""What known routers did with the native coin of the wallet that called them, where no state shows it."""

from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.evm.router_calls import router_call
from wallet_api.chain.decoding.venues import Role


def paid_out(owners: EvmOwners, units: int) -> int:
    """Return the native coin that a known router states to have paid the wallet for its units; 0 if unknown.

    Beside what the wallet sent with the transaction, such as a tip, that says not what it has more.
    """
    if owners.paid:
        return 0
    wallet, coins = owners.wallet.address, owners.wallet.chain.pseudo_mints
    paid = [
        party.got
        for event in owners.events
        if event.venue.role in (Role.STATES, Role.PAID_OUT)
        for party in event.parties()
        if party.owner == party.receiver == wallet and party.gained in coins
        if -party.gave == units == owners.mine[party.lost]
    ]
    return paid[0] if len(paid) == 1 else 0


def kept_fee(evidence: EvmEvidence, owners: EvmOwners, units: int) -> int:
    """Return the native coin that a known contract kept of what the wallet traded. Raise Unanswered."""
    stated = sum(
        event.values[event.venue.places[0]]
        for event in owners.events
        if event.venue.role == Role.KEEPS
        and len(event.values) > max(event.venue.places)
        and event.address(event.venue.places[1]) == owners.wallet.address
    )
    is_paid = units < 0 and owners.withdrawn > 0
    return stated + (router_call(evidence).fee if is_paid else 0)


def is_returned(evidence: EvmEvidence, owners: EvmOwners, spent: int) -> bool:
    """Return whether a known router was asked to return what it did not spend. Raise Unanswered."""
    is_others = any(wrap.owner != evidence.logs.to for wrap in owners.wraps)
    if not 0 < spent < owners.paid or owners.pooled or is_others:
        return False
    sent = router_call(evidence)
    is_used = owners.deposited == owners.paid or sent.returns_unused
    return is_used and (not owners.withdrawn or sent.returns_unwrapped)

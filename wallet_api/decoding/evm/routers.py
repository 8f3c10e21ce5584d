"""What known routers did with the native coin of the wallet that called them, where no state shows it."""

from wallet_api.decoding.evm.asked import asked
from wallet_api.decoding.evm.evidence import EvmEvidence
from wallet_api.decoding.evm.flows import EvmFlows
from wallet_api.decoding.venues import Role


def paid_out(flows: EvmFlows, units: int) -> int:
    """Return the native coin that a known router states to have paid the wallet for its units; 0 if unknown.

    Beside what the wallet sent with the transaction, such as a tip, that says not what it has more.
    """
    if flows.paid:
        return 0
    wallet, coins = flows.wallet.address, flows.wallet.chain.pseudo_mints
    paid = [
        party.got
        for event in flows.events
        if event.venue.role in (Role.STATES, Role.PAID_OUT)
        for party in event.parties()
        if party.owner == party.receiver == wallet and party.gained in coins
        if -party.gave == units == flows.mine[party.lost]
    ]
    return paid[0] if len(paid) == 1 else 0


def kept_fee(evidence: EvmEvidence, flows: EvmFlows, units: int) -> int:
    """Return the native coin that a known contract kept of what the wallet traded. Raise Unanswered."""
    stated = sum(
        event.values[event.venue.places[0]]
        for event in flows.events
        if event.venue.role == Role.KEEPS
        and len(event.values) > max(event.venue.places)
        and event.address(event.venue.places[1]) == flows.wallet.address
    )
    is_paid = units < 0 and flows.withdrawn > 0
    return stated + (asked(evidence).fee if is_paid else 0)


def is_returned(evidence: EvmEvidence, flows: EvmFlows, spent: int) -> bool:
    """Return whether a known router was asked to return what it did not spend. Raise Unanswered."""
    is_others = any(wrap.owner != evidence.logs.to for wrap in flows.wraps)
    if not 0 < spent < flows.paid or flows.pooled or is_others:
        return False
    sent = asked(evidence)
    is_used = flows.deposited == flows.paid or sent.returns_unused
    return is_used and (not flows.withdrawn or sent.returns_unwrapped)

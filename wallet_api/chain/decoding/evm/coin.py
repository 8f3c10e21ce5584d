"""By how much a wallet's native coin changed in an EVM transaction, which no log contains.

The order of the ways to find it, and the reasons, are in docs/sync.md, "EVM chains from a node".
"""

from collections import Counter
from dataclasses import dataclass

from wallet_api.chain.decoding.changes import agrees
from wallet_api.chain.decoding.evm.consent import Consent
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question
from wallet_api.chain.decoding.evm.logs import Logs, signed
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.evm.router_calls import router_call
from wallet_api.chain.decoding.venues import Role

# A fee that may be a part of the value that the wallet sent: a fiftieth.
_FEES = 50


@dataclass(frozen=True, slots=True)
class CoinChange:
    """By how much the wallet's native coin changed; exact, or else what logs say.

    `kept` is the fee that a known contract states to have kept of it.
    """

    units: int
    is_exact: bool
    kept: int = 0


def find_coin(
    evidence: EvmEvidence, consent: Consent, owners: EvmOwners, units: int
) -> tuple[CoinChange, EvmOwners]:
    """Return the change beside these units of a token, and what owners are then known to have.

    Raise Unanswered.
    """
    logs, owner = evidence.logs, owners.wallet.address
    wrapped, own = owners.mine[None], owners.own_wraps
    is_paid = wrapped * units < 0 and not (owners.paid or own)
    # A contract that is called may add native coin, such as a tip.
    if is_paid and logs.to != owner:
        return CoinChange(wrapped, is_exact=True), owners
    change = exact_change(evidence, consent)
    if change is not None:
        changes = _logged_changes(logs, consent) or evidence.answers.get(Question(Need.CHANGES))
        # Those of the whole transaction say nothing of a part of it.
        if isinstance(changes, dict) and consent.coin is None:
            owners = EvmOwners.read(evidence, consent, changes)
        return CoinChange(change + wrapped, is_exact=True), owners
    if is_paid:
        return CoinChange(wrapped, is_exact=True), owners
    said = _paid_out(owners, units) if consent.is_signed else 0
    if said:
        return CoinChange(wrapped + said, is_exact=True), owners
    kept = _kept_fee(evidence, owners, units) if consent.is_signed else 0
    logged = _logged(evidence, consent, owners, units, kept)
    return CoinChange(wrapped - own + logged, is_exact=False, kept=kept), owners


def exact_change(evidence: EvmEvidence, consent: Consent) -> int | None:
    """Return by how much the native balance changed, without the fee; None if the node cannot say.

    Raise Unanswered.
    """
    if consent.coin is not None:
        return consent.coin
    fee = evidence.logs.receipt.fee if evidence.logs.sender == evidence.wallet.address else 0
    if evidence.logs.native:
        return _logged_changes(evidence.logs, consent).get(evidence.wallet.address, -fee) + fee
    change = _balance_change(evidence, consent) if evidence.is_alone else None
    if change is None:
        changes = evidence.answer(Question(Need.CHANGES))
        change = changes.get(evidence.wallet.address, 0) if isinstance(changes, dict) else None
    return None if change is None else change + fee


def _logged_changes(logs: Logs, consent: Consent) -> dict[str, int]:
    """Return the changes of all native balances, with the fee, by the transfers that the chain logs."""
    changes: Counter[str] = Counter()
    for move in logs.native:
        if consent.covers(move.place):
            changes[move.giver] -= move.units
            changes[move.taker] += move.units
    if changes:
        changes[logs.sender] -= logs.receipt.fee
    return changes


def may_have_moved_coin(logs: Logs) -> bool:
    """Return whether logs show that native coin may have moved, so that its balance is worth a question.

    Somebody unwrapped or wrapped it, or a pool logged an amount that nobody transferred.
    """
    if logs.wraps or logs.native:
        return True
    units = {move.units for move in logs.moves}
    return any(
        abs(value) not in units
        for event in logs.events_of(Role.POOL, Role.MANAGER)
        if len(event.values) > max(event.venue.places)
        for value in signed(event.values[place] for place in event.venue.places)
    )


def _balance_change(evidence: EvmEvidence, consent: Consent) -> int | None:
    """Return by how much the native balance changed; None if the node has no state of the block.

    An account that pays for its own operation has a part of its coin with the entry point.
    """
    questions = [Question(Need.BALANCES)]
    if consent.cost:
        questions.append(Question(Need.DEPOSITS, consent.entry_point))
    change = consent.cost + evidence.other_fees
    for answer in evidence.all_answers(questions):
        if not isinstance(answer, tuple):
            return None
        before, after = answer
        change += after - before
    return change


def _logged(evidence: EvmEvidence, consent: Consent, owners: EvmOwners, units: int, kept: int) -> int:
    """Return by how much the native coin changed according to logs, without a fee that was kept.

    What others wrapped, and native pools got, came from the wallet, if everybody else has what he had before.
    The rest of the value came back, or is a fee if it is small, and a router is not known to return it.
    Raise Unanswered.
    """
    change = owners.withdrawn - owners.deposited - owners.pooled - kept
    # A contract pays native coin without sending a transaction.
    if not consent.is_signed or evidence.logs.to == owners.wallet.address or change > 0:
        return change
    is_small = units > 0 and (not change or agrees(-change, owners.paid, _FEES))
    if is_small and not _is_returned(evidence, owners, -change):
        return -owners.paid
    return max(change, -owners.paid)


def _paid_out(owners: EvmOwners, units: int) -> int:
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


def _kept_fee(evidence: EvmEvidence, owners: EvmOwners, units: int) -> int:
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


def _is_returned(evidence: EvmEvidence, owners: EvmOwners, spent: int) -> bool:
    """Return whether a known router was asked to return what it did not spend. Raise Unanswered."""
    is_others = any(wrap.owner != evidence.logs.to for wrap in owners.wraps)
    if not 0 < spent < owners.paid or owners.pooled or is_others:
        return False
    sent = router_call(evidence)
    is_used = owners.deposited == owners.paid or sent.returns_unused
    return is_used and (not owners.withdrawn or sent.returns_unwrapped)

"""What a wallet traded in an EVM transaction, decided from evidence; or that it is none, by its logs alone.

The rules and their reasons are in docs/sync.md, "EVM chains from a node".
"""

from contextlib import suppress
from decimal import localcontext

from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.changes import is_exchange
from wallet_api.chain.decoding.evm.coin import may_have_moved_coin
from wallet_api.chain.decoding.evm.consent import Consent, consent_of
from wallet_api.chain.decoding.evm.decision import Decision
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question, Unanswered
from wallet_api.chain.decoding.evm.frames import Frames
from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.evm.money import decode_money
from wallet_api.chain.decoding.evm.orders import decode_orders
from wallet_api.chain.decoding.swaps import DIGITS, NO_TRADE, UNSIGNED, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import NONE, Decoded


def decode_evm(evidence: EvmEvidence) -> Decoded:
    """Return the trades of its wallet in a transaction, or why there is none. Raise Unanswered."""
    if not _may_exchange(evidence.logs, evidence.wallet):
        return NONE
    with localcontext(prec=DIGITS):
        consent = consent_of(evidence)
        try:
            decoded = None if consent is None else _consented(evidence, consent)
        except UnusableRow as error:
            return Decoded(why=Reason.INVALID, detail=str(error))
        if decoded is None:
            decoded = _by_money(evidence)
        return (_by_frames(evidence) or decoded) if decoded.unproven else decoded


def _consented(evidence: EvmEvidence, consent: Consent) -> Decoded | None:
    """Return what the wallet traded as it agreed to; None if that does not cover what moved at the wallet."""
    if consent.fills:
        return decode_orders(evidence, consent)
    decoded = Decision(evidence, consent).decoded()
    mine = evidence.logs.by_owner.get(evidence.wallet.address, ())
    if decoded.why == NO_TRADE and not all(consent.covers(move.place) for move in mine):
        return None
    return decoded


def _by_frames(evidence: EvmEvidence) -> Decoded | None:
    """Return what the wallet's own code traded in calls that it made; None if nothing, or without a trace.

    Raise Unanswered.
    """
    frames = evidence.answer(Question(Need.FRAMES))
    if isinstance(frames, Frames) and frames.spans:
        with suppress(UnusableRow):
            decoded = Decision(evidence, Consent(frames.spans, coin=frames.coin)).decoded()
            return decoded if decoded.drafts else None
    return None


def _by_money(evidence: EvmEvidence) -> Decoded:
    """Return what the wallet's money was exchanged for: no trade if it were none of a signature."""
    decoded = decode_money(evidence)
    if decoded.drafts:
        with suppress(UnusableRow):
            if Decision(evidence, Consent.to_all(evidence.logs)).decoded().why == NO_TRADE:
                unproven = Decoded(why=UNSIGNED, is_signed=False, unproven=decoded.drafts)
                return NONE if evidence.logs.to == evidence.wallet.address else unproven
    return decoded


def _may_exchange(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet has more or less of a token, and there is more than plain transfers."""
    changes = logs.changes_of(wallet.address)
    if not any(units for mint, units in changes.items() if mint is not None):
        return False
    is_call = logs.sender == wallet.address and logs.to not in changes
    is_more = logs.has_more or len(logs.moves) > len(logs.by_owner.get(wallet.address, ()))
    return is_more or is_exchange(changes) or is_call


def why_none(logs: Logs, wallet: TrackedWallet) -> str | None:
    """Return why a transaction is no trade of `wallet` by its logs alone; None if it may be one."""
    if not _may_exchange(logs, wallet):
        return NO_TRADE
    return None if may_have_consented(logs, wallet) or _may_be_named(logs, wallet) else UNSIGNED


def may_have_consented(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet consented to a transaction, or its consent depends on an answer."""
    try:
        return consent_of(EvmEvidence(wallet, logs)) is not None
    except Unanswered:
        return True


def _may_be_named(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet gave money and got something, or the reverse, as far as logs show."""
    changes = logs.changes_of(wallet.address)
    money = {None, *wallet.chain.stable_mints}
    if is_exchange(changes):
        return any(changes[mint] for mint in money)
    return not changes.keys() & money and may_have_moved_coin(logs)

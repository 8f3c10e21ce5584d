"""Whether an EVM transaction may be a trade of a wallet, by its logs alone."""

from collections import Counter

from wallet_api.decoding.evm_evidence import EvmEvidence, Unanswered, consent_of
from wallet_api.decoding.evm_logs import Logs
from wallet_api.decoding.moves import exchanges
from wallet_api.decoding.swaps import NO_TRADE, UNSIGNED, TrackedWallet


def may_exchange(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet has more or less of a token, and there is more than plain transfers."""
    changes: Counter[str | None] = Counter()
    mine = logs.by_owner.get(wallet.address, ())
    for move in mine:
        changes[move.mint] += move.units * ((move.taker == wallet.address) - (move.giver == wallet.address))
    if not any(units for mint, units in changes.items() if mint is not None):
        return False
    is_call = logs.sender == wallet.address and logs.to not in changes
    return logs.has_more or len(logs.moves) > len(mine) or exchanges(changes) or is_call


def why_none(logs: Logs, wallet: TrackedWallet) -> str | None:
    """Return why a transaction is no trade of `wallet` by its logs alone; None if it may be one."""
    if not may_exchange(logs, wallet):
        return NO_TRADE
    return None if may_have_consented(logs, wallet) else UNSIGNED


def may_have_consented(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet consented to a transaction, or its consent depends on an answer."""
    try:
        return consent_of(EvmEvidence(logs), wallet) is not None
    except Unanswered:
        return True

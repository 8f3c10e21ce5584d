"""Whether an EVM transaction may be a trade of a wallet, or one that nothing proves, by its logs alone."""

from collections import Counter

from wallet_api.chain.decoding.changes import Changes, is_exchange
from wallet_api.chain.decoding.evm.coin import may_have_moved_coin
from wallet_api.chain.decoding.evm.consent import consent_of
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Unanswered
from wallet_api.chain.decoding.evm.logs import Logs
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED, TrackedWallet


def may_exchange(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet has more or less of a token, and there is more than plain transfers."""
    changes = wallet_changes(logs, wallet)
    if not any(units for mint, units in changes.items() if mint is not None):
        return False
    is_call = logs.sender == wallet.address and logs.to not in changes
    is_more = logs.has_more or len(logs.moves) > len(logs.by_owner.get(wallet.address, ()))
    return is_more or is_exchange(changes) or is_call


def why_none(logs: Logs, wallet: TrackedWallet) -> str | None:
    """Return why a transaction is no trade of `wallet` by its logs alone; None if it may be one."""
    if not may_exchange(logs, wallet):
        return NO_TRADE
    return None if may_have_consented(logs, wallet) or _may_be_named(logs, wallet) else UNSIGNED


def may_have_consented(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet consented to a transaction, or its consent depends on an answer."""
    try:
        return consent_of(EvmEvidence(logs), wallet) is not None
    except Unanswered:
        return True


def _may_be_named(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet gave money and got something, or the reverse, as far as logs show."""
    changes = wallet_changes(logs, wallet)
    money = {None, *wallet.chain.stable_mints}
    if is_exchange(changes):
        return any(changes[mint] for mint in money)
    return not changes.keys() & money and may_have_moved_coin(logs)


def wallet_changes(logs: Logs, wallet: TrackedWallet) -> Changes:
    """Return what the wallet has more or less of each token and of wrapped coin, by the transfers."""
    changes: Changes = Counter()
    for move in logs.by_owner.get(wallet.address, ()):
        changes[move.mint] += move.units * ((move.taker == wallet.address) - (move.giver == wallet.address))
    return changes

"""Decode transactions: what a wallet traded in one, or why that is no trade.

Pure: what a node returned is data. The rules and their reasons are in docs/sync.md, "What a trade is".
"""

from wallet_api.decoding import evm_evidence, evm_trade, solana, solana_moves
from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.exchanges import UnclearSwap, swaps_of
from wallet_api.decoding.swaps import NO_TRADE, Reason, TrackedWallet
from wallet_api.decoding.trades import Decoded


def decode(evidence: solana.Evidence | evm_evidence.Evidence, wallet: TrackedWallet) -> Decoded:
    """Return the trades of `wallet` in a transaction, or why there is none.

    Raise evm_evidence.Unanswered with the questions to a node on which the decision depends.
    """
    if isinstance(evidence, evm_evidence.Evidence):
        return evm_trade.decode_evm(evidence, wallet)
    return _decode_solana(evidence, wallet)


def _decode_solana(evidence: solana.Evidence, wallet: TrackedWallet) -> Decoded:
    if evidence.transaction.meta.err is not None:
        return Decoded(why=NO_TRADE)
    try:
        moves = solana_moves.read_moves(wallet, evidence.transaction)
        return Decoded.of(swaps_of(wallet, evidence.signature, evidence.created_at, moves))
    except UnclearSwap as error:
        return Decoded(why=Reason.UNCLEAR, detail=str(error))
    except UnusableRow as error:
        return Decoded(why=Reason.UNREADABLE, detail=str(error))

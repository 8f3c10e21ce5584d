"""What a wallet traded by orders that a settlement filled, by the amounts of its log."""

from collections.abc import Sequence

from wallet_api.decoding.evm_evidence import EvmEvidence, decimals_of
from wallet_api.decoding.evm_logs import Event
from wallet_api.decoding.legs import SwapWriter
from wallet_api.decoding.moves import FEES, agrees
from wallet_api.decoding.swaps import Reason, Swap, TrackedWallet
from wallet_api.decoding.trades import Decoded

GIVEN_AWAY = "the proceeds of the wallet's tokens went to somebody else"
UNKNOWN_DECIMALS = "a token of unknown decimals"

# The native coin in the logs of a settlement.
_NATIVE = f"0x{'ee' * 20}"


def decode_orders(evidence: EvmEvidence, wallet: TrackedWallet, orders: Sequence[Event]) -> Decoded:
    """Return the trades of orders of `wallet`. Raise Unanswered, and UnusableRow."""
    chain = wallet.chain
    mints = {event.address(place) for event in orders for place in (1, 2)}
    mints = {mint for mint in mints if not chain.is_native(mint)}
    decimals = decimals_of(evidence, sorted(mints | chain.stable_mints))
    if mints - decimals.keys():
        return Decoded(why=Reason.INVALID, detail=UNKNOWN_DECIMALS)
    write = SwapWriter(wallet, evidence.signature, evidence.created_at, decimals)
    swaps: list[Swap] = []
    for event in orders:
        lost, gained = (event.address(place) for place in (1, 2))
        gave, got = event.values[3:5]
        if not _has_taken(evidence, wallet, gained, got):
            return Decoded(why=Reason.UNCLEAR, detail=GIVEN_AWAY)
        swaps.append(_filled(write, (lost, -gave), (gained, got)))
    return Decoded.of(swaps)


def _has_taken(evidence: EvmEvidence, wallet: TrackedWallet, gained: str, got: int) -> bool:
    """Return whether the wallet has what its order bought. Native coin leaves no log."""
    if gained == _NATIVE:
        return True
    mint = None if gained == wallet.chain.wrapped_mint else gained
    mine = evidence.logs.by_owner.get(wallet.address, ())
    taken = sum(move.units for move in mine if move.taker == wallet.address and move.mint == mint)
    return agrees(min(taken, got), got, FEES)


def _filled(write: SwapWriter, lost: tuple[str, int], gained: tuple[str, int]) -> Swap:
    chain = write.wallet.chain
    if chain.is_native(lost[0]):
        return write.for_coin(*gained, lost[1])
    if chain.is_native(gained[0]):
        return write.for_coin(*lost, gained[1])
    usd = next((write.amount(*side) for side in (lost, gained) if side[0] in chain.stable_mints), None)
    return write.for_token(gained, lost, usd)

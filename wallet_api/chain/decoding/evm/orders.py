"""What a wallet traded by orders that known contracts filled, by the amounts of these orders."""

from collections.abc import Sequence

from wallet_api.chain.decoding.evm.coin import exact_change, may_have_moved_coin
from wallet_api.chain.decoding.evm.consent import Consent
from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.fills import Fill
from wallet_api.chain.decoding.swaps import Reason, Swap, SwapWriter
from wallet_api.chain.decoding.trades import NONE, Decoded, unclear

GIVEN_AWAY = "the proceeds of the wallet's tokens went to somebody else"
UNKNOWN_DECIMALS = "a token of unknown decimals"
NO_COIN = "what it cost in the native coin cannot be determined"


def decode_orders(evidence: EvmEvidence, consent: Consent) -> Decoded | None:
    """Return the trades of orders of `wallet`; None if what they exchanged is not known.

    Raise Unanswered, and UnusableRow.
    """
    chain = evidence.wallet.chain
    fills = consent.fills
    if any(fill.is_elsewhere for fill in fills):
        is_nothing = all(fill.is_elsewhere and not fill.got for fill in fills)
        return NONE if is_nothing else unclear(GIVEN_AWAY)
    coin = _coin(evidence, consent)
    if coin is None and any(fill.got is None for fill in fills):
        return Decoded(why=Reason.NO_VALUE, detail=NO_COIN)
    if _is_ambiguous(fills, coin):
        return None
    mints = {mint for fill in fills for mint in (fill.lost, fill.gained) if not chain.is_native(mint)}
    # What only moved at the wallet is no amount that the order names.
    unpriced = mints if any(fill.is_moved for fill in fills) else ()
    write = evidence.writer(mints, unpriced)
    if write is None:
        return Decoded(why=Reason.INVALID, detail=UNKNOWN_DECIMALS)
    return Decoded.from_swaps([fill_swap(write, fill, coin or 0) for fill in fills])


def _coin(evidence: EvmEvidence, consent: Consent) -> int | None:
    """Return the native coin that came to the wallet where its orders may have got it; None if not known."""
    moved = [fill for fill in consent.fills if fill.is_moved or fill.got is None]
    if not moved or not (any(fill.got is None for fill in moved) or may_have_moved_coin(evidence.logs)):
        return 0
    return exact_change(evidence, Consent.to_all(evidence.logs))


def _is_ambiguous(fills: Sequence[Fill], coin: int | None) -> bool:
    """Return whether more than one thing came for what left the wallet, or may have, or nothing."""
    unseen = sum(fill.got is None for fill in fills)
    if unseen:
        return unseen != len(fills) or unseen > 1 or coin is None or coin <= 0
    return any(fill.is_moved for fill in fills) and coin != 0


def fill_swap(write: SwapWriter, fill: Fill, coin: int = 0) -> Swap:
    """Return the swap of a fill; `coin` is what came of the native coin where no log has it."""
    chain = write.wallet.chain
    got = coin if fill.got is None else fill.got
    if chain.is_native(fill.lost):
        return write.for_coin(fill.gained, got, fill.gave)
    if chain.is_native(fill.gained):
        return write.for_coin(fill.lost, -fill.gave, got)
    sides = ((fill.lost, fill.gave), (fill.gained, got))
    usd = next((write.amount(*side) for side in sides if side[0] in chain.stable_mints), None)
    return write.for_token((fill.gained, got), (fill.lost, -fill.gave), usd)

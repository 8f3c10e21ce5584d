"""What a wallet's token was exchanged for in an EVM transaction if that is another token, or several ones."""

from collections.abc import Mapping
from functools import partial

from wallet_api.chain.decoding.changes import DISAGREES, NO_EXCHANGE, UNCLEAR
from wallet_api.chain.decoding.evm.counterparts import are_vaults, exchanged, is_lent, price
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.swaps import SwapWriter, TokenUnits
from wallet_api.chain.decoding.trades import NONE, Decoded, unclear

NO_PRICES = unclear(UNCLEAR)


def decode_pair(owners: EvmOwners, write: SwapWriter, gained: TokenUnits, lost: TokenUnits) -> Decoded:
    """Return the trades of a token for another one, if others exchanged both."""
    seen = [(units, exchanged(owners, mint, units)) for mint, units in (gained, lost)]
    if not any(others.given for _, others in seen):
        return _unseen_pair(owners, write, gained, lost)
    is_all = [others.is_all(units) for units, others in seen]
    # Others may have moved more of one of them than is seen, but not more than the wallet.
    is_less = [abs(others.shared) < abs(units) for units, others in seen]
    if not any(is_all) or not all(all_ or less for all_, less in zip(is_all, is_less, strict=True)):
        return unclear(DISAGREES)
    return Decoded.from_swaps(write.for_pair(gained, lost, partial(price, owners)))


def decode_separately(owners: EvmOwners, write: SwapWriter, tokens: Mapping[str, int]) -> Decoded:
    """Return the trades of several tokens, each for the coin for which others exchanged exactly it."""
    swaps = write.each_for_coin(tokens, partial(price, owners))
    return NO_PRICES if swaps is None else Decoded.from_swaps(swaps)


def _unseen_pair(owners: EvmOwners, write: SwapWriter, gained: TokenUnits, lost: TokenUnits) -> Decoded:
    """Return what two tokens are that nobody is seen to have exchanged."""
    if any(is_lent(owners, *side) for side in (gained, lost)):
        return NONE
    # Dollars for dollars, out of two vaults; where amounts differ, a fee went elsewhere.
    is_of_dollars = {gained[0], lost[0]} <= owners.wallet.chain.stable_mints
    if is_of_dollars and are_vaults(owners, gained, lost):
        return Decoded.from_swaps([write.for_token(gained, lost, write.amount(*lost))])
    return unclear(NO_EXCHANGE)

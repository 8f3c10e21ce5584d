"""What a wallet's token was exchanged for in an EVM transaction if that is another token, or several ones."""

from collections.abc import Mapping
from decimal import Decimal

from wallet_api.chain.decoding.changes import DISAGREES, NO_EXCHANGE, UNCLEAR
from wallet_api.chain.decoding.evm.counterparts import are_vaults, exchanged, is_lent, price
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.swaps import NO_TRADE, Reason, SwapWriter
from wallet_api.chain.decoding.trades import Decoded

NO_PRICES = Decoded(why=Reason.UNCLEAR, detail=UNCLEAR)

# A token, and the units that the wallet has more or (negative) less of it.
_Side = tuple[str, int]


def decode_pair(owners: EvmOwners, write: SwapWriter, gained: _Side, lost: _Side) -> Decoded:
    """Return the trades of a token for another one, if others exchanged both."""
    seen = [(units, exchanged(owners, mint, units)) for mint, units in (gained, lost)]
    if not any(others.given for _, others in seen):
        return _unseen_pair(owners, write, gained, lost)
    is_all = [others.is_all(units) for units, others in seen]
    # Others may have moved more of one of them than is seen, but not more than the wallet.
    is_less = [abs(others.shared) < abs(units) for units, others in seen]
    if not any(is_all) or not all(all_ or less for all_, less in zip(is_all, is_less, strict=True)):
        return Decoded(why=Reason.UNCLEAR, detail=DISAGREES)
    return _valued_pair(owners, write, gained, lost)


def decode_separately(owners: EvmOwners, write: SwapWriter, tokens: Mapping[str, int]) -> Decoded:
    """Return the trades of several tokens, each for the coin for which others exchanged exactly it."""
    swaps = []
    for mint, units in tokens.items():
        found = price(owners, mint, units, None)
        if not found:
            return NO_PRICES
        swaps.append(write.for_coin(mint, units, found))
    return Decoded.from_swaps(swaps)


def _unseen_pair(owners: EvmOwners, write: SwapWriter, gained: _Side, lost: _Side) -> Decoded:
    """Return what two tokens are that nobody is seen to have exchanged."""
    if any(is_lent(owners, *side) for side in (gained, lost)):
        return Decoded(why=NO_TRADE)
    # Dollars for dollars, out of two vaults; where amounts differ, a fee went elsewhere.
    is_of_dollars = {gained[0], lost[0]} <= owners.wallet.chain.stable_mints
    if is_of_dollars and are_vaults(owners, gained, lost):
        return Decoded.from_swaps([write.for_token(gained, lost, write.amount(*lost))])
    return Decoded(why=Reason.UNCLEAR, detail=NO_EXCHANGE)


def _valued_pair(owners: EvmOwners, write: SwapWriter, gained: _Side, lost: _Side) -> Decoded:
    """Return the trades of two tokens, by the coin or the dollars that both were worth."""
    stable, sides = owners.wallet.chain.stable_mints, (lost, gained)
    usd = next((write.amount(*side) for side in sides if side[0] in stable), None)
    hops = (_dollars(owners, write, side, mint) for mint in sorted(stable) for side in sides)
    usd = usd or next((hop for hop in hops if hop), None)
    coin = next((found for side in sides if (found := price(owners, *side, None))), None)
    if coin is None:
        return Decoded.from_swaps([write.for_token(gained, lost, usd)])
    return Decoded.from_swaps([write.for_coin(*side, coin, usd=usd) for side in (gained, lost)])


def _dollars(owners: EvmOwners, write: SwapWriter, side: _Side, stable: str) -> Decimal | None:
    found = price(owners, *side, stable)
    return None if found is None or stable not in write.decimals else write.amount(stable, found)

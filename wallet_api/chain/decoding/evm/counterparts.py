"""What others exchanged of a wallet's token in an EVM transaction, and at which price."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wallet_api.chain.decoding.changes import FEES, LEFTOVER, ROUND_TRIP, agrees
from wallet_api.chain.decoding.evm.owners import LENDING, EvmOwners
from wallet_api.chain.decoding.venues import Role

# What may be an amount, and no number of something, time, address or hash.
_LEAST, _MOST = 10**10, 1 << 96


@dataclass(frozen=True, slots=True)
class Exchanged:
    """What others exchanged of a token: `given` to the wallet's side, with the sign of its units, for `coin`.

    `shared` is what they gave without what the token's own contract kept of it as a tax. `coin` is the part
    of the wallet, with the sign of its change.
    """

    given: int
    shared: int
    coin: int

    def is_all(self, units: int) -> bool:
        """Return whether others exchanged what the wallet did, but for fees in the token itself."""
        return agrees(units, self.shared, FEES)


NOTHING = Exchanged(0, 0, 0)


def exchanged(owners: EvmOwners, mint: str, units: int) -> Exchanged:
    """Return what others exchanged of a token. Who moved it as the wallet did is no other side of it."""
    sides = [each for each in owners.exchangers.values() if each[mint] * units <= 0]
    given = -sum(each[mint] for each in sides)
    kept = owners.others[mint][mint] if mint in owners.others else 0
    kept = max(kept, 0) + taxed(owners, mint) if units > 0 else 0
    shared = given - kept
    coin = -sum(each[None] for each in sides)
    is_part = abs(units) * FEES < abs(shared) * (FEES - 1) or (units < 0 and abs(units) < abs(given))
    if given and is_part:
        # Rounded to the nearest number.
        coin = (2 * coin * units + given) // (2 * given)
    return Exchanged(given, shared, coin)


def stated(owners: EvmOwners, mint: str, units: int, coin: int) -> int | None:
    """Return for about how much of this coin a router's log states that the wallet exchanged the units.

    Some pools hold native coin and log nothing that is known.
    """
    for event in owners.events:
        if event.venue.role == Role.ROUTER and (event.is_known or owners.is_seen_at(event.emitter)):
            coins = [value for value in event.values if agrees(value, abs(coin))]
            if coins and abs(units) in event.values:
                nearest = min(coins, key=lambda value: abs(value - abs(coin)))
                return -nearest if units > 0 else nearest
    return None


def price(owners: EvmOwners, mint: str, units: int, other: str | None) -> int | None:
    """Return for how much of `other` others exchanged exactly these units of a token, or None."""
    parties = owners.parties(mint)
    clean = all(len(party) == 2 and party[other] for party in parties)
    given = -sum(party[mint] for party in parties)
    exact = given == units or (not owners.issued(mint) and agrees(given, units))
    total = sum(party[other] for party in parties)
    return abs(total) if clean and exact and total * units > 0 else None


def is_lent(owners: EvmOwners, mint: str, units: int) -> bool:
    """Return whether a market of loans gave the wallet's side its units, or took them."""
    return any(owners.others[lender][mint] * units < 0 for lender in LENDING if lender in owners.others)


def are_vaults(owners: EvmOwners, gained: tuple[str, int], lost: tuple[str, int]) -> bool:
    """Return whether one owner only gave what the wallet got, and others only took what it gave."""
    gave = [changes for changes in owners.others.values() if changes[gained[0]] < 0]
    took = [changes for changes in owners.others.values() if changes[lost[0]] > 0]
    is_only = all(sum(units != 0 for units in changes.values()) == 1 for changes in (*gave, *took))
    is_all = sum(changes[lost[0]] for changes in took) == -lost[1]
    return is_only and is_all and len(gave) == 1 and gave[0][gained[0]] == -gained[1]


def passes_through(owners: EvmOwners) -> bool:
    """Return whether the coin only passed through, but for a leftover."""
    exchangers = owners.exchangers.values()
    flow = sum(abs(each[None]) for each in exchangers)
    return abs(sum(each[None] for each in exchangers)) * LEFTOVER <= flow


def taxed(owners: EvmOwners, mint: str) -> int:
    """Return how much of a token went, in swaps in which the wallet got it, to owners who gave nothing.

    A pool logs its swap after the transfers: they stand before its log, and after the one before.
    """
    swaps = [event.place for event in owners.events if event.venue.role == Role.SWAP]
    of_mint = [move for move in owners.moves if move.mint == mint and move.giver in owners.exchangers]
    swapped = [(move, (move.giver, bisect_left(swaps, move.place))) for move in of_mint]
    mine = {swap for move, swap in swapped if move.taker == owners.wallet.address}
    took = Counter[str]()
    for move, swap in swapped:
        if swap in mine and move.taker not in (owners.wallet.address, mint):
            took[move.taker] += move.units
    return sum(
        units
        for owner, units in took.items()
        if not any(changed < 0 for changed in owners.others[owner].values())
    )


def sent_to_itself(owners: EvmOwners, mint: str) -> int:
    """Return how much of a token went from the wallet to the token's own contract, such as a tax."""
    mine = owners.by_owner[owners.wallet.address]
    return sum(move.units for move in mine if move.mint == move.taker == mint)


def is_deposited(owners: EvmOwners, mint: str, units: int) -> bool:
    """Return whether a contract that has the wallet's tokens logged these units, and no other amount.

    A pool logs what it gives as well. So does a pool that issues an NFT for what it has got.
    """
    if any(log.is_issued_nft for log in owners.logs.receipt.logs):
        return True
    keepers = {owner for owner, changes in owners.others.items() if changes[mint] > 0}
    return bool(keepers & LENDING) or any(
        units in values and not any(_LEAST < value < _MOST for value in values - {units})
        for owner in keepers | {owners.logs.to}
        for values in owners.logs.amounts_of(owner)
    )


def one_way(owners: EvmOwners) -> Counter[str]:
    """Return what the wallet received of each token, less what it sent, without anything in exchange.

    That is what moved directly between it and an owner that exchanged nothing and whose balance changed
    in the other direction.
    """
    direct: Counter[tuple[str, str, bool]] = Counter()
    for move in owners.moves:
        is_gain = move.taker == owners.wallet.address
        if move.mint is not None and is_gain != (move.giver == owners.wallet.address):
            direct[move.giver if is_gain else move.taker, move.mint, is_gain] += move.units
    moved: Counter[str] = Counter()
    passing = {owner for owner in {owner for owner, _, _ in direct} if _passes_on(owners, owner)}
    for (owner, mint, is_gain), units in direct.items():
        if owner in owners.exchangers or owner in passing or owner == mint in owners.taxing:
            continue
        change = owners.others[owner][mint] if owner in owners.others else 0
        if is_gain and change < 0:
            moved[mint] += min(units, -change)
        elif not is_gain and change > 0:
            moved[mint] -= min(units, change)
    return moved


def round_trips(owners: EvmOwners, tokens: Mapping[str, int], passed: Mapping[str, int]) -> set[str]:
    """Return which tokens the wallet both bought and sold, by what it has more or less of each.

    What passed without anything in exchange is neither.
    """
    moved: Counter[str | None] = Counter()
    for move in owners.by_owner[owners.wallet.address]:
        moved[move.mint] += move.units * (move.giver != move.taker)
    return {
        mint
        for mint, units in tokens.items()
        if moved[mint] - abs(passed.get(mint, 0)) > ROUND_TRIP * abs(units)
    }


def _passes_on(owners: EvmOwners, owner: str) -> bool:
    """Return whether an owner gave what did not end with the wallet, as the vault of a pool does."""
    return owner in owners.others and any(
        units < 0 and owners.mine[mint] <= 0 for mint, units in owners.others[owner].items()
    )

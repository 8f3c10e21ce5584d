"""The trades of a wallet in a Solana transaction, and the value of each.

The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext

from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.legs import SwapWriter
from wallet_api.decoding.moves import (
    DISAGREES,
    ELSEWHERE,
    FEES,
    NO_EXCHANGE,
    UNCLEAR,
    Changes,
    added,
    agrees,
    exchanges,
)
from wallet_api.decoding.solana import SolanaEvidence
from wallet_api.decoding.solana_flows import Flow, Kind
from wallet_api.decoding.solana_moves import Exchange, Moves, changes_of, read_moves
from wallet_api.decoding.solana_venues import SOLANA
from wallet_api.decoding.swaps import DIGITS, NO_TRADE, UNSIGNED, Reason, Swap, TrackedWallet
from wallet_api.decoding.trades import Decoded
from wallet_api.decoding.venues import Role

_TIPS = frozenset(venue.address for venue in SOLANA if venue.role is Role.TIPS)

# What is left over of a route, as a part of what moved of it.
_REMAINDER = 1000
# The largest part of the coin of a route that may be left over.
_LEFTOVER = 100
# Tips and fees, in lamports, may be so much of small amounts; of larger ones a fifth at most (FEES).
_LARGE = 20_000_000


class UnclearSwap(UnusableRow):
    """A transaction in which the wallet exchanged something, but it is unclear what for what."""


def decode_solana(evidence: SolanaEvidence, wallet: TrackedWallet) -> Decoded:
    """Return the trades of `wallet` in a transaction, or why there is none."""
    transaction = evidence.transaction
    is_signer = wallet.address in transaction.signers
    if transaction.meta.err is not None:
        return Decoded(why=NO_TRADE, is_signed=is_signer)
    try:
        moves = read_moves(wallet, transaction)
        consented = [exchange for exchange in moves.exchanges if exchange.is_consented]
        is_signed = is_signer or bool(consented) or any(_left(moves))
        if moves.exchanges and not consented:
            return Decoded(why=UNSIGNED, is_signed=False)
        with localcontext(prec=DIGITS):
            swaps = _Reader(wallet, evidence, moves, consented).swaps()
        return replace(Decoded.of(swaps), is_signed=is_signed)
    except UnclearSwap as error:
        # It is raised for what the wallet has consented to.
        return Decoded(why=Reason.UNCLEAR, detail=str(error))
    except UnusableRow as error:
        return Decoded(why=Reason.UNREADABLE, detail=str(error), is_signed=is_signer)


def _left(moves: Moves) -> Iterator[Flow]:
    """Yield what left the wallet for others by its own authority, outside its exchanges."""
    for flow in moves.rest:
        is_left = flow.giver in moves.owners and flow.taker and flow.taker not in moves.owners
        if is_left and flow.kind is not Kind.RENT and (flow.is_consented or moves.is_signer):
            yield flow


class _Reader:
    """The swaps of one wallet in one transaction."""

    def __init__(
        self, wallet: TrackedWallet, evidence: SolanaEvidence, moves: Moves, found: Sequence[Exchange]
    ) -> None:
        self._stable = wallet.chain.stable_mints
        self._write = SwapWriter(wallet, evidence.signature, evidence.created_at, moves.decimals)
        self._moves = moves
        self._exchanges = found
        self._parties = [party for exchange in found for party in exchange.parties]
        self._others = added(exchange.others for exchange in found)
        self._coin = sum(exchange.mine[None] for exchange in found)
        self._sent = [*_left(moves), *(flow for exchange in found for flow in exchange.onward)]
        self._tokens = self._net()
        if self._tokens.keys() - moves.decimals.keys():
            raise UnusableRow("a token of unknown decimals")

    def swaps(self) -> list[Swap]:
        """Return the swaps; none for what is no trade. Raise UnclearSwap, and UnusableRow."""
        tokens = self._tokens
        if not tokens or not exchanges(self._exchanged()):
            self._check_rest()
            return []
        if self._is_for_others():
            return []
        gained = [mint for mint, units in tokens.items() if units > 0]
        lost = [mint for mint, units in tokens.items() if units < 0]
        if len(tokens) == 1:
            return self._for_coin(*tokens)
        if len(gained) == len(lost) == 1 and self._passes_through():
            return self._for_token(gained[0], lost[0])
        return self._separately()

    def _net(self) -> dict[str, int]:
        """Return what was exchanged of each token, with fees in it, and without remainders."""
        moved: defaultdict[str, list[int]] = defaultdict(list)
        for exchange in self._exchanges:
            for mint, units in exchange.mine.items():
                if mint is not None:
                    moved[mint].append(units)
        tokens = {}
        for mint, each in moved.items():
            units = sum(each)
            flow = max(sum(map(abs, each)), self._passed(mint))
            if abs(units) * _REMAINDER >= flow > 0:
                fee = sum(flow.units for flow in self._sent if flow.mint == mint)
                tokens[mint] = units - fee if fee * FEES <= abs(units) else units
        return tokens

    def _passed(self, mint: str) -> int:
        """Return how much of a token went from one to another of those that exchanged with the wallet."""
        moved = [party[mint] for party in self._parties]
        return min(sum(units for units in moved if units > 0), -sum(units for units in moved if units < 0))

    def _is_for_others(self) -> bool:
        """Return whether the wallet kept nothing of what it exchanged, as one that fills orders of others."""
        held = self._moves.total
        return all(abs(held[mint]) * FEES <= abs(units) for mint, units in self._exchanged().items() if units)

    def _exchanged(self) -> Changes:
        changes: Changes = Counter(self._tokens)
        changes[None] = self._coin
        return changes

    def _check_rest(self) -> None:
        """Raise UnclearSwap for a token gone and coin come, the reverse, or proceeds that went elsewhere."""
        changes = changes_of(self._moves.rest)
        net = added(each for owner, each in changes.items() if owner in self._moves.owners)
        gone = {
            flow.mint
            for flow in _left(self._moves)
            if flow.mint is not None and exchanges(changes[flow.taker])
        }
        if any(net[mint] < 0 for mint in gone):
            raise UnclearSwap(ELSEWHERE)
        if self._moves.is_signer and any(
            (units < 0 < net[None]) or (units > 0 and net[None] < -_LARGE)
            for mint, units in net.items()
            if mint is not None
        ):
            raise UnclearSwap(NO_EXCHANGE)

    def _for_coin(self, mint: str) -> list[Swap]:
        """Return the swap of one token for the native coin, with tips and fees in its value."""
        self._check(mint)
        units = self._tokens[mint]
        pool = added(self._parties)
        # Of what a pool exchanged with several buyers, the wallet's share.
        exchanged = abs(pool[None])
        if self._others[mint]:
            exchanged = exchanged * abs(units) // abs(pool[mint])
        value = abs(self._coin)
        value = value + self._fees() if units > 0 else max(0, value - self._fees())
        return [self._write.for_coin(mint, units, value, exchanged)]

    def _fees(self) -> int:
        """Return the tips and fees in coin, without what was only sent to others in the same transaction."""
        friends = {flow.taker for flow in self._sent if flow.mint is not None}
        paid: Counter[str] = Counter()
        for flow in self._sent:
            if flow.mint is None and flow.taker not in friends:
                paid[flow.taker] += flow.units
        return sum(
            units
            for taker, units in paid.items()
            if taker in _TIPS or units <= max(abs(self._coin) // FEES, _LARGE)
        )

    def _for_token(self, gained: str, lost: str) -> list[Swap]:
        """Return the swap of a token for another one, by the coin or the dollars that both were worth."""
        mints = (lost, gained)
        for mint in mints:
            self._check(mint)
        tokens = self._tokens
        usd = next((self._write.amount(mint, tokens[mint]) for mint in mints if mint in self._stable), None)
        hops = (self._dollars(mint, stable) for stable in sorted(self._stable) for mint in mints)
        usd = usd or next((hop for hop in hops if hop), None)
        coin = next((price for mint in mints if (price := self._price(mint, None))), None)
        if coin is None and usd is None:
            coin = next((price for mint in mints if (price := self._price(mint, None, is_exact=False))), None)
        if coin is not None:
            return [self._write.for_coin(mint, tokens[mint], coin, usd=usd) for mint in (gained, lost)]
        return [self._write.for_token((gained, tokens[gained]), (lost, tokens[lost]), usd)]

    def _separately(self) -> list[Swap]:
        """Return the swaps of several tokens, each with the coin for which others exchanged it."""
        prices = {mint: self._price(mint, None) for mint in self._tokens}
        swaps = [
            self._write.for_coin(mint, self._tokens[mint], price) for mint, price in prices.items() if price
        ]
        if len(swaps) < len(self._tokens):
            raise UnclearSwap(UNCLEAR)
        return swaps

    def _passes_through(self) -> bool:
        """Return whether the coin only passed through, but for a leftover."""
        flow = sum(abs(party[None]) for party in self._parties)
        return abs(self._coin) * _LEFTOVER <= flow

    def _check(self, mint: str) -> None:
        """Raise UnclearSwap unless others moved what the wallet moved, but for fees in the token itself."""
        others = self._others[mint] + sum(party[mint] for party in self._parties)
        if not agrees(self._tokens[mint], -others, FEES):
            raise UnclearSwap(DISAGREES)

    def _price(self, mint: str, other: str | None, *, is_exact: bool = True) -> int | None:
        """Return for how much of `other` others exchanged the wallet's amount, or else most of it."""
        units = abs(self._tokens[mint])
        parties = [party for party in self._parties if party[mint]]
        clean = [party for party in parties if {mint, other} == {key for key in party if party[key]}]
        moved, price = (abs(sum(party[key] for party in clean)) for key in (mint, other))
        if is_exact:
            return price if price and moved == units and len(clean) == len(parties) else None
        return price * units // moved if price and moved * 2 >= units else None

    def _dollars(self, mint: str, stable: str) -> Decimal | None:
        price = self._price(mint, stable) if stable in self._moves.decimals else None
        return None if price is None else self._write.amount(stable, price)

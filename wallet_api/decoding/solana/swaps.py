"""The trades of a wallet in a Solana transaction, and the value of each.

The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext

from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.legs import SwapWriter
from wallet_api.decoding.moves import (
    DISAGREES,
    ELSEWHERE,
    FEES,
    NO_EXCHANGE,
    ROUND_TRIP,
    UNCLEAR,
    Changes,
    added,
    agrees,
    exchanges,
)
from wallet_api.decoding.solana.flows import Flow, Kind, changes_of
from wallet_api.decoding.solana.groups import Exchange
from wallet_api.decoding.solana.moves import Moves, read_moves
from wallet_api.decoding.solana.transactions import SolanaEvidence
from wallet_api.decoding.solana.venues import SOLANA
from wallet_api.decoding.swaps import DIGITS, LIQUIDITY, NO_TRADE, UNSIGNED, Reason, Swap, TrackedWallet
from wallet_api.decoding.trades import Decoded, Draft
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
        moves = read_moves(wallet, evidence.created_at, transaction)
        with localcontext(prec=DIGITS):
            return _decoded(evidence, wallet, moves)
    except UnclearSwap as error:
        # It is raised for what the wallet has consented to.
        return Decoded(why=Reason.UNCLEAR, detail=str(error))
    except UnusableRow as error:
        return Decoded(why=Reason.UNREADABLE, detail=str(error), is_signed=is_signer)


def _decoded(evidence: SolanaEvidence, wallet: TrackedWallet, moves: Moves) -> Decoded:
    consented = [exchange for exchange in moves.exchanges if exchange.is_consented]
    if moves.exchanges and not consented:
        return Decoded(why=UNSIGNED, is_signed=False, unproven=_unproven(evidence, wallet, moves))
    is_signed = moves.is_signer or bool(consented) or any(_left(moves))
    decoded = Decoded.of(_Reader(wallet, evidence, moves, consented).swaps())
    why = LIQUIDITY if moves.is_liquidity and decoded.why == NO_TRADE else decoded.why
    return replace(decoded, why=why, is_signed=is_signed)


def _unproven(evidence: SolanaEvidence, wallet: TrackedWallet, moves: Moves) -> Sequence[Draft]:
    """Return the trades that it would be if the wallet had agreed; none if they are unclear."""
    try:
        return Decoded.of(_Reader(wallet, evidence, moves, moves.exchanges).swaps()).drafts
    except UnusableRow:
        return ()


def _left(moves: Moves) -> Iterator[Flow]:
    """Yield what left the wallet for others by its own authority, outside its exchanges."""
    for flow in moves.rest:
        is_left = flow.giver == moves.wallet and flow.taker and flow.taker != moves.wallet
        if is_left and flow.kind is not Kind.RENT and (flow.is_consented or moves.is_signer):
            yield flow


class _Reader:
    """The swaps of one wallet in one transaction."""

    def __init__(
        self, wallet: TrackedWallet, evidence: SolanaEvidence, moves: Moves, found: Sequence[Exchange]
    ) -> None:
        self._stable = wallet.chain.stable_mints
        self._moves = moves
        self._exchanges = found
        self._parties = [party for exchange in found for party in exchange.parties]
        self._others = added(exchange.others for exchange in found)
        self._coin = sum(exchange.mine[None] for exchange in found)
        self._sent = [*_left(moves), *(flow for exchange in found for flow in exchange.onward)]
        self._tokens = self._net()
        if self._tokens.keys() - moves.decimals.keys():
            raise UnusableRow("a token of unknown decimals")
        traded = [mint for mint in self._tokens if self._is_round_trip(mint)]
        self._write = SwapWriter(wallet, evidence.signature, evidence.created_at, moves.decimals, traded)

    def swaps(self) -> list[Swap]:
        """Return the swaps; none for what is no trade. Raise UnclearSwap, and UnusableRow."""
        return next(swaps(self) for holds, swaps in _KINDS if holds(self))

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

    @property
    def is_none(self) -> bool:
        """Return whether the wallet exchanged nothing."""
        return not self._tokens or not exchanges(self._exchanged())

    def nothing(self) -> list[Swap]:
        """Return no swap. Raise UnclearSwap if the wallet gave and got something all the same."""
        self._check_rest()
        return []

    def for_others(self) -> list[Swap]:
        """Return no swap."""
        return []

    @property
    def is_for_coin(self) -> bool:
        """Return whether one token was exchanged for the native coin."""
        return len(self._tokens) == 1

    @property
    def is_for_others(self) -> bool:
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
        net = changes.get(self._moves.wallet, Counter())
        gone = {flow.mint for flow in _left(self._moves) if exchanges(changes[flow.taker])} - {None}
        if any(net[mint] < 0 for mint in gone):
            raise UnclearSwap(ELSEWHERE)
        if self._moves.is_signer and _is_apart(net):
            raise UnclearSwap(NO_EXCHANGE)

    def for_coin(self) -> list[Swap]:
        """Return the swap of one token for the native coin, with tips and fees in its value."""
        ((mint, units),) = self._tokens.items()
        self._check(mint)
        value = abs(self._coin)
        value = value + self._fees() if units > 0 else max(0, value - self._fees())
        return [self._write.for_coin(mint, units, value, self._moved_for(mint))]

    def _is_round_trip(self, mint: str) -> bool:
        """Return whether the wallet both bought and sold a token."""
        moved = sum(abs(exchange.mine[mint]) for exchange in self._exchanges)
        return moved > ROUND_TRIP * abs(self._tokens[mint])

    def _moved_for(self, mint: str) -> int | None:
        """Return the coin that others moved for a token."""
        units = abs(self._tokens[mint])
        pool = added(self._parties)
        # Of what a pool exchanged with several buyers, the wallet's share.
        exchanged = abs(pool[None])
        if self._others[mint]:
            return exchanged * units // abs(pool[mint]) if pool[mint] else None
        return exchanged

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

    def for_token(self) -> list[Swap]:
        """Return the swap of a token for another one, by the coin or the dollars that both were worth."""
        lost, gained = sorted(self._tokens, key=lambda mint: self._tokens[mint])
        for mint in (lost, gained):
            self._check(mint)
        tokens = self._tokens
        usd = self._usd((lost, gained))
        coin = self._coin_of((lost, gained), is_exact=True)
        if coin is None and usd is None:
            coin = self._coin_of((lost, gained), is_exact=False)
        if coin is not None:
            return [self._write.for_coin(mint, tokens[mint], coin, usd=usd) for mint in (gained, lost)]
        return [self._write.for_token((gained, tokens[gained]), (lost, tokens[lost]), usd)]

    def _usd(self, mints: tuple[str, str]) -> Decimal | None:
        """Return the dollars of a swap: those that are one of the two, or else that others moved for one."""
        for mint in mints:
            if mint in self._stable:
                return self._write.amount(mint, self._tokens[mint])
        hops = (self._dollars(mint, stable) for stable in sorted(self._stable) for mint in mints)
        return next((hop for hop in hops if hop), None)

    def _coin_of(self, mints: tuple[str, str], *, is_exact: bool) -> int | None:
        prices = (self._price(mint, None, is_exact=is_exact) for mint in mints)
        return next((price for price in prices if price), None)

    def separately(self) -> list[Swap]:
        """Return the swaps of several tokens, each with the coin for which others exchanged it."""
        prices = {mint: self._price(mint, None) for mint in self._tokens}
        swaps = [
            self._write.for_coin(mint, self._tokens[mint], price) for mint, price in prices.items() if price
        ]
        if len(swaps) < len(self._tokens):
            raise UnclearSwap(UNCLEAR)
        return swaps

    @property
    def is_pair(self) -> bool:
        """Return whether one token was sold for another one, and coin passed through, but for a leftover."""
        signs = sorted(units > 0 for units in self._tokens.values() if units)
        if signs != [False, True]:
            return False
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
        clean = _between(parties, {mint, other})
        moved, price = abs(added(clean)[mint]), abs(added(clean)[other])
        if moved == units and clean == parties:
            return price or None
        is_most = moved * 2 >= units and not is_exact
        return price * units // moved or None if is_most else None

    def _dollars(self, mint: str, stable: str) -> Decimal | None:
        price = self._price(mint, stable) if stable in self._moves.decimals else None
        return None if price is None else self._write.amount(stable, price)


def _is_apart(net: Changes) -> bool:
    """Return whether a token is gone and coin has come, or the reverse, for more than tips."""
    tokens = [units for mint, units in net.items() if mint is not None]
    is_sold = net[None] > 0 and any(units < 0 for units in tokens)
    return is_sold or (net[None] < -_LARGE and any(units > 0 for units in tokens))


def _between(parties: Sequence[Changes], mints: set[str | None]) -> list[Changes]:
    """Return those that moved these two and nothing else."""
    return [party for party in parties if {mint for mint, units in party.items() if units} == mints]


# What the exchanges of a transaction are: that of the first condition which holds.
_KINDS: Sequence[tuple[Callable[[_Reader], bool], Callable[[_Reader], list[Swap]]]] = (
    (lambda reader: reader.is_none, _Reader.nothing),
    (lambda reader: reader.is_for_others, _Reader.for_others),
    (lambda reader: reader.is_for_coin, _Reader.for_coin),
    (lambda reader: reader.is_pair, _Reader.for_token),
    (lambda reader: True, _Reader.separately),
)

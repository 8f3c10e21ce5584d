"""The trades of a wallet in a Solana transaction, and the value of each.

The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import localcontext
from functools import partial

from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.changes import (
    DISAGREES,
    ELSEWHERE,
    FEES,
    LEFTOVER,
    NO_EXCHANGE,
    ROUND_TRIP,
    UNCLEAR,
    Changes,
    added,
    agrees,
    is_exchange,
)
from wallet_api.chain.decoding.solana.exchanges import Exchanges, read_exchanges
from wallet_api.chain.decoding.solana.groups import Exchange
from wallet_api.chain.decoding.solana.moves import Kind, SolanaMove, changes_by_owner
from wallet_api.chain.decoding.solana.transactions import SolanaEvidence
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.swaps import (
    DIGITS,
    LIQUIDITY,
    NO_TRADE,
    UNSIGNED,
    Reason,
    SwapWriter,
)
from wallet_api.chain.decoding.trades import NONE, Decoded, Draft, unclear
from wallet_api.chain.decoding.venues import Role

_TIPS = frozenset(venue.address for venue in SOLANA if venue.role is Role.TIPS)

# What is left over of a route, as a part of what moved of it.
_REMAINDER = 1000
# Tips and fees, in lamports, may be so much of small amounts; of larger ones a fifth at most (FEES).
_LARGE = 20_000_000


def decode_solana(evidence: SolanaEvidence) -> Decoded:
    """Return the trades of its wallet in a transaction, or why there is none."""
    transaction = evidence.transaction
    is_signer = evidence.wallet.address in transaction.signers
    if transaction.meta.err is not None:
        return Decoded(why=NO_TRADE, is_signed=is_signer)
    try:
        read = read_exchanges(evidence)
        with localcontext(prec=DIGITS):
            return _decoded(evidence, read)
    except UnusableRow as error:
        return Decoded(why=Reason.UNREADABLE, detail=str(error), is_signed=is_signer)


def _decoded(evidence: SolanaEvidence, read: Exchanges) -> Decoded:
    consented = [exchange for exchange in read.found if exchange.is_consented]
    if read.found and not consented:
        return Decoded(why=UNSIGNED, is_signed=False, unproven=_unproven(evidence, read))
    is_signed = read.is_signer or bool(consented) or any(_left(read))
    decoded = _Reader(evidence, read, consented).decoded()
    why = LIQUIDITY if read.is_liquidity and decoded.why == NO_TRADE else decoded.why
    return replace(decoded, why=why, is_signed=is_signed)


def _unproven(evidence: SolanaEvidence, read: Exchanges) -> Sequence[Draft]:
    """Return the trades that it would be if the wallet had agreed; none if they are unclear."""
    try:
        return _Reader(evidence, read, read.found).decoded().drafts
    except UnusableRow:
        return ()


def _left(read: Exchanges) -> Iterator[SolanaMove]:
    """Yield what left the wallet for others by its own authority, outside its exchanges."""
    for move in read.rest:
        is_left = move.giver == read.wallet and move.taker and move.taker != read.wallet
        if is_left and move.kind is not Kind.RENT and (move.is_consented or read.is_signer):
            yield move


class _Reader:
    def __init__(self, evidence: SolanaEvidence, read: Exchanges, found: Sequence[Exchange]) -> None:
        self._read = read
        self._exchanges = found
        self._parties = [party for exchange in found for party in exchange.parties]
        self._others = added(exchange.others for exchange in found)
        self._coin = sum(exchange.mine[None] for exchange in found)
        self._sent = [*_left(read), *(move for exchange in found for move in exchange.onward)]
        self._tokens = self._net()
        self._mine: Changes = Counter(self._tokens | {None: self._coin})
        if self._tokens.keys() - read.decimals.keys():
            raise UnusableRow("a token of unknown decimals")
        traded = [mint for mint in self._tokens if self._is_round_trip(mint)]
        self._write = SwapWriter(
            evidence.wallet, evidence.signature, evidence.created_at, read.decimals, traded
        )

    def decoded(self) -> Decoded:
        """Return the outcome of the first rule that applies. Raise UnusableRow."""
        if not self._tokens or not is_exchange(self._mine):
            return self._nothing()
        if self._is_for_others():
            return NONE
        if len(self._tokens) == 1:
            return self._for_coin()
        return self._for_token() if self._is_pair() else self._separately()

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
            passed = max(sum(map(abs, each)), self._passed(mint))
            if abs(units) * _REMAINDER >= passed > 0:
                fee = sum(move.units for move in self._sent if move.mint == mint)
                tokens[mint] = units - fee if fee * FEES <= abs(units) else units
        return tokens

    def _passed(self, mint: str) -> int:
        """Return how much of a token went from one to another of those that exchanged with the wallet."""
        moved = [party[mint] for party in self._parties]
        return min(sum(units for units in moved if units > 0), -sum(units for units in moved if units < 0))

    def _is_for_others(self) -> bool:
        """Return whether the wallet kept nothing of what it exchanged, as one that fills orders of others."""
        held = self._read.total
        return all(abs(held[mint]) * FEES <= abs(units) for mint, units in self._mine.items() if units)

    def _nothing(self) -> Decoded:
        """Return no trade; UNCLEAR for a token gone and coin come, the reverse, or proceeds elsewhere."""
        changes = changes_by_owner(self._read.rest)
        net = changes.get(self._read.wallet, Counter())
        gone = {move.mint for move in _left(self._read) if is_exchange(changes[move.taker])} - {None}
        if any(net[mint] < 0 for mint in gone):
            return unclear(ELSEWHERE)
        return unclear(NO_EXCHANGE) if self._read.is_signer and _is_apart(net) else NONE

    def _for_coin(self) -> Decoded:
        """Return the trade of one token for the native coin, with tips and fees in its value."""
        if not self._is_agreed():
            return unclear(DISAGREES)
        ((mint, units),) = self._tokens.items()
        value = abs(self._coin)
        value = value + self._fees() if units > 0 else max(0, value - self._fees())
        return Decoded.from_swaps([self._write.for_coin(mint, units, value, self._moved_for(mint))])

    def _is_round_trip(self, mint: str) -> bool:
        moved = sum(abs(exchange.mine[mint]) for exchange in self._exchanges)
        return moved > ROUND_TRIP * abs(self._tokens[mint])

    def _moved_for(self, mint: str) -> int | None:
        units = abs(self._tokens[mint])
        pool = added(self._parties)
        # Of what a pool exchanged with several buyers, the wallet's share.
        exchanged = abs(pool[None])
        if self._others[mint]:
            return exchanged * units // abs(pool[mint]) if pool[mint] else None
        return exchanged

    def _fees(self) -> int:
        """Return the tips and fees in coin, without what was only sent to others in the same transaction."""
        friends = {move.taker for move in self._sent if move.mint is not None}
        paid: Counter[str] = Counter()
        for move in self._sent:
            if move.mint is None and move.taker not in friends:
                paid[move.taker] += move.units
        return sum(
            units
            for taker, units in paid.items()
            if taker in _TIPS or units <= max(abs(self._coin) // FEES, _LARGE)
        )

    def _for_token(self) -> Decoded:
        """Return the trades of a token for another one, by the coin or the dollars that both were worth."""
        if not self._is_agreed():
            return unclear(DISAGREES)
        lost, gained = sorted(self._tokens.items(), key=lambda side: side[1])
        about = partial(self._price, is_exact=False)
        return Decoded.from_swaps(self._write.for_pair(gained, lost, self._price, about))

    def _separately(self) -> Decoded:
        """Return the trades of several tokens, each with the coin for which others exchanged it."""
        swaps = self._write.each_for_coin(self._tokens, self._price)
        return unclear(UNCLEAR) if swaps is None else Decoded.from_swaps(swaps)

    def _is_pair(self) -> bool:
        """Return whether one token was sold for another one, and coin passed through, but for a leftover."""
        signs = sorted(units > 0 for units in self._tokens.values() if units)
        if signs != [False, True]:
            return False
        passed = sum(abs(party[None]) for party in self._parties)
        return abs(self._coin) * LEFTOVER <= passed

    def _is_agreed(self) -> bool:
        """Return whether others moved what the wallet moved, but for fees in the tokens themselves."""
        others = added((self._others, *self._parties))
        return all(agrees(units, -others[mint], FEES) for mint, units in self._tokens.items())

    def _price(self, mint: str, units: int, other: str | None, *, is_exact: bool = True) -> int | None:
        """Return for how much of `other` others exchanged these units, or else most of them."""
        units = abs(units)
        parties = [party for party in self._parties if party[mint]]
        # Those that moved these two and nothing else.
        clean = [party for party in parties if {one for one in party if party[one]} == {mint, other}]
        moved, price = abs(added(clean)[mint]), abs(added(clean)[other])
        if moved == units and clean == parties:
            return price or None
        is_most = moved * 2 >= units and not is_exact
        return price * units // moved or None if is_most else None


def _is_apart(net: Changes) -> bool:
    """Return whether a token is gone and coin has come, or the reverse, for more than tips."""
    tokens = [units for mint, units in net.items() if mint is not None]
    is_sold = net[None] > 0 and any(units < 0 for units in tokens)
    return is_sold or (net[None] < -_LARGE and any(units > 0 for units in tokens))

"""What a wallet traded in an EVM transaction, decided from evidence.

The rules and their reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext

from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.evm_coin import CoinChange, find_coin
from wallet_api.decoding.evm_evidence import Consent, EvmEvidence, How, consent_of, decimals_of
from wallet_api.decoding.evm_filter import may_exchange
from wallet_api.decoding.evm_flows import EvmFlows
from wallet_api.decoding.evm_orders import GIVEN_AWAY, UNKNOWN_DECIMALS, decode_orders
from wallet_api.decoding.legs import SwapWriter
from wallet_api.decoding.moves import DISAGREES, FEES, NO_EXCHANGE, UNCLEAR, agrees
from wallet_api.decoding.swaps import DIGITS, NO_TRADE, UNSIGNED, Reason, TrackedWallet
from wallet_api.decoding.trades import Decoded
from wallet_api.decoding.venues import Role

NO_COIN = "what it cost in the native coin cannot be determined"

# The largest part of the coin of a route that may be left over.
_LEFTOVER = 100


def decode_evm(evidence: EvmEvidence, wallet: TrackedWallet) -> Decoded:
    """Return the trades of `wallet` in a transaction, or why there is none. Raise Unanswered."""
    if not may_exchange(evidence.logs, wallet):
        return Decoded(why=NO_TRADE)
    consent = consent_of(evidence, wallet)
    if consent is None:
        return Decoded(why=UNSIGNED, is_signed=False)
    try:
        with localcontext(prec=DIGITS):
            return _Decision(evidence, wallet, consent).decoded()
    except UnusableRow as error:
        return Decoded(why=Reason.INVALID, detail=str(error))


@dataclass(frozen=True, slots=True)
class _Exchanged:
    """What others exchanged of a token: `given` to the wallet's side, with the sign of its units, for `coin`.

    `shared` is what they gave without what the token's own contract kept of it as a tax. `coin` is the part
    of the wallet, with the sign of its change.
    """

    given: int
    shared: int
    coin: int


class _Decision:
    """The decision about one wallet in one transaction."""

    def __init__(self, evidence: EvmEvidence, wallet: TrackedWallet, consent: Consent) -> None:
        self._evidence = evidence
        self._wallet = wallet
        self._consent = consent
        self._stable = wallet.chain.stable_mints
        self._decimals: Mapping[str, int] = {}
        self._flows = EvmFlows.of(wallet, evidence, consent, None)

    @property
    def _write(self) -> SwapWriter:
        evidence = self._evidence
        return SwapWriter(self._wallet, evidence.signature, evidence.created_at, self._decimals)

    def decoded(self) -> Decoded:
        """Return the trades, or why there is none. Raise Unanswered, and UnusableRow."""
        if self._consent.how == How.ORDER:
            return decode_orders(self._evidence, self._wallet, self._consent.orders)
        raw = {mint: units for mint, units in self._flows.mine.items() if mint is not None and units}
        shares = [mint for mint in raw if self._flows.is_share(mint)]
        if not raw or shares:
            # What is minted or burned for the wallet stands for what it deposits or withdraws.
            if len(raw) > len(shares) and all(units > 0 for units in raw.values()) and self._flows.paid:
                return Decoded(why=Reason.UNCLEAR, detail=UNCLEAR)
            return Decoded(why=NO_TRADE)
        passed = {
            mint: units
            for mint, units in self._flows.one_way().items()
            if abs(units) * FEES > abs(raw.get(mint, 0))
        }
        tokens = {mint: raw.get(mint, 0) - passed.get(mint, 0) for mint in raw.keys() | passed.keys()}
        tokens = {mint: units for mint, units in tokens.items() if units}
        if self._consent.how == How.PAID and not self._is_paid(tokens or raw):
            return Decoded(why=UNSIGNED, is_signed=False)
        self._decimals = decimals_of(self._evidence, sorted({*raw, *tokens, *self._stable}))
        if (raw.keys() | tokens.keys()) - self._decimals.keys():
            return Decoded(why=Reason.INVALID, detail=UNKNOWN_DECIMALS)
        if not tokens:
            return self._sent(raw)
        if tokens.keys() <= passed.keys() and not self._has_counterpart(tokens):
            # The wallet acted for others, such as one that fills orders.
            return Decoded(why=NO_TRADE)
        gained = [mint for mint, units in tokens.items() if units > 0]
        lost = [mint for mint, units in tokens.items() if units < 0]
        if self._consent.how == How.NAMED and len(tokens) > 2:
            return Decoded(why=Reason.UNCLEAR, detail=UNCLEAR)
        if len(tokens) == 1:
            ((mint, units),) = tokens.items()
            return self._for_coin(mint, units, is_whole=not passed)
        if len(gained) == len(lost) == 1 and (self._passes_through() or self._has_no_coin()):
            return self._for_token((gained[0], tokens[gained[0]]), (lost[0], tokens[lost[0]]))
        return self._separately(tokens)

    def _is_paid(self, tokens: Mapping[str, int]) -> bool:
        """Return whether money of the wallet, and nothing else, paid for one token."""
        money = [units for mint, units in tokens.items() if mint in self._stable]
        others = [units for mint, units in tokens.items() if mint not in self._stable]
        money += [self._flows.mine[None]] * bool(self._flows.mine[None])
        if not others:
            return sorted(units > 0 for units in money) == [False, True]
        return len(money) == len(others) == 1 and money[0] < 0 < others[0]

    def _has_counterpart(self, tokens: Mapping[str, int]) -> bool:
        """Return whether the wallet itself paid or received coin for its only token."""
        if len(tokens) > 1:
            return False
        (units,) = tokens.values()
        return self._coin(units).units * units < 0

    def _coin(self, units: int) -> CoinChange:
        """Return by how much the wallet's coin changed beside these units of a token. Raise Unanswered."""
        coin, self._flows = find_coin(self._evidence, self._consent, self._flows, units)
        return coin

    # One token.

    def _exchanged(self, mint: str, units: int) -> _Exchanged:
        """Return what others exchanged of a token. Who moved it as the wallet did is no other side of it."""
        exchangers = self._flows.exchangers
        sides = {owner: each for owner, each in exchangers.items() if each[mint] * units <= 0}
        given = -sum(each[mint] for each in sides.values())
        kept = self._flows.others[mint][mint] if mint in self._flows.others else 0
        shared = given - (kept if kept * units > 0 and units > 0 else 0)
        coin = -sum(each[None] for each in sides.values())
        is_part = abs(units) * FEES < abs(shared) * (FEES - 1) or (units < 0 and abs(units) < abs(given))
        if given and is_part:
            coin = _round_div(coin * units, given)
        return _Exchanged(given, shared, coin)

    def _for_coin(self, mint: str, units: int, *, is_whole: bool) -> Decoded:
        """Return the trade of one token for the native coin."""
        coin = self._coin(units)
        others = self._exchanged(mint, units)
        if coin.units * units >= 0:
            return self._unpaid(mint, units, coin, others)
        if not others.given:
            return self._unseen(mint, units, coin)
        if not coin.is_exact and not (agrees(others.coin, coin.units) and self._is_all(units, others)):
            stated = self._stated(mint, units, coin.units)
            if stated is None:
                return Decoded(why=Reason.NO_VALUE, detail=NO_COIN)
            return self._trade(mint, units, coin, stated)
        is_part = units > 0 and abs(units) * FEES < abs(others.shared) * (FEES - 1)
        if is_part and abs(coin.units) * (FEES - 1) > abs(others.coin) * FEES:
            # The wallet has also paid for the rest, which went to somebody else.
            return Decoded(why=Reason.UNCLEAR, detail=DISAGREES)
        exchanged = others.coin if others.coin * units < 0 else coin.units
        if not is_whole and others.coin * units < 0:
            # A part of the coin paid for something else.
            coin = CoinChange(exchanged, coin.is_exact)
        return self._trade(mint, units, coin, exchanged)

    def _is_all(self, units: int, others: _Exchanged) -> bool:
        """Return whether others exchanged what the wallet did, but for fees in the token itself."""
        return agrees(units, others.shared, FEES)

    def _trade(self, mint: str, units: int, coin: CoinChange, exchanged: int) -> Decoded:
        swap = self._write.for_coin(mint, units, coin.units, exchanged)
        return Decoded.of([swap], from_logs=not coin.is_exact)

    def _unpaid(self, mint: str, units: int, coin: CoinChange, others: _Exchanged) -> Decoded:
        """Return why a token is no trade for which the wallet neither paid nor received coin."""
        if coin.is_exact or (units > 0) != bool(self._flows.paid):
            if units < 0 and others.given and others.coin > 0:
                return Decoded(why=Reason.UNCLEAR, detail=GIVEN_AWAY)
            # It was sent, lent or deposited, or somebody else bought it for the wallet.
            return Decoded(why=NO_TRADE)
        has_log = self._evidence.logs.has_more
        if units < 0 and not others.given and not (has_log and not self._flows.is_deposited(mint, -units)):
            return Decoded(why=NO_TRADE)
        return Decoded(why=Reason.NO_VALUE, detail=NO_COIN)

    def _sent(self, raw: Mapping[str, int]) -> Decoded:
        """Return what tokens are that moved between the wallet and owners who exchanged nothing visible."""
        if len(raw) == 1:
            ((mint, units),) = raw.items()
            coin = self._coin(units)
            if coin.units * units >= 0:
                return self._unpaid(mint, units, coin, _Exchanged(0, 0, 0))
            return self._unseen(mint, units, coin)
        return Decoded(why=NO_TRADE)

    def _unseen(self, mint: str, units: int, coin: CoinChange) -> Decoded:
        """Return the trade of one token with somebody who exchanged nothing visible for the wallet's coin.

        Who sells something for native coin is paid by whoever has it. Tokens that come with a payment may be
        a claim for a fee.
        """
        stated = self._stated(mint, units, coin.units)
        if stated is not None:
            return self._trade(mint, units, coin, stated)
        if not coin.is_exact:
            return Decoded(why=Reason.NO_VALUE, detail=NO_COIN)
        if units < 0:
            return self._trade(mint, units, coin, coin.units)
        return Decoded(why=Reason.UNCLEAR, detail=NO_EXCHANGE)

    def _stated(self, mint: str, units: int, coin: int) -> int | None:
        """Return for about how much of this coin a router's log states that the wallet exchanged the units.

        Some pools hold native coin and log nothing that is known.
        """
        for event in self._flows.events:
            if event.venue.role == Role.ROUTER and (event.is_known or self._flows.is_seen_at(event.emitter)):
                coins = [value for value in event.values if agrees(value, abs(coin))]
                if coins and abs(units) in event.values:
                    nearest = min(coins, key=lambda value: abs(value - abs(coin)))
                    return -nearest if units > 0 else nearest
        return None

    # Several tokens.

    def _passes_through(self) -> bool:
        """Return whether the coin only passed through, but for a leftover."""
        exchangers = self._flows.exchangers.values()
        flow = sum(abs(each[None]) for each in exchangers)
        return abs(sum(each[None] for each in exchangers)) * _LEFTOVER <= flow

    def _has_no_coin(self) -> bool:
        """Return whether nothing shows that the wallet paid or received coin."""
        flows = self._flows
        return not (flows.paid or flows.mine[None] or flows.wraps)

    def _for_token(self, gained: tuple[str, int], lost: tuple[str, int]) -> Decoded:
        """Return the trades of a token for another one, if others exchanged both."""
        seen = [self._exchanged(*side) for side in (gained, lost)]
        sides = list(zip((gained, lost), seen, strict=True))
        if not any(others.given for _, others in sides):
            return Decoded(why=Reason.UNCLEAR, detail=NO_EXCHANGE)
        is_all = [self._is_all(units, others) for (_, units), others in sides]
        # Others may have moved more of one of them than is seen, but not more than the wallet.
        is_less = [abs(others.shared) < abs(units) for (_, units), others in sides]
        if not any(is_all) or not all(all_ or less for all_, less in zip(is_all, is_less, strict=True)):
            return Decoded(why=Reason.UNCLEAR, detail=DISAGREES)
        return self._pair(gained, lost)

    def _pair(self, gained: tuple[str, int], lost: tuple[str, int]) -> Decoded:
        """Return the trades of two tokens, by the coin or the dollars that both were worth."""
        write = self._write
        sides = (lost, gained)
        usd = next((write.amount(*side) for side in sides if side[0] in self._stable), None)
        hops = (self._dollars(*side, stable) for stable in sorted(self._stable) for side in sides)
        usd = usd or next((hop for hop in hops if hop), None)
        coin = next((price for side in sides if (price := self._price(*side, None))), None)
        if coin is None:
            return Decoded.of([write.for_token(gained, lost, usd)])
        return Decoded.of([write.for_coin(*side, coin, usd=usd) for side in (gained, lost)])

    def _separately(self, tokens: Mapping[str, int]) -> Decoded:
        """Return the trades of several tokens, each for the coin for which others exchanged exactly it."""
        signs = {units > 0 for units in tokens.values()}
        coin = self._flows.mine[None] - self._flows.paid
        signs |= {coin > 0} if coin else {True} if self._flows.withdrawn else set()
        if len(signs) < 2:
            return Decoded(why=NO_TRADE)
        prices = {mint: self._price(mint, units, None) for mint, units in tokens.items()}
        if not all(prices.values()):
            return Decoded(why=Reason.UNCLEAR, detail=UNCLEAR)
        return Decoded.of(
            [self._write.for_coin(mint, tokens[mint], price) for mint, price in prices.items() if price]
        )

    def _price(self, mint: str, units: int, other: str | None) -> int | None:
        """Return for how much of `other` others exchanged exactly these units of a token, or None."""
        parties = [each for each in self._flows.exchangers.values() if each[mint]]
        clean = all({mint, other} == {key for key in party if party[key]} for party in parties)
        given = -sum(party[mint] for party in parties)
        exact = given == units or (not self._flows.issued(mint) and agrees(given, units))
        price = sum(party[other] for party in parties)
        return abs(price) if clean and exact and price * units > 0 else None

    def _dollars(self, mint: str, units: int, stable: str) -> Decimal | None:
        price = self._price(mint, units, stable)
        return None if price is None or stable not in self._decimals else self._write.amount(stable, price)


def _round_div(one: int, other: int) -> int:
    """Return the quotient, rounded to the nearest number."""
    return (2 * one + other) // (2 * other)

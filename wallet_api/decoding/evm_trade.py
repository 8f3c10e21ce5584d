"""What a wallet traded in an EVM transaction, decided from evidence.

The rules and their reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext

from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.evm_evidence import (
    Ask,
    Consent,
    Evidence,
    How,
    Question,
    Unanswered,
    consent_of,
    decimals_of,
    may_have_consented,
)
from wallet_api.decoding.evm_flows import Flows
from wallet_api.decoding.evm_logs import Logs
from wallet_api.decoding.legs import SwapWriter
from wallet_api.decoding.moves import DISAGREES, FEES, NO_EXCHANGE, UNCLEAR, agrees, exchanges
from wallet_api.decoding.swaps import DIGITS, NO_TRADE, UNSIGNED, Reason, Swap, TrackedWallet
from wallet_api.decoding.trades import Decoded
from wallet_api.decoding.venues import Role

NO_COIN = "what it cost in the native coin cannot be determined"
GIVEN_AWAY = "the proceeds of the wallet's tokens went to somebody else"
UNKNOWN_DECIMALS = "a token of unknown decimals"

# A fee that may be a part of the value that the wallet sent: a fiftieth.
_COIN_FEES = 50
# The largest part of the coin of a route that may be left over.
_LEFTOVER = 100
# The native coin in the logs of a settlement.
_NATIVE = f"0x{'ee' * 20}"


@dataclass(frozen=True, slots=True)
class Coin:
    """By how much the wallet's native coin changed; exact, or else what logs say."""

    units: int
    is_exact: bool


def may_exchange(logs: Logs, wallet: TrackedWallet) -> bool:
    """Return whether the wallet has more or less of a token, and there is more than plain transfers."""
    changes: Counter[str | None] = Counter()
    mine = logs.by_owner.get(wallet.address, ())
    for move in mine:
        changes[move.mint] += move.units * ((move.taker == wallet.address) - (move.giver == wallet.address))
    if not any(units for mint, units in changes.items() if mint is not None):
        return False
    return logs.has_more or len(logs.moves) > len(mine) or exchanges(changes)


def why_none(logs: Logs, wallet: TrackedWallet) -> str | None:
    """Return why a transaction is no trade of `wallet` by its logs alone; None if it may be one."""
    if not may_exchange(logs, wallet):
        return NO_TRADE
    return None if may_have_consented(logs, wallet) else UNSIGNED


def decode_evm(evidence: Evidence, wallet: TrackedWallet) -> Decoded:
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

    def __init__(self, evidence: Evidence, wallet: TrackedWallet, consent: Consent) -> None:
        self._evidence = evidence
        self._wallet = wallet
        self._consent = consent
        self._stable = wallet.chain.stable_mints
        self._logs = evidence.logs
        self._is_sender = evidence.logs.sender == wallet.address
        self._decimals: Mapping[str, int] = {}
        self._flows = Flows.of(wallet, evidence, consent, None)

    @property
    def _write(self) -> SwapWriter:
        evidence = self._evidence
        return SwapWriter(self._wallet, evidence.signature, evidence.created_at, self._decimals)

    def decoded(self) -> Decoded:
        """Return the trades, or why there is none. Raise Unanswered, and UnusableRow."""
        if self._consent.how == How.ORDER:
            return self._of_orders()
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
        ((mint, units),) = tokens.items()
        return self._coin(mint, units).units * units < 0

    # The native coin.

    def _coin(self, mint: str, units: int) -> Coin:
        """Return by how much the wallet's coin changed beside these units of a token. Raise Unanswered."""
        logs, flows = self._logs, self._flows
        wrapped, own = flows.mine[None], flows.own_wraps
        # A contract that is called may add native coin, such as a tip.
        is_paid = wrapped * units < 0 and not (flows.paid or own)
        if is_paid and logs.to != self._wallet.address:
            return Coin(wrapped, is_exact=True)
        fee = logs.receipt.fee if self._is_sender else 0
        change = self._balance_change() if self._evidence.is_alone else None
        if change is None:
            changes = self._evidence.answer(Question(Ask.CHANGES))
            if isinstance(changes, dict):
                self._flows = Flows.of(self._wallet, self._evidence, self._consent, changes)
                change = changes.get(self._wallet.address, 0)
        if change is not None:
            return Coin(change + fee + wrapped, is_exact=True)
        if is_paid:
            return Coin(wrapped, is_exact=True)
        return Coin(wrapped - own + self._logged(units), is_exact=False)

    def _balance_change(self) -> int | None:
        """Return by how much the native balance changed; None if the node has no state of the block.

        An account that pays for its own operation has a part of its coin with the entry point.
        """
        questions = [Question(Ask.BALANCES)]
        if self._consent.cost:
            questions.append(Question(Ask.DEPOSITS, self._consent.entry_point))
        missing = [question for question in questions if question not in self._evidence.answers]
        if missing:
            raise Unanswered(*missing)
        change = self._consent.cost
        for question in questions:
            answer = self._evidence.answers[question]
            if not isinstance(answer, tuple):
                return None
            before, after = answer
            change += after - before
        return change

    def _logged(self, units: int) -> int:
        """Return by how much the native coin changed according to logs.

        What others wrapped, and native pools got, came from the wallet, if everybody else has what he had
        before. The rest of the value came back, or is a fee if it is small.
        """
        flows, paid = self._flows, self._flows.paid
        change = flows.withdrawn - flows.deposited - flows.pooled
        if self._is_account or change > 0:
            return change
        if units > 0 and (not change or agrees(-change, paid, _COIN_FEES)):
            return -paid
        return max(change, -paid)

    @property
    def _is_account(self) -> bool:
        """Return whether the wallet is a contract, which pays native coin without sending a transaction."""
        return self._logs.to == self._wallet.address or self._consent.how in (How.OPERATION, How.NAMED)

    # One token.

    def _exchanged(self, mint: str, units: int) -> _Exchanged:
        """Return what others exchanged of a token. Who moved it as the wallet did is no other side of it."""
        exchangers = self._flows.exchangers
        sides = {owner: each for owner, each in exchangers.items() if each[mint] * units <= 0}
        given = -sum(each[mint] for each in sides.values())
        kept = self._flows.others[mint][mint] if mint in self._flows.others else 0
        shared = given - (kept if kept * units > 0 and units > 0 else 0)
        coin = -sum(each[None] for each in sides.values())
        if abs(units) * FEES < abs(shared) * (FEES - 1) or (units < 0 and abs(units) < abs(given)):
            coin = _round_div(coin * units, given)
        return _Exchanged(given, shared, coin)

    def _for_coin(self, mint: str, units: int, *, is_whole: bool) -> Decoded:
        """Return the trade of one token for the native coin."""
        coin = self._coin(mint, units)
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
            coin = Coin(exchanged, coin.is_exact)
        return self._trade(mint, units, coin, exchanged)

    def _is_all(self, units: int, others: _Exchanged) -> bool:
        """Return whether others exchanged what the wallet did, but for fees in the token itself."""
        return agrees(units, others.shared, FEES)

    def _trade(self, mint: str, units: int, coin: Coin, exchanged: int) -> Decoded:
        swap = self._write.for_coin(mint, units, coin.units, exchanged)
        return Decoded.of([swap], from_logs=not coin.is_exact)

    def _unpaid(self, mint: str, units: int, coin: Coin, others: _Exchanged) -> Decoded:
        """Return why a token is no trade for which the wallet neither paid nor received coin."""
        if coin.is_exact or (units > 0) != bool(self._flows.paid):
            if units < 0 and others.given and others.coin > 0:
                return Decoded(why=Reason.UNCLEAR, detail=GIVEN_AWAY)
            # It was sent, lent or deposited, or somebody else bought it for the wallet.
            return Decoded(why=NO_TRADE)
        if units < 0 and not others.given and self._flows.is_deposited(mint, -units):
            return Decoded(why=NO_TRADE)
        return Decoded(why=Reason.NO_VALUE, detail=NO_COIN)

    def _sent(self, raw: Mapping[str, int]) -> Decoded:
        """Return what tokens are that moved between the wallet and owners who exchanged nothing visible."""
        if len(raw) == 1:
            ((mint, units),) = raw.items()
            coin = self._coin(mint, units)
            if coin.units * units >= 0:
                return self._unpaid(mint, units, coin, _Exchanged(0, 0, 0))
            return self._unseen(mint, units, coin)
        return Decoded(why=NO_TRADE)

    def _unseen(self, mint: str, units: int, coin: Coin) -> Decoded:
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

    # Orders.

    def _of_orders(self) -> Decoded:
        """Return the trades of orders that a settlement filled, by the amounts of its log."""
        mints = {
            f"0x{event.values[place] % (1 << 160):040x}" for event in self._consent.orders for place in (1, 2)
        }
        chain = self._wallet.chain
        mints = {mint for mint in mints if not chain.is_native(mint)}
        self._decimals = decimals_of(self._evidence, sorted({*mints, *self._stable}))
        if mints - self._decimals.keys():
            return Decoded(why=Reason.INVALID, detail=UNKNOWN_DECIMALS)
        swaps: list[Swap] = []
        for event in self._consent.orders:
            lost, gained = (event.address(place) for place in (1, 2))
            gave, got = event.values[3:5]
            if gained != _NATIVE:
                mint = None if gained == chain.wrapped_mint else gained
                taken = sum(
                    move.units
                    for move in self._logs.by_owner.get(self._wallet.address, ())
                    if move.taker == self._wallet.address and move.mint == mint
                )
                if not agrees(min(taken, got), got, FEES):
                    return Decoded(why=Reason.UNCLEAR, detail=GIVEN_AWAY)
            swaps.append(self._filled((lost, -gave), (gained, got)))
        return Decoded.of(swaps)

    def _filled(self, lost: tuple[str, int], gained: tuple[str, int]) -> Swap:
        chain = self._wallet.chain
        if chain.is_native(lost[0]):
            return self._write.for_coin(*gained, lost[1])
        if chain.is_native(gained[0]):
            return self._write.for_coin(*lost, gained[1])
        usd = next((self._write.amount(*side) for side in (lost, gained) if side[0] in self._stable), None)
        return self._write.for_token(gained, lost, usd)


def _round_div(one: int, other: int) -> int:
    """Return the quotient, rounded to the nearest number."""
    return (2 * one + other) // (2 * other)

"""What a wallet traded within its consent, by what it and others moved: the first rule that applies.

The rules and their reasons are in docs/sync.md, "EVM chains from a node".
"""

from functools import partial

from wallet_api.chain.decoding.changes import DISAGREES, FEES, NO_EXCHANGE, UNCLEAR, agrees
from wallet_api.chain.decoding.evm.coin import CoinChange, find_coin
from wallet_api.chain.decoding.evm.consent import Consent
from wallet_api.chain.decoding.evm.counterparts import (
    NOTHING,
    Exchanged,
    are_vaults,
    exchanged,
    is_deposited,
    is_lent,
    one_way,
    passes_through,
    price,
    round_trips,
    sent_to_itself,
    stated,
)
from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.orders import GIVEN_AWAY, NO_COIN, UNKNOWN_DECIMALS
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.evm.router_calls import router_call
from wallet_api.chain.decoding.swaps import Reason, SwapWriter, TokenUnits
from wallet_api.chain.decoding.trades import NONE, Decoded, unclear

_NO_PRICES = unclear(UNCLEAR)
_NO_VALUE = Decoded(why=Reason.NO_VALUE, detail=NO_COIN)


class Decision:
    """The decision about one wallet in one transaction.

    `raw` are the units by token that the wallet has more or less of; `passed` those of which it received or
    sent a large part without anything in exchange; `tokens` those that remain, `gained` and `lost`.
    """

    _write: SwapWriter

    def __init__(self, evidence: EvmEvidence, consent: Consent) -> None:
        self._evidence = evidence
        self._consent = consent
        self._flows = owners = EvmOwners.read(evidence, consent)
        self._raw = raw = {mint: units for mint, units in owners.mine.items() if mint is not None and units}
        # What is minted or burned for the wallet stands for what it deposits or withdraws.
        self._shares = [mint for mint in raw if owners.is_share(mint)]
        passed = {} if not raw or self._shares else one_way(owners)
        self._passed = {
            mint: units for mint, units in passed.items() if abs(units) * FEES > abs(raw.get(mint, 0))
        }
        tokens = {mint: raw.get(mint, 0) - self._passed.get(mint, 0) for mint in raw.keys() | self._passed}
        self._tokens = {mint: units for mint, units in tokens.items() if units}
        self._gained = [mint for mint, units in self._tokens.items() if units > 0]
        self._lost = [mint for mint, units in self._tokens.items() if units < 0]

    def decoded(self) -> Decoded:
        """Return the outcome of the first rule that applies. Raise Unanswered, and UnusableRow."""
        if self._shares:
            return self._of_shares()
        if not self._raw:
            return NONE
        mints = self._raw | self._tokens
        # Without a price by it are those not signed for, or both bought and sold.
        unpriced = round_trips(self._flows, mints, self._passed) if self._consent.is_signed else mints
        write = self._evidence.writer(mints.keys(), unpriced)
        if write is None:
            return Decoded(why=Reason.INVALID, detail=UNKNOWN_DECIMALS)
        self._write = write
        if not self._tokens:
            return self._passed_on()
        if self._is_for_others():
            return NONE
        if len(self._tokens) == 1:
            return self._for_coin()
        if self._is_pair():
            return self._for_token()
        if self._is_one_sided():
            return NONE
        swaps = write.each_for_coin(self._tokens, partial(price, self._flows))
        return _NO_PRICES if swaps is None else Decoded.from_swaps(swaps)

    def _of_shares(self) -> Decoded:
        """Return what it is that a token was minted or burned for the wallet: most deposit, or withdraw."""
        is_more = len(self._raw) > len(self._shares) and all(units > 0 for units in self._raw.values())
        if is_more and self._flows.paid:
            # What each of them cost is not known.
            return _NO_PRICES
        if len(self._raw) == 1:
            ((mint, units),) = self._raw.items()
            is_own = mint in self._flows.others and self._flows.others[mint][mint] * units < 0
            if is_own and self._coin(units).units * units < 0:
                # The token's contract gave or took it for coin: it may be its own pool.
                return unclear(NO_EXCHANGE)
        return NONE

    def _is_for_others(self) -> bool:
        """Return whether the wallet acted for others, such as one that fills orders.

        It neither paid nor received coin for its only token.
        """
        is_passed = self._tokens.keys() <= self._passed.keys()
        if not is_passed or len(self._tokens) > 1:
            return is_passed
        (units,) = self._tokens.values()
        return self._coin(units).units * units >= 0

    def _is_pair(self) -> bool:
        """Return whether one token went for another one, and no coin."""
        owners = self._flows
        has_no_coin = not (owners.paid or owners.mine[None] or owners.wraps)
        return len(self._gained) == len(self._lost) == 1 and (passes_through(owners) or has_no_coin)

    def _is_one_sided(self) -> bool:
        owners = self._flows
        signs = {units > 0 for units in self._tokens.values()}
        coin = owners.mine[None] - owners.paid
        signs |= {coin > 0} if coin else {True} if owners.withdrawn else set()
        return len(signs) < 2

    def _coin(self, units: int) -> CoinChange:
        """Return by how much the wallet's coin changed beside these units of a token. Raise Unanswered."""
        coin, self._flows = find_coin(self._evidence, self._consent, self._flows, units)
        return coin

    def _passed_on(self) -> Decoded:
        """Return what tokens are that moved between the wallet and owners who exchanged nothing visible."""
        if len(self._raw) > 1:
            return NONE
        ((mint, units),) = self._raw.items()
        coin = self._coin(units)
        if coin.units * units >= 0:
            return self._unpaid(mint, units, coin, NOTHING)
        return self._unseen(mint, units, coin)

    def _for_coin(self) -> Decoded:
        """Return the trade of the only token for the native coin."""
        ((mint, units),) = self._tokens.items()
        coin = self._coin(units)
        others = exchanged(self._flows, mint, units)
        if not coin.is_exact and units < 0 and self._is_for_another():
            return NONE
        if coin.units * units >= 0:
            return self._unpaid(mint, units, coin, others)
        if not others.given:
            return self._unseen(mint, units, coin)
        if not (coin.is_exact or self._is_confirmed(mint, units, coin, others)):
            said = stated(self._flows, mint, units, coin.units)
            return _NO_VALUE if said is None else self._trade(mint, units, coin, said)
        is_part = units > 0 and abs(units) * FEES < abs(others.shared) * (FEES - 1)
        if is_part and abs(coin.units) * (FEES - 1) > abs(others.coin) * FEES:
            # The wallet has also paid for the rest, which went to somebody else.
            return unclear(DISAGREES)
        if others.coin * units >= 0:
            # For which part of the coin a part of the token went is not seen.
            return unclear(DISAGREES) if self._passed else self._trade(mint, units, coin, coin.units)
        if self._passed:
            # A part of the coin paid for something else.
            coin = CoinChange(others.coin, coin.is_exact)
        return self._trade(mint, units, coin, others.coin)

    def _is_for_another(self) -> bool:
        """Return whether the wallet had a known router pay another one. Raise Unanswered."""
        return self._consent.is_signed and not router_call(self._evidence).is_for(
            self._evidence.wallet.address
        )

    def _is_confirmed(self, mint: str, units: int, coin: CoinChange, others: Exchanged) -> bool:
        """Return whether others exchanged about the coin that logs say, and all of the token."""
        sold = units + sent_to_itself(self._flows, mint) if units < 0 else units
        return agrees(others.coin, coin.units + coin.kept) and (others.is_all(units) or others.is_all(sold))

    def _trade(self, mint: str, units: int, coin: CoinChange, moved: int) -> Decoded:
        swap = self._write.for_coin(mint, units, coin.units, moved)
        return Decoded.from_swaps([swap], from_logs=not coin.is_exact)

    def _unpaid(self, mint: str, units: int, coin: CoinChange, others: Exchanged) -> Decoded:
        """Return why a token is no trade for which the wallet neither paid nor received coin."""
        if coin.is_exact or (units > 0) != bool(self._flows.paid):
            if units < 0 and others.given and others.coin > 0:
                return NONE if self._is_for_another() else unclear(GIVEN_AWAY)
            # It was sent, lent or deposited, or somebody else bought it for the wallet.
            return NONE
        # What the account itself and its entry point logged is no riddle.
        has_log = self._evidence.logs.by_emitter.keys() - {
            self._evidence.wallet.address,
            self._consent.entry_point,
        }
        if units < 0 and not others.given and not (has_log and not is_deposited(self._flows, mint, -units)):
            return NONE
        return _NO_VALUE

    def _unseen(self, mint: str, units: int, coin: CoinChange) -> Decoded:
        """Return the trade of one token with somebody who exchanged nothing visible for the wallet's coin.

        Who sells something for native coin is paid by whoever has it. Tokens that come with a payment may be
        a claim for a fee.
        """
        said = stated(self._flows, mint, units, coin.units)
        if said is not None:
            return self._trade(mint, units, coin, said)
        if is_lent(self._flows, mint, units):
            return NONE
        if not coin.is_exact:
            return _NO_VALUE
        if units < 0:
            return self._trade(mint, units, coin, coin.units)
        return unclear(NO_EXCHANGE)

    def _for_token(self) -> Decoded:
        """Return the trades of a token for another one, if others exchanged both."""
        owners = self._flows
        gained, lost = ((mint, self._tokens[mint]) for mint in (*self._gained, *self._lost))
        seen = [(units, exchanged(owners, mint, units)) for mint, units in (gained, lost)]
        if not any(others.given for _, others in seen):
            return self._unseen_pair(gained, lost)
        is_all = [others.is_all(units) for units, others in seen]
        # Others may have moved more of one of them than is seen, but not more than the wallet.
        is_less = [abs(others.shared) < abs(units) for units, others in seen]
        if not any(is_all) or not all(all_ or less for all_, less in zip(is_all, is_less, strict=True)):
            return unclear(DISAGREES)
        return Decoded.from_swaps(self._write.for_pair(gained, lost, partial(price, owners)))

    def _unseen_pair(self, gained: TokenUnits, lost: TokenUnits) -> Decoded:
        """Return what two tokens are that nobody is seen to have exchanged."""
        owners, write = self._flows, self._write
        if any(is_lent(owners, *side) for side in (gained, lost)):
            return NONE
        # Dollars for dollars, out of two vaults; where amounts differ, a fee went elsewhere.
        is_of_dollars = {gained[0], lost[0]} <= owners.wallet.chain.stable_mints
        if is_of_dollars and are_vaults(owners, gained, lost):
            return Decoded.from_swaps([write.for_token(gained, lost, write.amount(*lost))])
        return unclear(NO_EXCHANGE)

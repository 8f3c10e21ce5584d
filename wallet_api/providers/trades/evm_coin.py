"""The native coin that a wallet paid or received in an EVM transaction, which no log contains.

The order of the ways to find it, and the reasons, are in docs/sync.md, "EVM chains from a node".
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from wallet_api.decoding.amounts import UnusableRow
from wallet_api.decoding.evm import ChainBlock
from wallet_api.decoding.evm_moves import Legs
from wallet_api.decoding.exchanges import UnclearSwap, swaps_of
from wallet_api.decoding.moves import FEES, Moves, agrees
from wallet_api.decoding.swaps import NO_TRADE, Reason
from wallet_api.decoding.trades import Decoded
from wallet_api.providers import multicall
from wallet_api.providers.evm_tokens import read_quantity
from wallet_api.providers.faults import Broken
from wallet_api.providers.jsonrpc import NO_METHOD, Call, Result
from wallet_api.providers.replies import quantity

NO_COIN = "what it cost in the native coin cannot be determined"
GIVEN_AWAY = "the proceeds of the wallet's tokens went to somebody else"

# A node that has not got as far, as opposed to one that no longer has the state.
_BEHIND = re.compile(r"header not found|unknown block|block not found|after last accepted", re.IGNORECASE)
_DIFFERENCES = {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}

Request = Callable[[Sequence[Call]], Sequence[Result]]


class _Account(msgspec.Struct):
    balance: str | None = None


class _Trace(msgspec.Struct):
    pre: dict[str, _Account]
    post: dict[str, _Account]


@dataclass(slots=True)
class Case:
    """A transaction in which a wallet may have exchanged something, and its block.

    `has_other` is true if another transaction in the block has logs of the wallet. `coin` is how the wallet's
    coin changed by its balance, once it is known.
    """

    legs: Legs
    block: ChainBlock
    has_other: bool
    coin: int | None = None

    @property
    def number(self) -> int:
        """Return the number of the block."""
        return quantity(self.block.number)

    @property
    def created_at(self) -> datetime:
        """Return the time of the block."""
        return self.block.created_at

    @property
    def is_alone(self) -> bool:
        """Return whether nothing else in the block is known to have changed the wallet's coin."""
        owner, signature = self.legs.wallet.address, self.legs.receipt.transaction_hash
        others = {self.block.miner.lower()}
        others |= {withdrawal.address.lower() for withdrawal in self.block.withdrawals or ()}
        for transaction in self.block.listed:
            if transaction.hash != signature:
                others |= {transaction.sender.lower(), (transaction.to or "").lower()}
        return not self.has_other and owner not in others

    def balance_calls(self) -> list[Call]:
        """Return the calls for the wallet's balance before and after the block.

        An account that pays for its own operation has a part of its coin with the entry point.
        """
        wallet = self.legs.wallet.address
        moments = [hex(self.number - 1), hex(self.number)]
        calls: list[Call] = [("eth_getBalance", [wallet, moment]) for moment in moments]
        if (operation := self.legs.operation()) is not None:
            calls += [
                multicall.call(operation[0], multicall.balance_of(wallet), moment) for moment in moments
            ]
        return calls

    def balance_coin(self, results: Sequence[Result]) -> int | None:
        """Return the change in the wallet's coin; None if the node has no state of the block."""
        for result in results:
            if result.error is not None:
                if _BEHIND.search(result.error.message):
                    raise Broken("the node has not got as far")
                return None
        before, after, *deposits = (read_quantity(result) for result in results)
        coin = self.legs.balance_coin(after - before)
        if (operation := self.legs.operation()) is not None:
            coin += deposits[1] - deposits[0] + operation[1]
        return coin


class Coins:
    """Finds the native coin of trades, and makes the swaps. `request` sends calls to the node."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._traces = True

    def read(self, cases: Sequence[Case], decimals: Mapping[str, int]) -> list[Decoded]:
        """Return the outcomes of the cases. Raise ProviderFault."""
        outcomes: dict[int, Decoded] = {}
        for number, case in enumerate(cases):
            orders, coin = case.legs.orders()
            try:
                if orders or not _needs_coin(case.legs, decimals):
                    outcomes[number] = _outcome(case, case.legs.moves(coin, decimals))
            except UnusableRow as error:
                outcomes[number] = Decoded(why=Reason.INVALID, detail=str(error))
        for find in (self._from_balances, self._from_traces, _from_logs):
            left = {number: case for number, case in enumerate(cases) if number not in outcomes}
            found = find(list(left.values()), decimals)
            outcomes |= {number: one for number, one in zip(left, found, strict=True) if one is not None}
        missing = Decoded(why=Reason.NO_VALUE, detail=NO_COIN)
        return [outcomes.get(number, missing) for number in range(len(cases))]

    def _from_balances(self, cases: Sequence[Case], decimals: Mapping[str, int]) -> Iterator[Decoded | None]:
        """Yield what the balance before and after the block says, where the pools agree with it."""
        calls: list[Call] = []
        for case in cases:
            calls += case.balance_calls() if case.is_alone else ()
        results = iter(self._request(calls))
        for case in cases:
            if case.is_alone:
                case.coin = case.balance_coin([next(results) for _ in case.balance_calls()])
            moves = None if case.coin is None else _agreed(case.legs, case.coin, decimals, is_exact=True)
            yield None if moves is None else _outcome(case, moves)

    def _from_traces(self, cases: Sequence[Case], decimals: Mapping[str, int]) -> Iterator[Decoded | None]:
        """Yield what the balances of all owners before and after the transaction say."""
        traced = [case for case in cases if self._traces]
        calls: list[Call] = [
            ("debug_traceTransaction", [case.legs.receipt.transaction_hash, _DIFFERENCES]) for case in traced
        ]
        results = self._request(calls) if calls else [None] * len(cases)
        for case, result in zip(cases, results, strict=True):
            if result is not None and result.error is not None and result.error.code == NO_METHOD:
                self._traces = False
            if result is None or result.error is not None:
                yield None
                continue
            balances = _differences(result.read(_Trace))
            legs = case.legs.with_balances(balances)
            coin = legs.balance_coin(balances.get(legs.wallet.address, 0))
            yield _outcome(case, legs.moves(coin, decimals))


def _from_logs(cases: Sequence[Case], decimals: Mapping[str, int]) -> Iterator[Decoded | None]:
    """Yield what the value and the wrapped coin of others say, where the pools agree with it."""
    for case in cases:
        moves = _agreed(case.legs, case.legs.logs_coin(), decimals, is_exact=False)
        # Logs cannot show that nothing was exchanged if the balance shows that something was.
        if moves is None or (not moves.tokens and case.coin is not None):
            yield None
        else:
            yield replace(_outcome(case, moves), from_logs=True)


def _needs_coin(legs: Legs, decimals: Mapping[str, int]) -> bool:
    """Return whether the wallet may have exchanged tokens for native coin that no log shows."""
    moves = legs.moves(0, decimals)
    gains = any(units > 0 for units in moves.tokens.values())
    losses = any(units < 0 for units in moves.tokens.values())
    if gains == losses:
        return not gains and bool(legs.sent(moves))
    has_paid = moves.coin < 0 if gains else moves.coin > 0
    return not has_paid or (legs.sender == legs.wallet.address and legs.value > 0)


def _agreed(legs: Legs, coin: int, decimals: Mapping[str, int], *, is_exact: bool) -> Moves | None:
    """Return the moves with this coin if what others moved or logged agrees with it.

    If it is exact, it is enough that the wallet paid or received nothing.
    """
    moves = legs.moves(coin, decimals)
    if len(moves.tokens) != 1 or moves.tokens.keys() <= moves.passed_on:
        # What an unknown pool exchanged for native coin looks as if it were sent.
        is_exchanged = not moves.tokens and any(units * moves.coin < 0 for units in legs.sent(moves))
        return legs.stated(coin, decimals) or (None if is_exchanged else moves)
    ((mint, units),) = moves.tokens.items()
    others = -moves.exchanged(mint)
    if moves.coin * units >= 0 and (is_exact or not others):
        return moves
    if agrees(moves.exchanged(None), -moves.coin) and agrees(units, others, FEES):
        return moves
    return legs.stated(coin, decimals)


def _outcome(case: Case, moves: Moves) -> Decoded:
    legs = case.legs
    try:
        if len(moves.tokens) == 1 and moves.exchanged(*moves.tokens):
            ((mint, units),) = moves.tokens.items()
            if moves.coin * units >= 0 and mint not in moves.passed_on:
                if units > 0:
                    # Somebody else bought it for the wallet.
                    return Decoded(why=NO_TRADE)
                return Decoded(why=Reason.UNCLEAR, detail=GIVEN_AWAY)
        return Decoded.of(swaps_of(legs.wallet, legs.receipt.transaction_hash, case.created_at, moves))
    except UnclearSwap as error:
        return Decoded(why=Reason.UNCLEAR, detail=str(error))
    except UnusableRow as error:
        return Decoded(why=Reason.INVALID, detail=str(error))


def _differences(trace: _Trace) -> dict[str, int]:
    """Return how the native balances changed. What did not change is absent after, what is new before."""
    return {
        owner.lower(): quantity(after.balance) - quantity(trace.pre.get(owner, _Account()).balance)
        for owner, after in trace.post.items()
        if after.balance is not None
    }

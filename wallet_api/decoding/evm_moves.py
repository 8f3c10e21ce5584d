"""What each owner gained and lost in an EVM transaction, by its logs, and who exchanged it.

The reasons are in docs/sync.md, "EVM chains from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from wallet_api.decoding.amounts import quantity
from wallet_api.decoding.evm import (
    APPROVAL,
    DEPOSIT,
    TRANSFER,
    USER_OPERATION,
    WITHDRAWAL,
    ZERO,
    Receipt,
    address_of,
)
from wallet_api.decoding.moves import (
    FEES,
    Changes,
    Moves,
    Transfer,
    agrees,
    exchanges,
    one_way,
)
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.venues import COW, COW_TRADE, LENDING, ORDERS, ROUTERS, pool_swap

# The text of 32 bytes.
_WORD = 66


@dataclass(slots=True)
class Legs:
    """The legs of one wallet in one transaction, without its native coin.

    `changes` are by owner. Wrapped coin counts as coin, and so does the value of the transaction with those
    whom it paid. `deposits` and `withdrawals` are what was wrapped and unwrapped, by owner.
    """

    wallet: TrackedWallet
    receipt: Receipt
    value: int
    transfers: list[Transfer] = field(default_factory=list)
    changes: defaultdict[str, Changes] = field(default_factory=lambda: defaultdict(Counter))
    deposits: Counter[str] = field(default_factory=Counter)
    withdrawals: Counter[str] = field(default_factory=Counter)

    @property
    def sender(self) -> str:
        """Return who sent the transaction, and so paid its fee and its value."""
        return self.receipt.sender.lower()

    @property
    def to(self) -> str:
        """Return whom the transaction called."""
        return (self.receipt.to or ZERO).lower()

    @property
    def mints(self) -> set[str]:
        """Return the tokens that the wallet gave or took."""
        owner = self.wallet.address
        return {
            mint for giver, taker, mint, _ in self.transfers if mint is not None and owner in (giver, taker)
        }

    @property
    def may_exchange(self) -> bool:
        """Return whether the wallet has more or less of a token, and there is more than transfers."""
        mine = self.changes[self.wallet.address]
        if not any(mine[mint] for mint in self.mints):
            return False
        return any(log.topics[:1] not in ([TRANSFER], [APPROVAL]) for log in self.receipt.logs) or any(
            exchanges(each) for owner, each in self.changes.items() if owner != self.wallet.address
        )

    def balance_coin(self, change: int) -> int:
        """Return the change in the wallet's coin, wrapped or not, if its balance changed so."""
        owner = self.wallet.address
        fee = self.receipt.fee if self.sender == owner else 0
        return change + fee + self.deposits[owner] - self.withdrawals[owner]

    def logs_coin(self) -> int:
        """Return the change in the wallet's coin by the value, and by what others wrapped and unwrapped.

        Only the sender can pay coin, and a wallet that is a contract, which then logs something.
        """
        owner = self.wallet.address
        deposited = self.deposits.total() - self.deposits[owner]
        withdrawn = self.withdrawals.total() - self.withdrawals[owner]
        if self.sender == owner:
            return withdrawn - max(self.value, deposited)
        is_account = self.operation() is not None or any(
            log.address.lower() == owner for log in self.receipt.logs
        )
        return withdrawn - (deposited if is_account else 0)

    def with_balances(self, balances: Mapping[str, int]) -> Self:
        """Return the legs if the native balances of all owners changed so."""
        legs = type(self)(
            *(self.wallet, self.receipt, 0, self.transfers),
            deposits=self.deposits,
            withdrawals=self.withdrawals,
        )
        legs.add_transfers()
        # One that wraps all coin that it gets has the same balance as before.
        for owner in {*balances, *self.deposits, *self.withdrawals} - {self.wallet.address}:
            change = balances.get(owner, 0) + (self.receipt.fee if owner == self.sender else 0)
            legs.changes[owner][None] += change + self.deposits[owner] - self.withdrawals[owner]
        return legs

    def add_transfers(self) -> None:
        """Add the transfers to the changes."""
        for giver, taker, mint, units in self.transfers:
            self.changes[giver][mint] -= units
            self.changes[taker][mint] += units

    def moves(self, coin: int, decimals: Mapping[str, int]) -> Moves:
        """Return what the wallet exchanged if its native coin changed by `coin`. Raise UnusableRow."""
        owner = self.wallet.address
        changes = dict(self.changes)
        mine = Counter(changes.pop(owner, None))
        mine[None] += coin
        excluded = LENDING | {ZERO}
        exchangers = [each for other, each in changes.items() if other not in excluded and exchanges(each)]
        others = {other: each for other, each in changes.items() if other in excluded or not exchanges(each)}
        orders, _ = self.orders()
        direct = {} if orders else one_way(self.transfers, {owner}, others)
        moves = Moves.of(mine, orders or exchangers, direct, decimals)
        # What was minted or burned was exchanged by nobody.
        issued = self.changes[ZERO]
        seen = {mint for mint in moves.tokens if abs(issued[mint]) * FEES > abs(mine[mint])}
        return replace(moves, partly_seen=frozenset(moves.tokens.keys() - seen))

    def sent(self, moves: Moves) -> list[int]:
        """Return what the wallet received or (negative) sent of each token that was not issued for it."""
        mine, issued = self.changes[self.wallet.address], self.changes[ZERO]
        return [mine[mint] for mint in moves.passed_on if abs(issued[mint]) * FEES <= abs(mine[mint])]

    def orders(self) -> tuple[list[Changes], int]:
        """Return what orders of the wallet exchanged that a solver filled, and the native coin of it."""
        owner, coin = self.wallet.address, 0
        parties: list[Changes] = []
        for log in self.receipt.logs:
            if log.address.lower() != COW or log.topics[:1] != [COW_TRADE]:
                continue
            placed_by = address_of(log.topics[1])
            sold, bought, gave, got, *_ = log.words
            mints = [self._mint(f"0x{word:040x}") for word in (sold, bought)]
            if placed_by in ORDERS and self.changes[owner][mints[1]] == got:
                coin -= gave
            elif placed_by != owner:
                continue
            elif mints[1] is None and f"0x{bought:040x}" != self.wallet.chain.wrapped_mint:
                coin += got
            parties.append(Counter({mints[0]: gave, mints[1]: -got}))
        return parties, coin

    def _mint(self, address: str) -> str | None:
        return None if self.wallet.chain.is_native(address) else address

    def stated(self, coin: int, decimals: Mapping[str, int]) -> Moves | None:
        """Return what a router says that the wallet exchanged for about this coin, or None.

        Some pools hold native coin and log nothing that is known; the router's log has both amounts.
        """
        mine = self.changes[self.wallet.address]
        tokens = {mint: units for mint, units in mine.items() if mint is not None and units}
        if len(tokens) != 1 or not coin:
            return None
        ((mint, units),) = tokens.items()
        for log in self.receipt.logs:
            if log.topics[:1] and log.topics[0] in ROUTERS:
                coins = [word for word in log.words if agrees(word, abs(coin))]
                if coins and abs(units) in log.words:
                    sign = 1 if units > 0 else -1
                    exchanged = sign * min(coins, key=lambda word: abs(word - abs(coin)))
                    party: Changes = Counter({mint: -units, None: exchanged})
                    return Moves(tokens, mine[None] + coin, [party], decimals, set())
        return None

    def add_pools(self) -> None:
        """Add to the changes the native coin of pools, as they logged it.

        What a pool got or gave is native coin if no token moved so, alone or with what its other logs say.
        """
        swaps: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for log in self.receipt.logs:
            if (swap := pool_swap(log)) is not None:
                swaps[swap[0]].append(swap[1:])
        for holder, amounts in swaps.items():
            taken = {units for _, taker, _, units in self.transfers if taker == holder}
            given = {units for giver, _, _, units in self.transfers if giver == holder}
            if holder == self.to:
                taken.add(self.value)
            got, gave = (sum(side) for side in zip(*amounts, strict=True))
            coin = 0 if got in taken else sum(units for units, _ in amounts if units not in taken)
            coin -= 0 if gave in given else sum(units for _, units in amounts if units not in given)
            self.changes[holder][None] += coin

    def operation(self) -> tuple[str, int] | None:
        """Return the entry point of the wallet's operation, and what it charged the wallet; or None."""
        for log in self.receipt.logs:
            # Any contract may log the same topic with other data.
            if log.topics[:1] == [USER_OPERATION] and len(log.topics) == len(log.words) == 4:
                _, _, account, paymaster = map(address_of, log.topics)
                if account == self.wallet.address:
                    return log.address, log.words[2] if paymaster == ZERO else 0
        return None


def read_legs(wallet: TrackedWallet, receipt: Receipt, value: int) -> Legs:
    """Return the legs of `wallet` in a successful transaction that paid `value`. Raise UnusableRow."""
    legs = Legs(wallet, receipt, value)
    for log in receipt.logs:
        contract = log.address.lower()
        if len(log.topics) == 3 and log.topics[0] == TRANSFER and len(log.data) == _WORD:
            mint = None if contract == wallet.chain.wrapped_mint else contract
            giver, taker = (_owner(topic, contract) for topic in log.topics[1:])
            legs.transfers.append(Transfer(giver, taker, mint, quantity(log.data)))
        elif contract == wallet.chain.wrapped_mint and len(log.topics) == 2:
            if log.topics[0] == DEPOSIT:
                legs.deposits[address_of(log.topics[1])] += quantity(log.data)
            elif log.topics[0] == WITHDRAWAL:
                legs.withdrawals[address_of(log.topics[1])] += quantity(log.data)
    legs.add_transfers()
    legs.add_pools()
    for owner, units in ((legs.sender, -value), (legs.to, value)):
        if owner != wallet.address:
            legs.changes[owner][None] += units
    return legs


def _owner(topic: str, contract: str) -> str:
    """Return the owner in a topic. A contract that holds its own token issues it, as ZERO does."""
    owner = address_of(topic)
    return ZERO if owner == contract else owner

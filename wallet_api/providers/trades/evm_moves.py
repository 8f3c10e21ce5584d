"""What each owner gained and lost in an EVM transaction, by its logs, and who exchanged it.

The reasons are in docs/sync.md, "EVM chains".
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from wallet_api.providers.trades.evm_chain import (
    DEPOSIT,
    TRANSFER,
    USER_OPERATION,
    WITHDRAWAL,
    ZERO,
    Log,
    Receipt,
    address_of,
    quantity,
)
from wallet_api.providers.trades.evm_contracts import COW_TRADE, ORDERS
from wallet_api.providers.trades.moves import FEES, Changes, Moves, Transfer, exchanges, one_way
from wallet_api.providers.trades.swaps import TrackedWallet

# By how much of it (a twentieth) the value of a trade may differ from what the pools moved.
_AGREES = 20


@dataclass(slots=True)
class Legs:
    """The legs of one wallet in one transaction, without its native coin.

    `changes` are by owner. Wrapped coin counts as coin, and so does the value that the transaction paid to a
    contract. `wrapped` is what the wallet wrapped, less what it unwrapped, and `unwrapped` what others did in
    the other direction.
    """

    wallet: TrackedWallet
    receipt: Receipt
    value: int
    transfers: list[Transfer] = field(default_factory=list)
    changes: defaultdict[str, Changes] = field(default_factory=lambda: defaultdict(Counter))
    wrapped: int = 0
    deposited: int = 0
    withdrawn: int = 0

    @property
    def is_sender(self) -> bool:
        """Return whether the wallet sent the transaction, and so paid its fee and its value."""
        return self.receipt.sender.lower() == self.wallet.address

    @property
    def mints(self) -> set[str]:
        """Return the tokens of which the wallet has more or less afterwards."""
        mine = self.changes[self.wallet.address]
        return {mint for mint, units in mine.items() if mint is not None and units}

    @property
    def logs_coin(self) -> int:
        """Return the change in the wallet's coin by the value and what others wrapped and unwrapped."""
        paid = max(self.value if self.is_sender else 0, self.deposited)
        return self.changes[self.wallet.address][None] + self.withdrawn - paid

    def moves(self, coin: int, decimals: Mapping[str, int]) -> Moves:
        """Return what the wallet exchanged if its native coin changed by `coin`. Raise UnusableRow."""
        owner = self.wallet.address
        mine = Counter(self.changes[owner])
        mine[None] += coin
        changes = {
            other: Counter({m: u for m, u in each.items() if u}) for other, each in self.changes.items()
        }
        excluded = {owner, ZERO}
        exchangers = [each for other, each in changes.items() if other not in excluded and exchanges(each)]
        others = {
            other: each
            for other, each in changes.items()
            if other != owner and (other == ZERO or not exchanges(each))
        }
        return Moves.of(mine, exchangers, one_way(self.transfers, {owner}, others), decimals)

    def stated(self, mint: str, units: int, coin: int) -> Changes | None:
        """Return what a log says was exchanged for about the wallet's units of a token and its coin, or None.

        Contracts that hold native coin move it without a log; but they log both amounts of a swap.
        """
        for log in self.receipt.logs:
            if log.topics[:1] == [TRANSFER]:
                continue
            words = [_signed(word) for word in log.words]
            amounts = [word for word in words if abs(abs(word) - abs(units)) * FEES <= abs(units)]
            coins = [word for word in words if agrees(abs(word), abs(coin))]
            if coin and amounts and coins and (amounts != coins):
                amount = min(amounts, key=lambda word: abs(abs(word) - abs(units)))
                nearest = min(coins, key=lambda word: abs(abs(word) - abs(coin)))
                sign = 1 if units > 0 else -1
                return Counter({mint: -sign * abs(amount), None: sign * abs(nearest)})
        return None

    def ordered(self) -> int | None:
        """Return the coin that an order contract paid for the wallet, which it had received before, or None."""
        mine = self.changes[self.wallet.address]
        for log in self.receipt.logs:
            if log.topics[:1] == [COW_TRADE] and address_of(log.topics[1]) in ORDERS and not self.is_sender:
                words = log.words
                if mine[f"0x{words[1]:040x}"] == words[3]:
                    return -words[2]
        return None

    def operation(self) -> tuple[str, int] | None:
        """Return the entry point to which the wallet paid for its operation, and its cost; None without one."""
        for log in self.receipt.logs:
            if log.topics[:1] == [USER_OPERATION] and address_of(log.topics[2]) == self.wallet.address:
                has_paymaster = address_of(log.topics[3]) != ZERO
                return None if has_paymaster else (log.address.lower(), log.words[2])
        return None


def read_legs(wallet: TrackedWallet, receipt: Receipt, value: int) -> Legs:
    """Return the legs of `wallet` in a successful transaction that paid `value`."""
    legs = Legs(wallet, receipt, value)
    sender, to = receipt.sender.lower(), (receipt.to or ZERO).lower()
    for owner, units in ((sender, -value), (to, value)):
        if owner != wallet.address:
            legs.changes[owner][None] += units
    for log in receipt.logs:
        contract = log.address.lower()
        if _is_transfer(log):
            mint = None if contract == wallet.chain.wrapped_mint else contract
            giver, taker = (_owner(topic, contract) for topic in log.topics[1:])
            transfer = Transfer(giver, taker, mint, quantity(log.data))
            legs.transfers.append(transfer)
            legs.changes[transfer.giver][mint] -= transfer.units
            legs.changes[transfer.taker][mint] += transfer.units
        elif contract == wallet.chain.wrapped_mint and len(log.topics) == 2:
            units, is_mine = quantity(log.data), address_of(log.topics[1]) == wallet.address
            if log.topics[0] == DEPOSIT:
                legs.wrapped += units if is_mine else 0
                legs.deposited += 0 if is_mine else units
            elif log.topics[0] == WITHDRAWAL:
                legs.wrapped -= units if is_mine else 0
                legs.withdrawn += 0 if is_mine else units
    return legs


def agrees(one: int, other: int) -> bool:
    """Return whether two amounts differ by at most a twentieth."""
    return abs(one - other) * _AGREES <= max(abs(one), abs(other))


def _is_transfer(log: Log) -> bool:
    return len(log.topics) == 3 and log.topics[0] == TRANSFER and len(log.data) == 66


def _owner(topic: str, contract: str) -> str:
    """Return the owner in a topic. A contract that holds its own token issues it, as the zero address does."""
    owner = address_of(topic)
    return ZERO if owner == contract else owner


def _signed(word: int) -> int:
    return word - (1 << 256) if word >> 255 else word

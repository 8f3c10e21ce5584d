"""The chain that `follow_chain` follows: what its wallets trade, and what of it is notified and final."""

import random
import time
from dataclasses import dataclass, field

from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.stub.transactions import now
from tests.sync.operator import plain
from tests.sync.solana import buy

_FINAL_AFTER = 3.0

Trade = tuple[str, str, float]


@dataclass
class World:
    """What wallets do on the chain, and which of it is final."""

    stub: Stub
    wallets: list[str]
    chance: random.Random
    is_calm: bool = False
    expected: dict[tuple[str, str], Trade] = field(default_factory=dict)
    count: int = 0
    lost: int = 0
    moved: int = 0
    # When which transaction is finalized, and when which notice is sent.
    final_at: list[tuple[float, str, str]] = field(default_factory=list)
    notices: list[tuple[float, str, str, Row, int]] = field(default_factory=list)
    # The times of notices of transactions that the API does not have yet.
    sent: dict[str, float] = field(default_factory=dict)
    delays: list[float] = field(default_factory=list)
    in_gaps: int = 0

    def trade(self, moment: float) -> None:
        """Let some wallet send a transaction, which is not final yet."""
        self.count += 1
        signature, wallet = f"T{self.count}", self.chance.choice(self.wallets)
        self.stub.transactions.unfinal.add(signature)
        self.stub.transactions.add(wallet, signature, self._transaction(wallet))
        self.final_at.append((moment + _FINAL_AFTER, wallet, signature))

    def go_on(self, moment: float) -> None:
        """Decide what becomes of the transactions that are old enough, and send the notices that are due."""
        for due in [due for due in self.final_at if due[0] <= moment]:
            self.final_at.remove(due)
            self._finalize(*due)
        for notice in [notice for notice in self.notices if notice[0] <= moment]:
            self.notices.remove(notice)
            _, wallet, signature, row, times = notice
            if self.stub.stream.notify([wallet], signature, row, times):
                self.sent[signature] = time.monotonic()
            else:
                self.in_gaps += 1

    def lose(self) -> None:
        """Note that the notices on their way are lost: a gap, whose delays are not judged."""
        self.in_gaps += len(self.sent)
        self.sent = {}

    def arrived(self, signature: str) -> None:
        """Note the delay of a transaction that the API has."""
        sent = self.sent.pop(signature, None)
        if sent is not None:
            self.delays.append(time.monotonic() - sent)

    def _finalize(self, moment: float, wallet: str, signature: str) -> None:
        fate = 1.0 if self.is_calm else self.chance.random()
        if 0.02 <= fate < 0.04:
            self.stub.transactions.drop(signature)
            self.lost += 1
            return
        # Some are in another block at last.
        self.moved += fate < 0.02
        row = self._transaction(wallet)
        self.stub.transactions.add(wallet, signature, row)
        self.stub.transactions.unfinal.discard(signature)
        self._expect(wallet, signature, row)
        late = 0.0 if self.is_calm else self.chance.choice((0.0, 0.0, 0.0, self.chance.uniform(0, 2)))
        self.notices.append((moment + late, wallet, signature, row, self.chance.choice((1, 1, 1, 2))))

    def _transaction(self, wallet: str) -> Row:
        return buy(now(), self.chance.randint(1, 10**9), self.chance.randint(10**6, 10**10), wallet)

    def _expect(self, wallet: str, signature: str, row: Row) -> None:
        meta = row["meta"]
        lamports = meta["preBalances"][0] - meta["postBalances"][0] - meta["fee"]
        (units,) = (
            int(after["uiTokenAmount"]["amount"]) - int(before["uiTokenAmount"]["amount"])
            for before, after in zip(meta["preTokenBalances"], meta["postTokenBalances"], strict=True)
            if after["owner"] == wallet
        )
        trade = (plain(f"{units}e-6"), plain(f"{lamports}e-9"), row["blockTime"])
        self.expected[wallet, signature] = trade

"""Two launches of Solana, made of the shapes of recorded transactions."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.stub.server import Stub
from tests.stub.transactions import WRAPPED, Move, Row, now, transaction
from tests.sync.operator import addresses
from tests.sync.solana import BONK, FART, SOL
from wallet_api.chain.discovery.solana import PUMP, curve_of

DEV, SNIPER, STEADY, LUCKY, FED, ONCE, POOL = addresses("solana", 7)
BEGAN = now() - timedelta(days=2)
TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"


@dataclass
class Launches:
    """Two tokens of which FART has a curve of pump.fun, and BONK has none."""

    stub: Stub
    at: datetime = BEGAN
    number: int = 0

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)

    def create(self, mint: str, *buyer: Move) -> None:
        """Add the transaction that creates a token."""
        made = transaction(self.at, DEV, Move("pool", mint, 10**12, opened=True), *buyer)
        info = {"mint": mint, "decimals": 6, "mintAuthority": DEV}
        created = {"programId": TOKEN, "parsed": {"type": "initializeMint2", "info": info}, "stackHeight": 2}
        made["meta"]["innerInstructions"][0]["instructions"].insert(0, created)
        self.add(mint, made, DEV)

    def trade(self, wallet: str, mint: str, tokens: int, sol: float, *, on_curve: bool = True) -> None:
        """Add a buy of whole tokens, or a sell of so many less than 0."""
        units, lamports = tokens * 10**6, int(sol * SOL) * (1 if tokens > 0 else -1)
        moves = (Move(wallet, None, -lamports), Move(wallet, mint, units))
        others = (Move("pool", WRAPPED, lamports), Move("pool", mint, -units))
        self.add(mint, transaction(self.at, wallet, *moves, *others), wallet, on_curve=on_curve)
        self.wait(20)

    def given(self, wallet: str, mint: str, tokens: int) -> None:
        """Add a transfer of tokens from a friend."""
        moves = (Move("friend", mint, -tokens * 10**6), Move(wallet, mint, tokens * 10**6))
        self.add(mint, transaction(self.at, "friend", *moves), wallet)
        self.wait(20)

    def add(self, mint: str, result: Row, wallet: str, *, on_curve: bool = True) -> None:
        """Let the node list a transaction for the curve, the mint, the wallet and its accounts."""
        self.number += 1
        signature = f"S{self.number}"
        of = [wallet, *(f"account {place} of {wallet}" for place in range(4))]
        for address in (mint, *([curve_of(mint)] if on_curve else ()), *of):
            self.stub.transactions.add(address, signature, result)


def two_launches(stub: Stub) -> Launches:
    """Let the node have two launches with six wallets, four of which bought first in both."""
    stub.nodes.names = {FART: "Fartcoin", BONK: "Bonk"}
    stub.nodes.owners = {curve_of(FART): str(PUMP)}
    made = Launches(stub)
    for mint in (FART, BONK):
        made.create(mint)
        made.trade(SNIPER, mint, 50, 1)
        made.trade(SNIPER, mint, -50, 1.5)
        made.trade(STEADY, mint, 100, 1)
        made.trade(LUCKY, mint, 100, 1)
        made.trade(FED, mint, 100, 1)
        made.given(FED, mint, 100)
        if mint == FART:
            made.trade(ONCE, mint, 100, 1)
        made.wait(3600)
    # After the curve, on a pool.
    made.trade(STEADY, FART, -100, 1.25, on_curve=False)
    made.trade(STEADY, BONK, -100, 1.5, on_curve=False)
    made.trade(LUCKY, FART, -50, 10, on_curve=False)
    made.trade(LUCKY, BONK, -100, 0.5, on_curve=False)
    made.trade(FED, FART, -200, 3, on_curve=False)
    return made

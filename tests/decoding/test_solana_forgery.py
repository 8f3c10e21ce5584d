"""Transactions of strangers that seem as if a wallet had traded."""

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.decoding.solana import decode_for, read, trades_of
from tests.decoding.solana_machine import Machine
from tests.stub.transactions import RENT, WRAPPED
from tests.sync.operator import plain
from tests.sync.solana import BONK, FART, USDC
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED

VICTIM, STRANGER = (
    "Victim1111111111111111111111111111111111111",
    "Stranger111111111111111111111111111111111111",
)
MADE = 5_000
SOL = 10**9


class Strangers:
    """Random instructions of strangers, and of programs with addresses of their own, beside a wallet."""

    def __init__(self, machine: Machine, chance: random.Random) -> None:
        self._machine = machine
        self._chance = chance
        self._opened = 0
        # What a delegate moves of one that signs, that one has agreed to.
        self._has_delegate = VICTIM not in machine.signers
        self._own = [STRANGER, "accomplice", "address of a program"]
        owners = (VICTIM, VICTIM, *self._own)
        self._accounts = [machine.tokens(owner, mint) for owner in owners for mint in (WRAPPED, BONK)]

    def run(self) -> None:
        """Run some instructions, inside calls or not."""
        for _ in range(self._chance.randint(2, 12)):
            self._chance.choice(
                (
                    *(self.call, self.top, self.pay, self.pay, self.take, self.open, self.open, self.create),
                    *(self.send, self.send, self.reassign, self.close, self.fill),
                )
            )()

    def call(self) -> None:
        depth = min(self._machine.depth, self._chance.randint(1, 8))
        self._machine.call("the stranger's program", VICTIM, *self._some(), depth=depth)

    def top(self) -> None:
        self._machine.top()

    def pay(self) -> None:
        """Send coin, from accounts that become token accounts later too."""
        kind = self._chance.choice(("transfer", "transferWithSeed"))
        to = self._chance.choice((VICTIM, "pool", self._mine(BONK), *self._own))
        self._machine.pay(self._chance.choice((*self._own, *self._hoard())), to, self._units(), kind)

    def take(self) -> None:
        """Let a program take coin of an account of its own, without an instruction."""
        self._machine.take(
            self._chance.choice(("hoard", "vault")), self._chance.choice((VICTIM, "pool")), SOL
        )

    def create(self) -> None:
        self._opened += 1
        self._machine.create(self._chance.choice(self._own), f"new {self._opened}", self._units() + RENT)

    def open(self) -> None:
        """Make an account a token account, for the victim or for another one."""
        self._opened += 1
        account = self._chance.choice((f"new {self._opened}", f"hoard {self._opened}", "hoard"))
        if account == "hoard" and "hoard" in self._accounts:
            return
        machine, mint = self._machine, self._chance.choice((WRAPPED, BONK, USDC))
        if account.startswith("new"):
            machine.create(STRANGER, account, RENT + self._units() * (mint == WRAPPED))
        else:
            machine.pay(machine.system(account), "pool", self._units())
            machine.assign(account)
        machine.open(account, mint, self._chance.choice((VICTIM, *self._own)))
        self._accounts.append(account)

    def send(self) -> None:
        """Send tokens: of strangers by their own authority, of the victim by that of a delegate."""
        machine = self._machine
        source = self._chance.choice((*self._accounts, machine.tokens("pool", BONK)))
        account = machine.accounts[source]
        if not account.mint or (account.owner == VICTIM and not self._has_delegate):
            return
        to = self._chance.choice(
            (self._mine(account.mint), *(each for each in self._accounts if each != source))
        )
        if machine.accounts[to].mint == account.mint and account.amount > 0:
            authority = STRANGER if account.owner == VICTIM else account.owner
            machine.send(source, to, min(self._units(), account.amount), authority)

    def reassign(self) -> None:
        account = self._chance.choice(self._accounts)
        if self._machine.accounts[account].owner not in ("", VICTIM):
            self._machine.reassign(account, self._chance.choice((VICTIM, *self._own)))

    def close(self) -> None:
        account = self._chance.choice(self._accounts)
        closed = self._machine.accounts[account]
        if closed.owner not in ("", VICTIM) and not closed.units:
            self._machine.close(account, self._chance.choice((VICTIM, *self._own)))

    def fill(self) -> None:
        """Let a program of orders name the victim as the maker, and any address as the escrow."""
        program = self._chance.choice([venue for venue in SOLANA if len(venue.places) == 2])
        accounts = [self._chance.choice(self._own) for _ in range(4)]
        escrow, maker = program.places
        accounts[maker], accounts[escrow] = VICTIM, self._chance.choice(("hoard", *self._own))
        self._machine.call(program.address, *accounts)
        # What it invokes is by itself.
        self._machine.top()

    def _hoard(self) -> list[str]:
        """Return the account that becomes a token account, as long as it is none."""
        return [] if self._machine.accounts[self._machine.system("hoard")].mint else ["hoard"]

    def _mine(self, mint: str) -> str:
        return self._machine.tokens(VICTIM, mint)

    def _some(self) -> list[str]:
        return self._chance.sample((*self._own, "hoard", "pool"), 2)

    def _units(self) -> int:
        return self._chance.choice((1, 10**6, 10**9, 10**12))


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_strangers_do_makes_a_trade_of_a_wallet_that_does_not_sign(seed: int) -> None:
    chance = random.Random(seed)
    seen: Counter[Any] = Counter()
    for _ in range(MADE):
        machine = Machine((STRANGER, "accomplice", "hoard"))
        Strangers(machine, chance).run()
        decoded = decode_for(read(machine.result()), VICTIM)
        assert not decoded.drafts
        assert not decoded.is_signed
        seen[decoded.why] += 1
    assert seen.keys() <= {NO_TRADE, UNSIGNED, "unreadable"}
    # Some resemble trades.
    assert seen[UNSIGNED] > MADE // 100
    assert seen["unreadable"] < MADE // 100


def test_beside_all_that_strangers_do_a_wallet_trades_what_it_signs() -> None:
    chance = random.Random(1)
    for _ in range(MADE // 5):
        machine = Machine((VICTIM, STRANGER, "accomplice", "hoard"))
        strangers = Strangers(machine, chance)
        strangers.run()
        units, coin = chance.randint(1, 10**12), chance.randint(1, 10**12)
        is_sell = chance.random() < 0.5
        before = machine.accounts[machine.tokens(VICTIM, FART)].units, machine.accounts[VICTIM].lamports
        machine.call("exchange")
        ends = ("pool", VICTIM) if is_sell else (VICTIM, "pool")
        machine.pay(*ends, coin)
        accounts = [machine.tokens(owner, FART) for owner in ends]
        machine.send(accounts[1], accounts[0], units, ends[1])
        # A plain model of balances.
        gained = machine.accounts[machine.tokens(VICTIM, FART)].units - before[0]
        paid = machine.accounts[VICTIM].lamports - before[1]
        machine.top()
        strangers.run()
        if not machine.is_possible:
            continue
        of_token = [
            trade for trade in trades_of(decode_for(read(machine.result()), VICTIM)) if trade[0] == FART
        ]
        side = "buy" if gained > 0 else "sell"
        amounts = [plain(Decimal(abs(gained)).scaleb(-6)), plain(Decimal(abs(paid)).scaleb(-9))]
        assert of_token == [[FART, side, *amounts, None, None]]

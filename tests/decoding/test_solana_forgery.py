"""Transactions of strangers, made or with instructions added, that seem as if a wallet had traded."""

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from tests.decoding.solana import decode_for, read, trades_of
from tests.decoding.solana_machine import Machine
from tests.decoding.test_solana_recorded import CASES
from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED
from tests.sync.operator import plain
from tests.sync.solana import BONK, FART, USDC
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.swaps import LIQUIDITY, NO_TRADE, UNSIGNED

VICTIM, STRANGER = (
    "Victim1111111111111111111111111111111111111",
    "Stranger111111111111111111111111111111111111",
)
TOKENS = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
FORGED = 10_000
MADE = 5_000
SOL = 10**9
HELD = 10**15


class Forged:
    """A recorded transaction with accounts of the victim, which a delegate of his tokens moves."""

    def __init__(self, result: Row, chance: random.Random) -> None:
        meta, message = result["meta"], result["transaction"]["message"]
        self._chance = chance
        self.victim = len(message["accountKeys"])
        self.keys = [*message["accountKeys"], {"pubkey": VICTIM, "signer": False}]
        self.instructions = list(message["instructions"])
        self.balances = {
            name: [dict(each) for each in meta[name] or ()]
            for name in ("preTokenBalances", "postTokenBalances")
        }
        self.lamports = [[*meta[name], HELD] for name in ("preBalances", "postBalances")]
        self.inner = {
            group["index"]: list(group["instructions"]) for group in meta["innerInstructions"] or ()
        }
        self.result = result

    def row(self) -> Row:
        """Return the whole transaction."""
        pre, post = self.lamports
        inner = [{"index": index, "instructions": rows} for index, rows in self.inner.items()]
        meta = self.result["meta"] | self.balances
        meta |= {"preBalances": pre, "postBalances": post, "innerInstructions": inner}
        message = {"accountKeys": self.keys, "instructions": self.instructions}
        return {"meta": meta, "transaction": {"message": message}}

    def add(self) -> None:
        """Add one of the things that a stranger can do."""
        choice = self._chance.random()
        if choice < 0.25:
            self.move(is_out=choice < 0.08)
        elif choice < 0.5:
            self.pay()
        elif choice < 0.75:
            self.close()
        else:
            self.name()

    def move(self, *, is_out: bool) -> None:
        """Let a delegate move a token out of the victim's account, or send one to it."""
        balances = self.balances["postTokenBalances"]
        if not balances:
            return
        other = self._chance.choice(balances)
        units = self._chance.choice((1, 10**6, int(other["uiTokenAmount"]["amount"])))
        mine = self._account(other["mint"], -units if is_out else units, other["uiTokenAmount"])
        ends = [mine, self.keys[other["accountIndex"]]["pubkey"]]
        other["uiTokenAmount"] = _amount(other["uiTokenAmount"], units if is_out else -units)
        if other["mint"] == WRAPPED:
            self.lamports[1][other["accountIndex"]] += units if is_out else -units
        if not is_out:
            ends.reverse()
        authority = STRANGER if is_out else other.get("owner", STRANGER)
        kind, by = self._chance.choice(
            (
                *(("transfer", {"authority": authority}), ("transferChecked", {"authority": authority})),
                ("transfer", {"multisigAuthority": authority, "signers": [VICTIM]}),
            )
        )
        info = {"source": ends[0], "destination": ends[1], "mint": other["mint"], "amount": str(units)} | by
        self._add(TOKENS, kind, info)

    def pay(self) -> None:
        """Let a stranger send coin to the victim."""
        units = self._chance.choice((1, 10**6, 10**12))
        payer = self._chance.randrange(self.victim)
        self.lamports[1][self.victim] += units
        self.lamports[0][payer] += units
        info = {"source": self.keys[payer]["pubkey"], "destination": VICTIM, "lamports": units}
        self._add("1" * 32, "transfer", info)

    def close(self) -> None:
        """Let a stranger close an account to the victim, of which a program has taken the coin before."""
        units = self._chance.choice((1, 10**6, 10**12))
        address = f"stranger's {len(self.keys)}"
        self.keys.append({"pubkey": address, "signer": False})
        self.lamports[0].append(units)
        self.lamports[1].append(0)
        self.lamports[1][self._chance.randrange(self.victim)] += units
        self._add(TOKENS, "closeAccount", {"account": address, "destination": VICTIM, "owner": STRANGER})
        # What no instruction states is that of a call which names the account.
        accounts = [VICTIM, *(key["pubkey"] for key in self._chance.sample(self.keys[: self.victim], 2))]
        place = self._chance.randrange(len(self.instructions))
        if "parsed" not in self.instructions[place]:
            self.instructions[place] = self.instructions[place] | {"accounts": accounts}

    def name(self) -> None:
        """Let a program that decides something name the victim, in any place but that of an order's maker."""
        program = self._chance.choice(SOLANA)
        accounts = [self._chance.choice(self.keys[: self.victim])["pubkey"] for _ in range(5)]
        if not program.places:
            accounts[self._chance.randrange(5)] = VICTIM
        elif (place := self._chance.randrange(5)) != program.places[1]:
            accounts[place] = VICTIM
        self.instructions.append({"programId": program.address, "accounts": accounts, "stackHeight": 1})

    def _account(self, mint: str, change: int, amount: Row) -> str:
        """Add a token account of the victim, and return its address."""
        address = f"victim's {len(self.keys)}"
        for name, units in (("preTokenBalances", HELD), ("postTokenBalances", HELD + change)):
            self.balances[name].append(
                {
                    **{"accountIndex": len(self.keys), "mint": mint, "owner": VICTIM},
                    "uiTokenAmount": amount | {"amount": str(units)},
                }
            )
        self.keys.append({"pubkey": address, "signer": False})
        self.lamports[0].append(HELD)
        self.lamports[1].append(HELD + change * (mint == WRAPPED))
        return address

    def _add(self, program: str, kind: str, info: Row) -> None:
        """Add an instruction anywhere, invoked by any."""
        index = self._chance.randrange(len(self.instructions))
        rows = self.inner.setdefault(index, [])
        depth = self._chance.randint(2, 4)
        row: Row = {"programId": program, "parsed": {"type": kind, "info": info}, "stackHeight": depth}
        rows.insert(self._chance.randint(0, len(rows)), row)


def _amount(amount: Row, change: int) -> Row:
    return amount | {"amount": str(max(0, int(amount["amount"]) + change))}


def test_no_transfer_of_a_delegate_makes_a_trade_without_the_wallets_consent() -> None:
    chance = random.Random(0)
    recorded = [case.result for case in CASES if len(str(case.result)) < 7_000]
    seen: Counter[Any] = Counter()
    for _ in range(FORGED):
        forged = Forged(chance.choice(recorded), chance)
        forged.move(is_out=True)
        for _ in range(chance.randint(1, 5)):
            forged.add()
        decoded = decode_for(read(forged.row()), VICTIM)
        assert not decoded.drafts
        assert not decoded.is_signed
        seen[decoded.why] += 1
    assert seen.keys() <= {NO_TRADE, LIQUIDITY, UNSIGNED, "unreadable"}
    # Many resemble trades.
    assert seen[UNSIGNED] > FORGED // 5


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

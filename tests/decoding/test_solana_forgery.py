"""Transactions of strangers, with transfers of delegates added that seem as if a wallet had traded."""

import random
from collections import Counter
from typing import Any

from tests.decoding.solana import decode_for, read
from tests.decoding.test_solana_recorded import CASES
from tests.stub.swaps import Row
from tests.stub.transactions import WRAPPED
from wallet_api.decoding.solana_venues import SOLANA
from wallet_api.decoding.swaps import NO_TRADE, UNSIGNED

VICTIM, STRANGER = (
    "Victim1111111111111111111111111111111111111",
    "Stranger111111111111111111111111111111111111",
)
TOKENS = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
FORGED = 10_000
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
    assert seen.keys() <= {NO_TRADE, UNSIGNED, "unreadable"}
    # Many resemble trades.
    assert seen[UNSIGNED] > FORGED // 5

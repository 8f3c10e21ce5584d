"""A small Solana: instructions change accounts, and the result is what a node returns of the transaction."""

from dataclasses import dataclass, field
from typing import Any

from tests.stub.swaps import Row
from tests.stub.transactions import RENT, WRAPPED

SYSTEM, TOKENS = "1" * 32, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
HELD = 10**15


@dataclass
class _Account:
    lamports: int = 0
    mint: str = ""
    owner: str = ""
    units: int = 0

    @property
    def amount(self) -> int:
        return self.lamports - RENT if self.mint == WRAPPED else self.units


@dataclass
class Machine:
    """A transaction. Accounts that it meets have a lot of everything before; those named `new…` nothing.

    Each method runs an instruction, inside the last `call`, or of the message itself.
    """

    signers: tuple[str, ...]
    accounts: dict[str, _Account] = field(default_factory=dict)
    before: dict[str, _Account] = field(default_factory=dict)
    outer: list[Row] = field(default_factory=list)
    inner: list[Row] = field(default_factory=list)
    depth: int = 1

    def __post_init__(self) -> None:
        for signer in self.signers:
            self.system(signer)

    def system(self, address: str) -> str:
        """Return the address of an account of the system."""
        if address not in self.accounts:
            lamports = 0 if address.startswith("new") else HELD
            self.before[address] = _Account(lamports)
            self.accounts[address] = _Account(lamports)
        return address

    def tokens(self, owner: str, mint: str) -> str:
        """Return the address of the token account of an owner, which is there before."""
        address = f"{owner}'s {mint}"
        if address not in self.accounts:
            lamports = RENT + HELD * (mint == WRAPPED)
            units = HELD * (mint != WRAPPED)
            self.before[address] = _Account(lamports, mint, owner, units)
            self.accounts[address] = _Account(lamports, mint, owner, units)
        return address

    def call(self, program: str, *accounts: str, depth: int = 1) -> None:
        """Run a program, whose calls follow, until the next call of the same or a smaller depth."""
        self._run({"programId": program, "accounts": [self.system(each) for each in accounts]}, depth)
        self.depth = depth + 1

    def top(self) -> None:
        """Let the next instructions be of the message itself."""
        self.depth = 1

    def pay(self, source: str, destination: str, lamports: int, kind: str = "transfer") -> None:
        """Send coin."""
        self._move(source, destination, lamports)
        self._parsed(SYSTEM, kind, source=source, destination=destination, lamports=lamports)

    def take(self, source: str, destination: str, lamports: int) -> None:
        """Let a program move coin without an instruction."""
        self._move(source, destination, lamports)

    def create(self, payer: str, account: str, lamports: int = RENT) -> None:
        """Create an account."""
        self._move(payer, account, lamports)
        self._parsed(SYSTEM, "createAccount", source=payer, newAccount=account, lamports=lamports)

    def assign(self, account: str) -> None:
        """Let an account that has coin be one of the token program."""
        self._parsed(SYSTEM, "allocate", account=account, space=165)
        self._parsed(SYSTEM, "assign", account=account, owner=TOKENS)

    def open(self, account: str, mint: str, owner: str) -> None:
        """Initialize a token account."""
        self.system(account)
        self.accounts[account].mint, self.accounts[account].owner = mint, owner
        self._parsed(TOKENS, "initializeAccount3", account=account, mint=mint, owner=owner)

    def send(self, source: str, destination: str, units: int, authority: str) -> None:
        """Send units of a token."""
        mint = self.accounts[source].mint
        if mint == WRAPPED:
            self._move(source, destination, units)
        else:
            self.accounts[source].units -= units
            self.accounts[destination].units += units
        info: Row = {"source": source, "destination": destination, "mint": mint, "authority": authority}
        self._parsed(TOKENS, "transferChecked", **info, tokenAmount={"amount": str(units), "decimals": 6})

    def issue(self, account: str, units: int, authority: str) -> None:
        """Mint units of a token, or (negative) burn them."""
        self.accounts[account].units += units
        by = {"mintAuthority": authority} if units > 0 else {"authority": authority}
        info = {"account": account, "mint": self.accounts[account].mint, "amount": str(abs(units))}
        self._parsed(TOKENS, "mintTo" if units > 0 else "burn", **info, **by)

    def reassign(self, account: str, owner: str) -> None:
        """Give a token account to another owner."""
        before, self.accounts[account].owner = self.accounts[account].owner, owner
        self._parsed(
            *(TOKENS, "setAuthority"),
            **{"account": account, "authority": before, "authorityType": "accountOwner"},
            newAuthority=owner,
        )

    def close(self, account: str, destination: str, authority: str = "") -> None:
        """Close a token account, by its owner or by another authority."""
        closed = self.accounts[account]
        owner = authority or closed.owner
        self._parsed(TOKENS, "closeAccount", account=account, destination=destination, owner=owner)
        self._move(account, destination, closed.lamports)
        self.accounts[account] = _Account()

    @property
    def is_possible(self) -> bool:
        """Return whether nobody gave more than it had."""
        return all(
            each.lamports >= 0 and (not each.mint or each.amount >= 0) for each in self.accounts.values()
        )

    def result(self) -> Row:
        """Return what a node returns."""
        keys = list(self.accounts)
        pre, post = ([place[key] for key in keys] for place in (self.before, self.accounts))
        meta = {
            **{"err": None, "fee": 5000, "innerInstructions": self.inner},
            "preBalances": [each.lamports for each in pre],
            "postBalances": [each.lamports - 5000 * (not place) for place, each in enumerate(post)],
            "preTokenBalances": _balances(pre),
            "postTokenBalances": _balances(post),
        }
        message = {
            "accountKeys": [{"pubkey": key, "signer": key in self.signers} for key in keys],
            "instructions": self.outer,
        }
        return {"slot": 1, "blockTime": 1795000000, "meta": meta, "transaction": {"message": message}}

    def _move(self, source: str, destination: str, lamports: int) -> None:
        self.system(source), self.system(destination)
        self.accounts[source].lamports -= lamports
        self.accounts[destination].lamports += lamports

    def _parsed(self, program: str, kind: str, **info: Any) -> None:
        self._run({"programId": program, "parsed": {"type": kind, "info": info}}, self.depth)

    def _run(self, row: Row, depth: int) -> None:
        if depth == 1:
            self.outer.append(row)
            self.inner.append({"index": len(self.outer) - 1, "instructions": []})
        else:
            self.inner[-1]["instructions"].append(row | {"stackHeight": depth})


def _balances(accounts: list[_Account]) -> list[Row]:
    return [
        {
            **{"accountIndex": place, "mint": each.mint, "owner": each.owner},
            "uiTokenAmount": {"amount": str(each.amount), "decimals": 9 if each.mint == WRAPPED else 6},
        }
        for place, each in enumerate(accounts)
        if each.mint
    ]

"""The accounts of a Solana transaction at the step that is read: whose they are, and what they have.

An account that becomes a token account, or changes its owner, has that owner from this step on, so that
what it paid before is not that owner's.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_amount, read_decimals
from wallet_api.chain.decoding.solana.transactions import Step, TokenBalance, Transaction

OPENINGS = frozenset(("initializeAccount", "initializeAccount2", "initializeAccount3"))
_LEAVES = frozenset(("transfer", "transferChecked", "transferCheckedWithFee", "closeAccount"))

# What setAuthority sets, by its name, or by its number as some sources record it.
_OWNER = frozenset(("accountOwner", "2"))

_TOKEN_ACCOUNT_BYTES = 165
_MAX_LAMPORTS = 2**64 - 1


@dataclass(slots=True)
class Accounts:
    """What is known of each account at a step.

    `owners` are those of token accounts, None where no balance and no step states one. `mints` are None for
    the wrapped coin. `rents` is what of the lamports of a token account is its rent. `ever_tokens` are all
    accounts that are token accounts at any step, `last_owners` their owners after the last one.
    """

    wrapped_mint: str
    token_rent: int
    owners: dict[str, str | None] = field(default_factory=dict)
    mints: dict[str, str | None] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)
    lamports: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    tokens: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    rents: dict[str, int] = field(default_factory=dict)
    ever_tokens: set[str] = field(default_factory=set)
    last_owners: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def at_start(cls, chain: Chain, at: datetime, transaction: Transaction, run: Sequence[Step]) -> Self:
        """Return the accounts as they were before a transaction, less its fee. Raise UnusableRow."""
        _check_form(transaction)
        meta, keys = transaction.meta, transaction.keys
        accounts = cls(chain.wrapped_mint, chain.rent(_TOKEN_ACCOUNT_BYTES, at))
        accounts.lamports.update(zip(keys, meta.pre_balances, strict=True))
        before = dict(balances(transaction, meta.pre_token_balances))
        leaving = {} if all(balance.owner for balance in before.values()) else _leaving(run)
        for account, balance in before.items():
            units = accounts.tokens[account] = accounts._read_balance(account, balance)
            accounts.owners[account] = balance.owner or leaving.get(account)
            accounts.mints[account] = accounts.mint(balance.mint)
            held = units if accounts.mints[account] is None else 0
            accounts.rents[account] = max(0, accounts.lamports[account] - held)
        accounts.lamports[keys[0]] -= meta.fee
        after = balances(transaction, meta.post_token_balances)
        accounts.last_owners = {account: balance.owner for account, balance in after}
        accounts.ever_tokens = before.keys() | {step.text("account") for step in run if step.kind in OPENINGS}
        return accounts

    def owner(self, account: str) -> str:
        """Return the owner of a token account, or the account itself if it is none. Raise UnusableRow."""
        owner = self.owners.get(account, account)
        if owner is None:
            raise UnusableRow("a token account without an owner")
        return owner

    def mint(self, address: str) -> str | None:
        """Return the address of a token; None for the wrapped coin."""
        return None if address == self.wrapped_mint else address

    def open(self, step: Step) -> None:
        """Let an account be a token account from here on."""
        account = step.text("account")
        mint = self.mints[account] = self.mint(step.text("mint"))
        self.owners[account] = step.text("owner")
        put_in = self.lamports[account]
        # What is more than the rent of a new account of wrapped coin is wrapped.
        self.rents[account] = min(put_in, self.token_rent) if mint is None else put_in

    def reassign(self, step: Step) -> None:
        """Let a token account have another owner from here on; if none is stated, its last one."""
        account = step.text("account")
        if step.text("authorityType") in _OWNER and account in self.owners:
            self.owners[account] = step.text("newAuthority") or self.last_owners.get(account)

    def close(self, account: str) -> tuple[int, int]:
        """Return all lamports of a token account, and what of them is rent. It is none from here on."""
        units = self.lamports.pop(account, 0)
        self.owners.pop(account, None)
        self.mints.pop(account, None)
        return units, min(units, self.rents.pop(account, self.token_rent))

    def check_after(self, transaction: Transaction) -> dict[str, int]:
        """Return the units of token accounts after the transaction, whose owners and mints the steps state.

        Raise UnusableRow.
        """
        after = {}
        for account, balance in balances(transaction, transaction.meta.post_token_balances):
            after[account] = self._read_balance(account, balance)
            stated = (self.owners.get(account, ""), self.mints.get(account, ""))
            if stated != (balance.owner or stated[0], self.mint(balance.mint)):
                raise UnusableRow("a token account that no step gave to its owner")
        return after

    def _read_balance(self, account: str, balance: TokenBalance) -> int:
        mint = self.mint(balance.mint)
        if mint is not None:
            self.decimals[mint] = read_decimals(balance.ui_token_amount.decimals)
        return read_amount(balance.ui_token_amount.amount)


def balances(
    transaction: Transaction, rows: Sequence[TokenBalance] | None
) -> Iterator[tuple[str, TokenBalance]]:
    """Yield the token accounts of a list of balances, each with its balance. Raise UnusableRow."""
    keys = transaction.keys
    for row in rows or ():
        if not 0 <= row.account_index < len(keys):
            raise UnusableRow("a balance of no account")
        yield keys[row.account_index], row


def _check_form(transaction: Transaction) -> None:
    meta, keys = transaction.meta, transaction.keys
    if not keys or not len(keys) == len(meta.pre_balances) == len(meta.post_balances):
        raise UnusableRow("not as many balances as accounts")
    amounts = (*meta.pre_balances, *meta.post_balances, meta.fee)
    if not all(0 <= lamports <= _MAX_LAMPORTS for lamports in amounts):
        raise UnusableRow("a balance out of range")


def _leaving(run: Sequence[Step]) -> dict[str, str]:
    """Return by account who let tokens leave it, where nodes do not state owners: before October 2021."""
    return {
        step.text("source", "account"): step.text("authority", "owner")
        for step in reversed(run)
        if step.kind in _LEAVES and not step.is_system
    }

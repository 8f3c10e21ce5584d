"""What each instruction of a Solana transaction moved, between which owners, and by whose authority.

Flows add up to the changes of the balances: what no instruction states, such as lamports that a program took
from an account of its own, is the flow of the call that names the account.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from wallet_api.decoding.amounts import UnusableRow, read_amount, read_decimals
from wallet_api.decoding.solana import OUTSIDE, Step, Transaction, steps

_TRANSFERS = frozenset(("transfer", "transferChecked", "transferCheckedWithFee"))
_MINTS = frozenset(("mintTo", "mintToChecked"))
_BURNS = frozenset(("burn", "burnChecked"))
_OPENINGS = frozenset(("initializeAccount", "initializeAccount2", "initializeAccount3"))
_CREATIONS = frozenset(("createAccount", "createAccountWithSeed"))
_SYSTEM_TRANSFERS = frozenset(("transfer", "transferWithSeed"))

# The rent of a token account, and of the largest account that a program can create: 128 bytes more than it
# has, 6,960 lamports each.
_TOKEN_ACCOUNT_RENT = 2_039_280
_LARGEST_RENT = (128 + 10_240) * 6_960
_MAX_LAMPORTS = 2**64 - 1


class Kind(Enum):
    """What a flow is."""

    MOVED = auto()
    RENT = auto()
    """It went to an account that the transaction created."""
    REFUND = auto()
    """The rent of a token account of somebody else, which was closed."""


class Flow(NamedTuple):
    """Units of a token, or (`mint` is None) of the native coin, that moved from one owner to another.

    "" is an unknown owner. `call` is the instruction that invoked it, and `number` its own place.
    `is_consented` is whether it left by its owner's authority, and not by that of a delegate.
    """

    giver: str
    taker: str
    mint: str | None
    units: int
    call: int
    number: int
    is_consented: bool = True
    kind: Kind = Kind.MOVED


@dataclass(frozen=True, slots=True)
class SolanaFlows:
    """What a transaction moved, and the instructions that it ran.

    `unique` are the mints of which each account has nothing or one whole unit: NFTs.
    """

    flows: Sequence[Flow]
    run: Sequence[Step]
    decimals: Mapping[str, int]
    unique: frozenset[str]


@dataclass(slots=True)
class _Reader:
    """Owners and mints of token accounts (None: the wrapped coin), and what each account should have now."""

    wrapped_mint: str
    owners: dict[str, str] = field(default_factory=dict)
    mints: dict[str, str | None] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)
    lamports: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    tokens: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    flows: list[Flow] = field(default_factory=list)

    def owner(self, account: str) -> str:
        """Return the owner of a token account, or the account itself if it is none."""
        return self.owners.get(account, account)

    def mint(self, address: str) -> str | None:
        """Return the address of a token; None for the wrapped coin."""
        return None if address == self.wrapped_mint else address

    def add(
        self,
        step: Step,
        ends: tuple[str, str],
        mint: str | None,
        units: int,
        authority: str | None = None,
        kind: Kind = Kind.MOVED,
    ) -> None:
        """Add what an instruction moved between two accounts."""
        giver, taker = map(self.owner, ends)
        if units and giver != taker:
            is_consented = authority is None or authority == giver
            self.flows.append(Flow(giver, taker, mint, units, step.caller, step.number, is_consented, kind))


def flows_of(wrapped_mint: str, transaction: Transaction) -> SolanaFlows:
    """Return what a transaction moved. Raise UnusableRow."""
    run = list(steps(transaction))
    reader = _Reader(wrapped_mint)
    before, after = _read_balances(reader, transaction, run)
    created = {
        account: step.number
        for step in run
        if step.is_system and (account := step.text("newAccount", "account"))
    }
    last: dict[str, Step] = {}
    for step in run:
        if step.is_system:
            _move_lamports(reader, step, created)
        else:
            _move_tokens(reader, step, last)
    _add_withheld(reader, after, last)
    _add_unstated(reader, transaction, run)
    return SolanaFlows(reader.flows, run, reader.decimals, _unique(reader, before, after))


def _read_balances(
    reader: _Reader, transaction: Transaction, run: Iterable[Step]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the balances of token accounts before and after."""
    meta, keys = transaction.meta, transaction.keys
    if not keys or not len(keys) == len(meta.pre_balances) == len(meta.post_balances):
        raise UnusableRow("not as many balances as accounts")
    amounts = (*meta.pre_balances, *meta.post_balances, meta.fee)
    if not all(0 <= lamports <= _MAX_LAMPORTS for lamports in amounts):
        raise UnusableRow("a balance out of range")
    # An account that is opened and closed in between has no balance before or after.
    for step in run:
        if step.kind in _OPENINGS:
            reader.owners[step.text("account")] = step.text("owner")
            reader.mints[step.text("account")] = reader.mint(step.text("mint"))
    read: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for balances, units in zip((meta.pre_token_balances, meta.post_token_balances), read, strict=True):
        for balance in balances or ():
            if not 0 <= balance.account_index < len(keys):
                raise UnusableRow("a balance of no account")
            account = keys[balance.account_index]
            reader.owners[account] = balance.owner or reader.owner(account)
            mint = reader.mints[account] = reader.mint(balance.mint)
            units[account] = read_amount(balance.ui_token_amount.amount)
            if mint is not None:
                reader.decimals[mint] = read_decimals(balance.ui_token_amount.decimals)
    reader.tokens.update(read[0])
    reader.lamports.update(zip(keys, meta.pre_balances, strict=True))
    reader.lamports[keys[0]] -= meta.fee
    return read


def _move_tokens(reader: _Reader, step: Step, last: dict[str, Step]) -> None:
    """Add what an instruction of a token program moved. What it minted or burned came from nobody.

    `last` are the last transfers to each account.
    """
    account = step.text("account")
    if step.kind in _TRANSFERS:
        source, destination, units = step.text("source"), step.text("destination"), step.units()
        mint = reader.mints.get(source, reader.mints.get(destination))
        held = reader.lamports if mint is None else reader.tokens
        held[source] -= units
        held[destination] += units
        last[destination] = step
        authority = step.text("authority", "multisigAuthority")
        reader.add(step, (source, destination), mint, units, authority)
    elif step.kind in _MINTS | _BURNS and account in reader.mints:
        reader.tokens[account] += step.units() if step.kind in _MINTS else -step.units()
    elif step.kind == "closeAccount":
        units, destination = reader.lamports.pop(account, 0), step.text("destination")
        reader.lamports[destination] += units
        authority = step.text("owner", "multisigOwner")
        rent = min(units, _TOKEN_ACCOUNT_RENT)
        reader.add(step, (account, destination), None, units - rent, authority)
        reader.add(step, (account, destination), None, rent, authority, Kind.REFUND)


def _move_lamports(reader: _Reader, step: Step, created: Mapping[str, int]) -> None:
    """Add what an instruction of the system program moved, and which of it is the rent of a new account."""
    if step.kind not in _CREATIONS | _SYSTEM_TRANSFERS:
        return
    source, destination, units = step.text("source"), step.text("newAccount", "destination"), step.units()
    reader.lamports[source] -= units
    reader.lamports[destination] += units
    if step.kind in _SYSTEM_TRANSFERS:
        # An account that had lamports is created by transfer, allocate and assign; others are topped up.
        is_rent = destination in created and (
            destination not in reader.mints or step.number < created[destination]
        )
        kind = Kind.RENT if is_rent else Kind.MOVED
        reader.add(step, (source, destination), None, units, kind=kind)


def _add_withheld(reader: _Reader, after: Mapping[str, int], last: Mapping[str, Step]) -> None:
    """Add the transfer fees that tokens withheld, and what the node did not parse."""
    for account, mint in reader.mints.items():
        rest = after.get(account, 0) - reader.tokens[account]
        if mint is None or not rest:
            continue
        place = (last[account].caller, last[account].number) if account in last else (OUTSIDE, 0)
        ends = ("", reader.owner(account)) if rest > 0 else (reader.owner(account), "")
        reader.flows.append(Flow(*ends, mint, abs(rest), *place, is_consented=False))


def _add_unstated(reader: _Reader, transaction: Transaction, run: Sequence[Step]) -> None:
    """Add the lamports that programs moved by no instruction, as flows of the calls that name the account.

    Those of an account that several calls name are what the other accounts of each call leave over.
    """
    meta = transaction.meta
    callers = {step.number: step.caller for step in run}
    rest: dict[str, int] = {}
    closed: set[str] = set()
    for account, before, after in zip(transaction.keys, meta.pre_balances, meta.post_balances, strict=True):
        if left := after - reader.lamports[account]:
            rest[account] = left
            if not after and before <= _LARGEST_RENT and account not in reader.mints:
                closed.add(account)
    names = {step.number: step.names for step in run if not step.kind or step.kind.startswith("withdraw")}
    named = {account: _naming(account, names, callers) for account in rest}
    moved: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for account, calls in named.items():
        if len(calls) == 1:
            moved[calls[0]][account] = rest.pop(account)
    for call in sorted({call for account in rest for call in named[account]}):
        accounts = [account for account in rest if call in named[account]]
        units = -sum(moved[call].values())
        if len(accounts) == 1 and units:
            moved[call][accounts[0]] = units
            rest[accounts[0]] -= units
    moved[OUTSIDE] = rest
    for call, changes in moved.items():
        for account in closed & changes.keys():
            # Its rent came back to somebody.
            refund = changes.pop(account)
            taker = max(changes, key=lambda each: changes[each], default="")
            if taker:
                changes[taker] += refund
        for account, units in changes.items():
            owner = reader.owner(account)
            ends = ("", owner) if units > 0 else (owner, "")
            # Nobody states by whose authority.
            if units:
                reader.flows.append(Flow(*ends, None, abs(units), call, call, is_consented=False))


def _naming(account: str, names: Mapping[int, set[str]], callers: Mapping[int, int]) -> list[int]:
    """Return the calls that may have moved lamports of an account: the innermost ones that name it."""
    calls = [call for call, named in names.items() if account in named]
    outer = set()
    for call in calls:
        caller = callers[call]
        while caller != OUTSIDE:
            outer.add(caller)
            caller = callers[caller]
    return [call for call in calls if call not in outer]


def _unique(reader: _Reader, *read: Mapping[str, int]) -> frozenset[str]:
    held: defaultdict[str, set[int]] = defaultdict(set)
    for balances in read:
        for account, units in balances.items():
            mint = reader.mints[account]
            if mint is not None:
                held[mint].add(units)
    return frozenset(mint for mint, units in held.items() if units <= {0, 10 ** reader.decimals[mint]})

"""What each instruction of a Solana transaction moved, between which owners, and by whose authority.

Moves add up to the changes of the balances: what no instruction states, such as lamports that a program took
from an account of its own, is the move of the call that names the account.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from wallet_api.chain.decoding.changes import Changes
from wallet_api.chain.decoding.solana.accounts import OPENINGS, Accounts, balances
from wallet_api.chain.decoding.solana.transactions import OUTSIDE, SolanaEvidence, Step, Transaction, steps
from wallet_api.chain.decoding.solana.unstated_lamports import unstated_changes
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.venues import Role

_AGGREGATORS = frozenset(venue.address for venue in SOLANA if venue.role is Role.AGGREGATOR)


class Kind(Enum):
    """What a move is."""

    MOVED = auto()
    RENT = auto()
    """It went to an account that the transaction created."""
    REFUND = auto()
    """The rent of a token account of somebody else, which was closed."""


class SolanaMove(NamedTuple):
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
class SolanaMoves:
    """What a transaction moved, and the instructions that it ran.

    `unique` are the mints of which each account has nothing or one whole unit: NFTs.
    """

    signers: AbstractSet[str]
    moves: Sequence[SolanaMove]
    run: Sequence[Step]
    decimals: Mapping[str, int]
    unique: frozenset[str]


def read_moves(evidence: SolanaEvidence) -> SolanaMoves:
    """Return what a transaction moved. Raise UnusableRow."""
    chain, transaction = evidence.wallet.chain, evidence.transaction
    run = list(steps(transaction))
    accounts = Accounts.at_start(chain, evidence.created_at, transaction, run)
    created = {step.text("newAccount", "account") for step in run if step.is_system}
    reader = _Reader(accounts, created)
    for step in run:
        reader.read(step)
    after = accounts.check_after(transaction)
    for account in accounts.mints:
        reader.add_withheld(account, after.get(account, 0))
    reader.add_unstated(transaction, chain.largest_rent, run)
    unique = _unique(accounts, transaction)
    return SolanaMoves(transaction.signers, reader.moves, run, accounts.decimals, unique)


def changes_by_owner(moves: Iterable[SolanaMove]) -> dict[str, Changes]:
    """Return what each owner gained and lost."""
    changes: defaultdict[str, Changes] = defaultdict(Counter)
    for move in moves:
        changes[move.giver][move.mint] -= move.units
        changes[move.taker][move.mint] += move.units
    return dict(changes)


@dataclass(slots=True)
class _Reader:
    """The moves of the steps that were read, and the accounts as they are now.

    `created` are the accounts that steps of the system program create, `last` the last transfers to each
    account, and `routed` the instructions inside an aggregator.
    """

    accounts: Accounts
    created: AbstractSet[str]
    moves: list[SolanaMove] = field(default_factory=list)
    last: dict[str, Step] = field(default_factory=dict)
    routed: set[int] = field(default_factory=set)

    def read(self, step: Step) -> None:
        """Add what an instruction moved. Raise UnusableRow."""
        if step.caller in self.routed or step.program in _AGGREGATORS:
            self.routed.add(step.number)
        handle = (_OF_SYSTEM if step.is_system else _OF_TOKENS).get(step.kind)
        if handle is not None:
            handle(self, step)

    def add(
        self,
        step: Step,
        ends: tuple[str, str],
        mint: str | None,
        units: int,
        authority: str,
        kind: Kind = Kind.MOVED,
    ) -> None:
        giver, taker = ends
        if units and giver != taker:
            self.moves.append(
                SolanaMove(giver, taker, mint, units, step.caller, step.number, authority == giver, kind)
            )

    def transfer(self, step: Step) -> None:
        accounts = self.accounts
        source, destination, units = step.text("source"), step.text("destination"), step.units()
        mint = accounts.mints.get(source, accounts.mints.get(destination))
        held = accounts.lamports if mint is None else accounts.tokens
        held[source] -= units
        held[destination] += units
        self.last[destination] = step
        ends = accounts.owner(source), accounts.owner(destination)
        self.add(step, ends, mint, units, step.text("authority", "multisigAuthority"))

    def unwrap(self, step: Step) -> None:
        """Add wrapped coin that leaves its account as coin. All of it, without an amount, is unstated."""
        if step.info.get("amount") is not None:
            self.transfer(step)

    def issue(self, step: Step) -> None:
        """Add what was minted or burned, if within an aggregator: in exchange, by the token itself."""
        accounts, account, units = self.accounts, step.text("account"), step.units()
        if account not in accounts.mints:
            return
        is_burned = step.kind.startswith("burn")
        accounts.tokens[account] += -units if is_burned else units
        mint = accounts.mints[account]
        if step.number in self.routed and mint is not None:
            owner = accounts.owner(account)
            ends = (owner, mint) if is_burned else (mint, owner)
            self.add(step, ends, mint, units, step.text("authority", "multisigAuthority"))

    def close(self, step: Step) -> None:
        """Add the lamports of a token account that is closed, of which a part is its rent."""
        accounts, account, destination = self.accounts, step.text("account"), step.text("destination")
        ends = accounts.owner(account), accounts.owner(destination)
        self.add_withheld(account, 0)
        units, rent = accounts.close(account)
        accounts.lamports[destination] += units
        authority = step.text("owner", "multisigOwner")
        self.add(step, ends, None, units - rent, authority)
        self.add(step, ends, None, rent, authority, Kind.REFUND)

    def create(self, step: Step) -> None:
        """Move the lamports of a new account, which are rent."""
        self._move_lamports(step, step.text("newAccount"))

    def pay(self, step: Step) -> None:
        """Add lamports that an account of the system sends: it has no other owner, and sends them itself."""
        source, destination = step.text("source"), step.text("destination")
        units = self._move_lamports(step, destination)
        # What is put in before an account is opened is its rent, or the coin that it wraps.
        is_rent = destination in self.created and destination not in self.accounts.owners
        kind = Kind.RENT if is_rent else Kind.MOVED
        self.add(step, (source, self.accounts.owner(destination)), None, units, source, kind)

    def _move_lamports(self, step: Step, destination: str) -> int:
        units = step.units()
        self.accounts.lamports[step.text("source")] -= units
        self.accounts.lamports[destination] += units
        return units

    def add_withheld(self, account: str, units: int) -> None:
        """Add the transfer fees that a token withheld in an account, and what the node did not parse."""
        accounts = self.accounts
        mint = accounts.mints.get(account)
        rest = units - accounts.tokens.pop(account, 0)
        if mint is None or not rest:
            return
        place = (
            (self.last[account].caller, self.last[account].number) if account in self.last else (OUTSIDE, 0)
        )
        owner = accounts.owner(account)
        ends = ("", owner) if rest > 0 else (owner, "")
        self.moves.append(SolanaMove(*ends, mint, abs(rest), *place, is_consented=False))

    def add_unstated(self, transaction: Transaction, largest_rent: int, run: Sequence[Step]) -> None:
        """Add the lamports that programs moved by no instruction. Nobody states by whose authority."""
        before = {
            account: balance.owner
            for account, balance in balances(transaction, transaction.meta.pre_token_balances)
        }
        for call, account, units in unstated_changes(transaction, self.accounts, largest_rent, run):
            # It had them before it became a token account, if it did.
            ends = ("", self.accounts.owner(account)) if units > 0 else (before.get(account) or account, "")
            self.moves.append(SolanaMove(*ends, None, abs(units), call, call, is_consented=False))


_Handle = Callable[[_Reader, Step], None]
_OF_SYSTEM: Mapping[str, _Handle] = {
    "createAccount": _Reader.create,
    "createAccountWithSeed": _Reader.create,
    "transfer": _Reader.pay,
    "transferWithSeed": _Reader.pay,
}
_OF_TOKENS: Mapping[str, _Handle] = {
    "transfer": _Reader.transfer,
    "transferChecked": _Reader.transfer,
    "transferCheckedWithFee": _Reader.transfer,
    "unwrapLamports": _Reader.unwrap,
    **dict.fromkeys(("mintTo", "mintToChecked", "burn", "burnChecked"), _Reader.issue),
    **dict.fromkeys(OPENINGS, lambda reader, step: reader.accounts.open(step)),
    "setAuthority": lambda reader, step: reader.accounts.reassign(step),
    "closeAccount": _Reader.close,
}


def _unique(accounts: Accounts, transaction: Transaction) -> frozenset[str]:
    held: defaultdict[str, set[str]] = defaultdict(set)
    for row in transaction.meta.token_balances:
        if accounts.mint(row.mint) is not None:
            held[row.mint].add(row.ui_token_amount.amount)
    return frozenset(
        mint for mint, units in held.items() if units <= {"0", str(10 ** accounts.decimals[mint])}
    )

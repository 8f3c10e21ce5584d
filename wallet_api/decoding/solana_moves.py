"""What each owner gained and lost in a Solana transaction, and who exchanged it.

Balances decide the amounts, since they are complete; instructions decide which of them belong to an
exchange. The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from wallet_api.decoding.amounts import UnusableRow, read_amount, read_decimals
from wallet_api.decoding.moves import Changes, Moves, Transfer, exchanges, one_way
from wallet_api.decoding.solana import Step, Transaction, steps
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.venues import SOLANA_LENDING, SOLANA_ORDERS

_TRANSFERS = frozenset(("transfer", "transferChecked", "transferCheckedWithFee"))
_MINTS = frozenset(("mintTo", "mintToChecked"))
_BURNS = frozenset(("burn", "burnChecked"))
_OPENINGS = frozenset(("initializeAccount", "initializeAccount2", "initializeAccount3"))


@dataclass(slots=True)
class _Accounts:
    """The owner and the mint of each account, and the changes by owner."""

    owners: dict[str, str] = field(default_factory=dict)
    mints: dict[str, str | None] = field(default_factory=dict)
    decimals: dict[str, int] = field(default_factory=dict)
    changes: defaultdict[str, Changes] = field(default_factory=lambda: defaultdict(Counter))

    def owner(self, account: str) -> str:
        """Return the owner of a token account, or the account itself if it is none."""
        return self.owners.get(account, account)


def read_moves(wallet: TrackedWallet, transaction: Transaction) -> Moves:
    """Return what `wallet` exchanged in a transaction. Raise UnusableRow."""
    run = list(steps(transaction))
    accounts = _accounts(wallet, transaction, run)
    _leave_out_rent(transaction, accounts, run)
    _leave_out_supply(accounts, run)
    wallet_owners = {wallet.address, *_escrows(wallet, transaction, accounts, run)}
    changes = _without_nfts(accounts, wallet_owners)
    mine: Changes = Counter()
    for owner in wallet_owners:
        mine.update(changes.pop(owner, Counter()))
    # Who lends gives as well, but only who gains something may have exchanged it.
    lenders = {
        accounts.owner(step.text("destination"))
        for step in run
        if step.kind in _TRANSFERS and step.calling_program in SOLANA_LENDING
    }
    exchangers, others = _exchangers(accounts, changes, lenders, run)
    direct = one_way(_transfers(accounts, run), wallet_owners, others)
    return Moves.of(mine, exchangers, direct, accounts.decimals)


def _accounts(wallet: TrackedWallet, transaction: Transaction, run: Iterable[Step]) -> _Accounts:
    """Return the balance changes by owner, without the network fee.

    The lamports of a token account are its owner's, and the wrapped coin counts as the native coin.
    """
    meta, keys = transaction.meta, transaction.keys
    if not keys or not len(keys) == len(meta.pre_balances) == len(meta.post_balances):
        raise UnusableRow("not as many balances as accounts")
    accounts = _Accounts()
    # An account that is opened and closed in between has no balance before or after.
    for step in run:
        if step.kind in _OPENINGS:
            accounts.owners[step.text("account")] = step.text("owner")
            accounts.mints[step.text("account")] = _mint(wallet, step.text("mint"))
    for balances, sign in ((meta.pre_token_balances, -1), (meta.post_token_balances, 1)):
        for balance in balances or ():
            if not 0 <= balance.account_index < len(keys):
                raise UnusableRow("a balance of no account")
            account = keys[balance.account_index]
            owner = accounts.owners[account] = balance.owner or accounts.owner(account)
            mint = accounts.mints[account] = _mint(wallet, balance.mint)
            units = sign * read_amount(balance.ui_token_amount.amount)
            if mint is not None:
                accounts.decimals[mint] = read_decimals(balance.ui_token_amount.decimals)
                accounts.changes[owner][mint] += units
    for key, before, after in zip(keys, meta.pre_balances, meta.post_balances, strict=True):
        accounts.changes[accounts.owner(key)][None] += after - before
    accounts.changes[keys[0]][None] += meta.fee
    return accounts


def _mint(wallet: TrackedWallet, mint: str) -> str | None:
    return None if mint == wallet.chain.wrapped_mint else mint


def _leave_out_rent(transaction: Transaction, accounts: _Accounts, run: Iterable[Step]) -> None:
    """Add the rent of new accounts to the balances of those that paid it: it is no part of a price."""
    balances = zip(transaction.keys, transaction.meta.post_balances, strict=True)
    kept = {key for key, lamports in balances if lamports}
    funded: defaultdict[str, list[Step]] = defaultdict(list)
    for step in run:
        if not step.is_system:
            continue
        if (account := step.text("newAccount")) in kept:
            _give_back(accounts, step, account)
        elif (account := step.text("destination")) in kept:
            funded[account].append(step)
        # An account that had lamports is created by transfer, allocate and assign.
        for transfer in funded.pop(step.text("account"), ()):
            _give_back(accounts, transfer, step.text("account"))


def _give_back(accounts: _Accounts, payment: Step, account: str) -> None:
    lamports = payment.units()
    accounts.changes[accounts.owner(payment.text("source"))][None] += lamports
    accounts.changes[accounts.owner(account)][None] -= lamports


def _leave_out_supply(accounts: _Accounts, run: Iterable[Step]) -> None:
    """Leave out what was minted and burned: no other owner gave or received it."""
    for step in run:
        sign = -1 if step.kind in _MINTS else 1 if step.kind in _BURNS else 0
        if sign and (account := step.text("account")) in accounts.mints:
            accounts.changes[accounts.owner(account)][accounts.mints[account]] += sign * step.units()


def _escrows(
    wallet: TrackedWallet, transaction: Transaction, accounts: _Accounts, run: Iterable[Step]
) -> set[str]:
    """Return the owners that pay for orders of `wallet`, which it placed before and does not sign now."""
    signers = transaction.signers
    if wallet.address in signers:
        return set()
    return {
        owner
        for step in run
        if step.program in SOLANA_ORDERS and wallet.address in step.accounts
        for owner in {accounts.owner(account) for account in step.accounts}
        if owner in step.accounts and owner not in signers
        # Not those that take a fee.
        if any(units < 0 for units in accounts.changes[owner].values())
    }


def _without_nfts(accounts: _Accounts, wallet_owners: set[str]) -> dict[str, Changes]:
    """Return the changes without those of 0, and without tokens of which the wallet moved a single one."""
    unique = {
        mint
        for mint, decimals in accounts.decimals.items()
        if not decimals and all(abs(accounts.changes[owner][mint]) <= 1 for owner in wallet_owners)
    }
    return {
        owner: Counter({mint: units for mint, units in changes.items() if units and mint not in unique})
        for owner, changes in accounts.changes.items()
    }


def _exchangers(
    accounts: _Accounts, changes: Mapping[str, Changes], lenders: set[str], run: Iterable[Step]
) -> tuple[list[Changes], dict[str, Changes]]:
    """Return the changes of those that gave one thing for another, and the changes of all others.

    A pool may have a separate owner for each of its vaults: owners with one thing each count as one if the
    same instruction moved both.
    """
    exchangers = [each for owner, each in changes.items() if owner not in lenders and exchanges(each)]
    others = {owner: each for owner, each in changes.items() if owner in lenders or not exchanges(each)}
    together: defaultdict[int, set[str]] = defaultdict(set)
    for step in run:
        if step.kind in _TRANSFERS and step.units():
            ends = {accounts.owner(step.text(end)) for end in ("source", "destination")}
            together[step.caller] |= ends - lenders
    for group in together.values():
        vaults = [owner for owner in group if owner in others and len(others[owner]) == 1]
        pool: Changes = Counter()
        for owner in vaults:
            pool.update(others[owner])
        if exchanges(pool):
            exchangers.append(pool)
            for owner in vaults:
                del others[owner]
    return exchangers, others


def _transfers(accounts: _Accounts, run: Iterable[Step]) -> Iterator[Transfer]:
    """Yield what instructions moved between the owners of token accounts."""
    for step in run:
        if step.kind not in _TRANSFERS or step.is_system:
            continue
        source, destination = step.text("source"), step.text("destination")
        mint = accounts.mints.get(source, accounts.mints.get(destination))
        yield Transfer(accounts.owner(source), accounts.owner(destination), mint, step.units())

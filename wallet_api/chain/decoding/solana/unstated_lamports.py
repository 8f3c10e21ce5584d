"""The lamports of a Solana transaction that programs moved by no instruction, by the call that names them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from wallet_api.chain.decoding.solana.accounts import Accounts
from wallet_api.chain.decoding.solana.transactions import OUTSIDE, Step, Transaction

# What the node parses without an amount.
_WITHOUT_AMOUNT = ("withdraw", "unwrap")

_Changes = defaultdict[int, dict[str, int]]


def unstated_changes(
    transaction: Transaction, accounts: Accounts, largest_rent: int, run: Sequence[Step]
) -> Iterator[tuple[int, str, int]]:
    """Yield calls, each with an account that it names and the lamports that it gained or lost.

    Those of an account that several calls name are what the other accounts of each call leave over.
    """
    meta = transaction.meta
    rest: dict[str, int] = {}
    # Accounts of programs that are gone, and had no more than their rent.
    closed: set[str] = set()
    for account, before, after in zip(transaction.keys, meta.pre_balances, meta.post_balances, strict=True):
        if left := after - accounts.lamports[account]:
            rest[account] = left
            if not after and before <= largest_rent and account not in accounts.ever_tokens:
                closed.add(account)
    for call, changes in _by_call(rest, run).items():
        _return_rents(changes, closed)
        for account, units in changes.items():
            if units:
                yield call, account, units


def _by_call(rest: dict[str, int], run: Sequence[Step]) -> _Changes:
    moved: _Changes = defaultdict(dict)
    if not rest:
        return moved
    named = _named(rest, run)
    for account, calls in named.items():
        if len(calls) == 1:
            moved[calls[0]][account] = rest.pop(account)
    shared: defaultdict[int, list[str]] = defaultdict(list)
    for account in rest:
        for call in named[account]:
            shared[call].append(account)
    for call, accounts in sorted(shared.items()):
        units = -sum(moved[call].values())
        if len(accounts) == 1 and units:
            moved[call][accounts[0]] = units
            rest[accounts[0]] -= units
    moved[OUTSIDE] = rest
    return moved


def _named(accounts: Iterable[str], run: Sequence[Step]) -> dict[str, list[int]]:
    """Return the calls that may have moved lamports of each account: the innermost ones that name it."""
    callers = {step.number: step.caller for step in run}
    names = {
        step.number: step.names for step in run if not step.kind or step.kind.startswith(_WITHOUT_AMOUNT)
    }
    return {account: _naming(account, names, callers) for account in accounts}


def _naming(account: str, names: Mapping[int, set[str]], callers: Mapping[int, int]) -> list[int]:
    calls = [call for call, named in names.items() if account in named]
    outer = set()
    for call in calls:
        caller = callers[call]
        while caller != OUTSIDE:
            outer.add(caller)
            caller = callers[caller]
    return [call for call in calls if call not in outer]


def _return_rents(changes: dict[str, int], closed: set[str]) -> None:
    """Let the rent of closed accounts come back to who gained the most in the call."""
    for account in closed & changes.keys():
        refund = changes.pop(account)
        taker = max(changes, key=lambda each: changes[each], default="")
        if taker:
            changes[taker] += refund

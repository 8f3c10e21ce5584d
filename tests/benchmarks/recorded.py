"""All recorded transactions through `wallet-api sync trades`: has the ledger their trades?

    python -m tests.benchmarks.recorded

The suite decodes them, and sends some through the whole machine. This sends all: a node of an EVM chain has
each one in a block of its own, as an archive and without state; one of Solana returns whole pages, and
single ones. A sync reads them in one round. Ends with status 0 if the ledger has exactly the trades that
are decoded.
"""

import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import click

from tests.decoding import test_evm_recorded, test_solana_recorded
from tests.decoding.evm import ARCHIVE, BARE
from tests.decoding.test_evm_recorded import Case
from tests.stub.evm import EvmChain
from tests.sync.operator import Key, Operator, operator_alone, plain
from tests.sync.recorded import serve_evm, serve_solana
from wallet_api.chain.decoding.trades import Decoded

_CHAINS = ("eth", "base", "bnb")

PAGES, SINGLE = "Solana, whole pages", "Solana, one by one"


def wanted(cases: list[Case], chains: dict[str, EvmChain], node: str) -> dict[Key, tuple[str, str]]:
    """Return amount and native value of the trades that are decoded; "" for dollars to convert.

    They are those of each wallet of the cases that a transaction names, also of another case. Two recordings
    may state other decimals of a token, of which its chain has one.
    """
    tracked = {(case.given.chain, case.wallet) for case in cases}
    given = {(case.signature, case.wallet): case.given for case in reversed(cases)}
    first = {case.signature: case.given for case in reversed(cases)}
    read = []
    for signature, of_first in first.items():
        named = {f"0x{word[-40:]}" for log in of_first.receipt["logs"] for word in log["topics"][1:]}
        for chain, wallet in tracked & {
            (of_first.chain, name) for name in {*named, of_first.receipt["from"]}
        }:
            own = replace(given.get((signature, wallet), of_first), decimals=chains[chain].decimals)
            read.append((chain, wallet, signature, own.decode(wallet, node)))
    return trades(read)


def trades(read: Iterable[tuple[str, str, str, Decoded]]) -> dict[Key, tuple[str, str]]:
    """Return the trades by chain, wallet, transaction, token and side."""
    return {
        (chain, wallet, signature, draft.mint, "sell" if draft.is_sell else "buy"): (
            plain(draft.token_amount),
            "" if draft.usd_to_convert else plain(draft.native),
        )
        for chain, wallet, signature, decoded in read
        for draft in decoded.drafts
    }


def differences(operator: Operator, expected: dict[Key, tuple[str, str]]) -> list[str]:
    """Return what the ledger has otherwise."""
    ledger = operator.ledger()
    found = [f"missing: {key}" for key in expected.keys() - ledger.keys()]
    found += [f"more: {key}" for key in ledger.keys() - expected.keys()]
    for key, (amount, value) in expected.items():
        if key in ledger and (ledger[key][0] != amount or value not in ("", ledger[key][1])):
            found.append(f"{key}: {ledger[key][:2]}, not {(amount, value)}")
    return found


def of_evm(node: str) -> tuple[int, dict[Key, tuple[str, str]], list[str]]:
    """Return how many pairs a sync read from such nodes, their trades, and what the ledger has otherwise."""
    cases = [case for case in test_evm_recorded.CASES if case.is_recorded]
    with operator_alone() as (stub, operator):
        stub.prices.hourly = lambda currency, moment: 160.0
        began = datetime.now(UTC).replace(microsecond=0) - timedelta(days=20)
        for name in _CHAINS:
            stub.nodes.blocks[name] = EvmChain(state_blocks=None if node == ARCHIVE else 0)
            stub.nodes.blocks[name].add(began)
        serve_evm(stub, cases, began)
        operator.track(*{(case.given.chain, case.wallet): None for case in cases})
        for name in _CHAINS:
            operator.environment |= stub.evm_environment(name)
            operator.sync("trades", "--chain", name, "--since", "2026-01-01")
        expected = wanted(cases, stub.nodes.blocks, node)
        return len(cases), expected, differences(operator, expected)


def of_solana(node: str) -> tuple[int, dict[Key, tuple[str, str]], list[str]]:
    """The same of Solana."""
    cases = test_solana_recorded.CASES
    with operator_alone() as (stub, operator):
        stub.prices.hourly = lambda currency, moment: 160.0
        stub.transactions.has_history = node == PAGES
        operator.environment |= stub.node_environment
        serve_solana(stub, cases)
        operator.track(*{("solana", case.wallet): None for case in cases})
        operator.sync("trades", "--chain", "solana", "--since", "2020-03-16")
        expected = trades(("solana", case.wallet, case.signature, case.decode()) for case in cases)
        return len(cases), expected, differences(operator, expected)


@click.command()
def main() -> None:
    """Serve, sync, and compare."""
    is_right = True
    for node in (PAGES, SINGLE, ARCHIVE, BARE):
        began = time.monotonic()
        pairs, expected, found = (of_solana if node in (PAGES, SINGLE) else of_evm)(node)
        seconds = time.monotonic() - began
        click.echo(f"{node}: {pairs} pairs, {len(expected)} trades, {len(found)} differ, in {seconds:.0f} s")
        click.echo("\n".join(found[:20]))
        is_right = is_right and not found
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()

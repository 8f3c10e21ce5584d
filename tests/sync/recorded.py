"""Serve recorded transactions of the mainnets by nodes: the cases of tests/decoding, and notifications.

They are in tests/data/solana and tests/data/evm. Each line has the file in which a public project recorded
it, and what is read of the node's response: of Solana the result of getTransaction as `jsonParsed` (what was
recorded in the encoding `json` was put into this form); of EVM chains the receipt, the value of the
transaction, how it changed the native balances of the wallets (with the fee of the sender), and the decimals
of tokens.

`wallets` has for each wallet the trades (mint, side, amount, value in the native coin or null: by the
dollars, dollars, and what the other side moved), or why it is left out, or that it is unsigned.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from tests.decoding.test_evm_recorded import Case as EvmCase
from tests.decoding.test_solana_recorded import Case as SolanaCase
from tests.stub.evm import EvmChain, Transaction
from tests.stub.server import Stub
from tests.stub.swaps import Row

# Orders in native coin that a settlement filled, one of each chain.
_IN_COIN = ("0xe2d6aa63", "0x2c8cac57")
_NOTIFICATIONS = Path(__file__).parent.parent / "data" / "solana" / "notifications.ndjson"


def read_notifications() -> dict[str, Row]:
    """Return a recorded notification of each method.

    Each line has the file in which a public project recorded it, and the whole message.
    """
    messages = [json.loads(line)["message"] for line in _NOTIFICATIONS.read_text().splitlines()]
    return {message["method"]: message for message in messages}


def serve_solana(stub: Stub, cases: Sequence[SolanaCase]) -> None:
    """Let the node have the transactions, a third of them as version 1."""
    for number, case in enumerate(cases):
        result = case.result if number % 3 else case.result | {"version": 1}
        stub.transactions.add(case.wallet, case.signature, result)


def serve_evm(stub: Stub, cases: Sequence[EvmCase], began: datetime) -> None:
    """Let the nodes have the transactions of their chains, one in a block, a minute after the one before."""
    by_hash: dict[str, list[EvmCase]] = {}
    for case in cases:
        by_hash.setdefault(case.signature, []).append(case)
    for signature, same in by_hash.items():
        given = same[0].given
        chain = stub.nodes.blocks.setdefault(given.chain, EvmChain())
        chain.decimals |= given.decimals
        # Each order in native coin that was recorded is of the only wallet of its chain with one.
        if signature.startswith(_IN_COIN):
            chain.placed_by = same[0].wallet
        coins = {case.wallet: case.given.coins[case.wallet] for case in same}
        at = began + timedelta(minutes=len(chain.blocks))
        sent = Transaction(given.receipt, given.value, coins, input=f"0x{given.input.hex()}")
        chain.add(at, sent)

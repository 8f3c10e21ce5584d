"""The examples of the OpenAPI document; wallet and token are of the demo."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from wallet_api.base.errors import WalletNotFound

ADDRESS = "DemoWaLLetFzsF7J34jmExZvQko6UnzpEQxn6DLPAAMr"
MINT = "7iSF6YKMkR9ogSqCmx2p5Ukmqj9BfQhcMhntmqbDqz4X"

# Of the data of each operation. Written by `make examples`, from responses to a small ledger; those of keys,
# balances and servers are written by hand.
EXAMPLES: Mapping[str, Mapping[str, Any]] = json.loads(
    resources.files(__package__).joinpath("examples.json").read_text(encoding="utf-8")
)

# Of operations about a wallet.
NOT_TRACKED = WalletNotFound("solana", ADDRESS)
NOT_TRACKED_AS_KOL = WalletNotFound("solana", ADDRESS, "kol")

# Arguments by name.
ARGUMENTS = {
    "blockchain": "solana",
    "type": "kol",
    "address": ADDRESS,
    "period": "7d",
    "mint": MINT,
    "mode": "most_traded",
    "q": "doge",
}

META: dict[str, Any] = {
    "request_id": "req_4f6b1c2d8e9a0b1c2d3e4f5a",
    "cached": False,
    "cache_age_seconds": 0,
    "version": "1.0.0",
    "timestamp": "2026-01-30T12:51:16Z",
}


def argument_example(name: str, allowed: Sequence[str] = ()) -> str:
    """Return the example of an argument; if it is not among the `allowed` words, the first of them."""
    usual = ARGUMENTS[name]
    return usual if not allowed or usual in allowed else allowed[0]

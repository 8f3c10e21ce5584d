"""Many contract calls in one, through Multicall3, which has the same address on all supported chains.

https://www.multicall3.com/
"""

from collections.abc import Iterable, Sequence
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from wallet_api.providers.jsonrpc import Call

MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
_AGGREGATE3 = bytes.fromhex("82ad56cb")

BALANCE_OF = bytes.fromhex("70a08231")
DECIMALS = bytes.fromhex("313ce567")
SYMBOL = bytes.fromhex("95d89b41")
NAME = bytes.fromhex("06fdde03")
TOTAL_SUPPLY = bytes.fromhex("18160ddd")

# More than many calls of tokens take, and too little to return more than some 3 MB.
_GAS = 20_000_000


def balance_of(wallet: str) -> bytes:
    """Return the call data for the wallet's balance of a token."""
    return BALANCE_OF + encode(["address"], [wallet])


def call(contract: str, data: bytes, block: str = "latest") -> Call:
    """Return a contract call on a block, with bounded gas: a stranger chooses what it does and returns."""
    return "eth_call", [{"to": contract, "data": f"0x{data.hex()}", "gas": hex(_GAS)}, block]


def aggregate(calls: Iterable[tuple[str, bytes]]) -> Call:
    """Return one call that makes all calls (contract, data), each of which may fail alone."""
    tuples = [(contract, True, data) for contract, data in calls]
    return call(MULTICALL3, _AGGREGATE3 + encode(["(address,bool,bytes)[]"], [tuples]))


def read_aggregate(data: bytes, expected: int) -> Sequence[bytes | None]:
    """Return the return value of each call, None for one that failed; all None if `data` is malformed."""
    results: Any = _decoded("(bool,bytes)[]", data)
    if results is None or len(results) != expected:
        return [None] * expected
    return [returned if success else None for success, returned in results]


def read_uint(data: bytes | None) -> int | None:
    """Return the number in a return value; None if there is none, as from an address without a contract."""
    return int.from_bytes(data[:32]) if data is not None and len(data) >= 32 else None


def read_text(data: bytes | None) -> str:
    """Return the text in a return value, a string or, as in old tokens, bytes32; "" if there is none."""
    if data is None:
        return ""
    if len(data) == 32:
        return data.rstrip(b"\0").decode("utf-8", "replace")
    text: bytes = _decoded("bytes", data) or b""
    return text.decode("utf-8", "replace")


def _decoded(kind: str, data: bytes) -> Any:
    try:
        (value,) = decode([kind], data)
    except (DecodingError, OverflowError, ValueError):
        return None
    return value

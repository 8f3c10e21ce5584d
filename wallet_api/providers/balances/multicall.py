"""Many contract calls in one, through Multicall3, which has the same address on every chain we know.

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


def balance_of(wallet: str) -> bytes:
    """The call data that asks a token for the wallet's balance."""
    return BALANCE_OF + encode(["address"], [wallet])


def call(contract: str, data: bytes) -> Call:
    """One contract call on the latest block."""
    return "eth_call", [{"to": contract, "data": f"0x{data.hex()}"}, "latest"]


def aggregate(calls: Iterable[tuple[str, bytes]]) -> Call:
    """One call that makes all of those (contract, data), each of which may fail by itself."""
    tuples = [(contract, True, data) for contract, data in calls]
    return call(MULTICALL3, _AGGREGATE3 + encode(["(address,bool,bytes)[]"], [tuples]))


def read_aggregate(data: bytes, expected: int) -> Sequence[bytes | None]:
    """What each call returned, None for those that failed; all None if the answer is none."""
    results: Any = _decoded("(bool,bytes)[]", data)
    if results is None or len(results) != expected:
        return [None] * expected
    return [returned if success else None for success, returned in results]


def read_uint(data: bytes | None) -> int | None:
    """The number that a call returned; None if it returned none, as what is not a contract does."""
    return int.from_bytes(data[:32]) if data is not None and len(data) >= 32 else None


def read_text(data: bytes | None) -> str:
    """The text that a call returned, also as bytes32, which the first tokens used; empty if none."""
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

"""Many contract calls in one, through Multicall3, which has the same address on all supported chains.

https://www.multicall3.com/

What a contract returns is read strictly: every place is within the data and behind the words that lead to it,
and padding is zero. https://docs.soliditylang.org/en/latest/abi-spec.html
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from wallet_api.chain.providers.jsonrpc import Call

MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
_AGGREGATE3 = bytes.fromhex("82ad56cb")

BALANCE_OF = bytes.fromhex("70a08231")
DECIMALS = bytes.fromhex("313ce567")
SYMBOL = bytes.fromhex("95d89b41")
NAME = bytes.fromhex("06fdde03")
TOTAL_SUPPLY = bytes.fromhex("18160ddd")

# More than many calls of tokens take, and too little to return more than some 3 MB.
_GAS = 20_000_000
_WORD = 32


def balance_of(wallet: str) -> bytes:
    """Return the call data for the wallet's balance of a token."""
    return BALANCE_OF + _address(wallet)


def call(contract: str, data: bytes, block: str = "latest") -> Call:
    """Return a contract call on a block, with bounded gas: a stranger chooses what it does and returns."""
    return "eth_call", [{"to": contract, "data": f"0x{data.hex()}", "gas": hex(_GAS)}, block]


def aggregate(calls: Iterable[tuple[str, bytes]]) -> Call:
    """Return one call that makes all calls (contract, data), each of which may fail alone."""
    tuples = [
        _address(contract) + _words(True, 3 * _WORD, len(data)) + _padded(data) for contract, data in calls
    ]
    *places, _ = accumulate(map(len, tuples), initial=_WORD * len(tuples))
    array = _words(_WORD, len(tuples), *places) + b"".join(tuples)
    return call(MULTICALL3, _AGGREGATE3 + array)


def read_aggregate(data: bytes, expected: int) -> Sequence[bytes | None]:
    """Return the return value of each call, None for one that failed; all None if `data` is malformed."""
    try:
        array = _place(data, 0, 0, 1)
        if _number(data, array) != expected:
            raise ValueError("another number of results")
        tuples = [_place(data, array + _WORD, index, expected) for index in range(expected)]
        results = [(_bool(data, place), _bytes(data, _place(data, place, 1, 2))) for place in tuples]
    except ValueError:
        return [None] * expected
    return [returned if success else None for success, returned in results]


def read_uint(data: bytes | None) -> int | None:
    """Return the number in a return value; None if there is none, as from an address without a contract."""
    return None if data is None or len(data) < _WORD else _number(data, 0)


def read_text(data: bytes | None) -> str:
    """Return the text in a return value, a string or, as in old tokens, bytes32; "" if there is none."""
    if data is None:
        return ""
    if len(data) == _WORD:
        return data.rstrip(b"\0").decode("utf-8", "replace")
    try:
        return _bytes(data, _place(data, 0, 0, 1)).decode("utf-8", "replace")
    except ValueError:
        return ""


def _words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(_WORD) for number in numbers)


def _address(address: str) -> bytes:
    return bytes.fromhex(address.removeprefix("0x")).rjust(_WORD, b"\0")


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _WORD)


def _number(data: bytes, place: int) -> int:
    """Return the number at a place. Raise ValueError if the data end within it."""
    word = data[place : place + _WORD]
    if len(word) < _WORD:
        raise ValueError("the data end within a word")
    return int.from_bytes(word)


def _bool(data: bytes, place: int) -> bool:
    number = _number(data, place)
    if number > 1:
        raise ValueError("neither true nor false")
    return number == 1


def _place(data: bytes, start: int, index: int, count: int) -> int:
    """Return where the part is to which one of the `count` words at `start` leads. Raise ValueError."""
    place = start + _number(data, start + index * _WORD)
    if place < start + count * _WORD:
        raise ValueError("not behind these words")
    return place


def _bytes(data: bytes, place: int) -> bytes:
    """Return the bytes at a place, behind their length. Raise ValueError."""
    start = place + _WORD
    end = start + _number(data, place)
    padding = data[end : end + (start - end) % _WORD]
    if end > len(data) or len(padding) < (start - end) % _WORD or any(padding):
        raise ValueError("not as many bytes, or other padding than zeros")
    return data[start:end]

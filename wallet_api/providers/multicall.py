"""Many contract calls in one, through Multicall3, which has the same address on all supported chains.

https://www.multicall3.com/

The forms of its arguments and results are those of https://docs.soliditylang.org/en/latest/abi-spec.html:
numbers, addresses, lengths and places are words of 32 bytes; bytes are filled up to whole words.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate

from wallet_api.providers.jsonrpc import Call

MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
_AGGREGATE3 = bytes.fromhex("82ad56cb")
_WORD = 32

BALANCE_OF = bytes.fromhex("70a08231")
DECIMALS = bytes.fromhex("313ce567")
SYMBOL = bytes.fromhex("95d89b41")
NAME = bytes.fromhex("06fdde03")
TOTAL_SUPPLY = bytes.fromhex("18160ddd")


def balance_of(wallet: str) -> bytes:
    """Return the call data for the wallet's balance of a token."""
    return BALANCE_OF + _word(int(wallet, 16))


def call(contract: str, data: bytes, block: str = "latest") -> Call:
    """Return a contract call on a block."""
    return "eth_call", [{"to": contract, "data": f"0x{data.hex()}"}, block]


def aggregate(calls: Iterable[tuple[str, bytes]]) -> Call:
    """Return one call that makes all calls (contract, data), each of which may fail alone."""
    tuples = [_tuple(contract, data) for contract, data in calls]
    # Each is at a place that is counted from the first of these words.
    *places, _ = accumulate(map(len, tuples), initial=_WORD * len(tuples))
    array = [_word(_WORD), _word(len(tuples)), *map(_word, places), *tuples]
    return call(MULTICALL3, _AGGREGATE3 + b"".join(array))


def read_aggregate(data: bytes, expected: int) -> Sequence[bytes | None]:
    """Return the return value of each call, None for one that failed; all None if `data` is malformed."""
    try:
        array = _number_at(data, 0)
        if _number_at(data, array) != expected:
            return [None] * expected
        first = array + _WORD
        places = [first + _number_at(data, first + _WORD * index) for index in range(expected)]
        return [_bytes_at(data, place, _WORD) if _number_at(data, place) else None for place in places]
    except ValueError:
        return [None] * expected


def read_uint(data: bytes | None) -> int | None:
    """Return the number in a return value; None if there is none, as from an address without a contract."""
    return int.from_bytes(data[:32]) if data is not None and len(data) >= 32 else None


def read_text(data: bytes | None) -> str:
    """Return the text in a return value, a string or, as in old tokens, bytes32; "" if there is none."""
    if data is None:
        return ""
    if len(data) == 32:
        return data.rstrip(b"\0").decode("utf-8", "replace")
    try:
        return _bytes_at(data, 0, 0).decode("utf-8", "replace")
    except ValueError:
        return ""


def _tuple(contract: str, data: bytes) -> bytes:
    """Return an (address, bool, bytes), whose bytes are behind these three words."""
    head = (int(contract, 16), True, 3 * _WORD, len(data))
    return b"".join((*map(_word, head), data, bytes(-len(data) % _WORD)))


def _word(number: int) -> bytes:
    return number.to_bytes(_WORD)


def _number_at(data: bytes, place: int) -> int:
    word = data[place : place + _WORD]
    if len(word) < _WORD:
        raise ValueError
    return int.from_bytes(word)


def _bytes_at(data: bytes, start: int, index: int) -> bytes:
    """Return the bytes whose place, counted from `start`, is in the word at `start` and `index`."""
    place = start + _number_at(data, start + index)
    length = _number_at(data, place)
    value = data[place + _WORD : place + _WORD + length]
    if len(value) < length:
        raise ValueError
    return value

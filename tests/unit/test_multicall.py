"""Calls of contracts, and what these return, with every kind of fault: as eth-abi writes and reads them.

MULTICALL_EXAMPLES is the number of examples of each test; a failure has the number of its example.
"""

import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError

from wallet_api.chain.providers.metadata import multicall

RESULTS = "(bool,bytes)[]"
# Around a word, and what no reply has room for.
EDGES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 96, 128, 160, 2**31, 2**63 - 1, 2**63, 2**64, 2**255, 2**256 - 1)


def _examples() -> Iterator[tuple[int, Random]]:
    for number in range(int(os.environ.get("MULTICALL_EXAMPLES", "3000"))):
        yield number, Random(number)


def _returned(random: Random) -> bytes:
    """Return what a contract returns: a text as old and new tokens have it, or any bytes."""
    text = "".join(random.choices("aé€😀\0", k=random.randrange(25)))
    return random.choice(
        (
            encode(["string"], [text]),
            text.encode()[:32].ljust(32, b"\0"),
            random.randbytes(random.randrange(70)),
        )
    )


def _reply(random: Random) -> bytes:
    """Return random bytes, or a valid reply with faults, mostly few."""
    if random.random() < 0.05:
        return random.randbytes(random.randrange(400))
    results = [(random.random() < 0.7, _returned(random)) for _ in range(random.randrange(4))]
    data = random.choice((encode([RESULTS], [results]), _returned(random)))
    for _ in range(random.choice((0, 1, 1, 1, 2, 4))):
        data = random.choice(FAULTS)(random, data)
    return data


def _word_of_its_own(random: Random, data: bytes) -> bytes:
    """An offset, length or number that is huge, outside, off by some, or leads to itself or another part."""
    place = 32 * random.randrange(len(data) // 32 + 1)
    near = random.randint(-33, 33)
    number = random.choice(
        (
            random.choice(EDGES),
            int.from_bytes(data[place : place + 32]) + near,
            len(data) + near,
            random.randrange(len(data) + 1),
            32 * random.randrange(len(data) // 32 + 1),
            32 * random.randrange(len(data) // 32 + 1),
        )
    )
    return data[:place] + (number % 2**256).to_bytes(32) + data[place + 32 :]


def _another_byte(random: Random, data: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(1) + data[place + 1 :]


def _dirty_end(random: Random, data: bytes) -> bytes:
    place = max(0, len(data) - random.randrange(34))
    return data[:place] + b"\1" + data[place + 1 :]


def _truncated(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _with_more(random: Random, data: bytes) -> bytes:
    place = random.choice((len(data), random.randrange(len(data) + 1)))
    return data[:place] + random.choice((bytes(32), random.randbytes(random.randrange(64)))) + data[place:]


def _with_a_part_again(random: Random, data: bytes) -> bytes:
    start, end = sorted(32 * random.randrange(len(data) // 32 + 1) for _ in range(2))
    return data[:end] + data[start:end] + data[end:]


FAULTS = (
    *[_word_of_its_own] * 4,
    _another_byte,
    _dirty_end,
    _truncated,
    _with_more,
    _with_a_part_again,
)


def _decoded(kind: str, data: bytes) -> Any:
    """Return what eth-abi decodes, or None."""
    try:
        (value,) = decode([kind], data)
    except (DecodingError, OverflowError, ValueError):
        return None
    return value


def _results(data: bytes, expected: int) -> list[bytes | None]:
    results = _decoded(RESULTS, data)
    if results is None or len(results) != expected:
        return [None] * expected
    return [returned if success else None for success, returned in results]


def test_results_are_read_as_eth_abi_reads_them() -> None:
    for number, random in _examples():
        data = _reply(random)
        for expected in {random.randrange(4), len(_decoded(RESULTS, data) or ())}:
            assert multicall.read_aggregate(data, expected) == _results(data, expected), (number, data.hex())


def test_texts_are_read_as_eth_abi_reads_them() -> None:
    for number, random in _examples():
        data = _reply(random)
        text = data.rstrip(b"\0") if len(data) == 32 else _decoded("bytes", data) or b""
        assert multicall.read_text(data) == text.decode("utf-8", "replace"), (number, data.hex())


def test_calls_are_written_as_eth_abi_writes_them() -> None:
    for number, random in _examples():
        addresses = [f"0x{random.randbytes(20).hex()}" for _ in range(random.randrange(1, 5))]
        calls = [(address, random.randbytes(random.randrange(70))) for address in addresses[1:]]
        tuples = [(contract, True, data) for contract, data in calls]
        _, (request, _) = multicall.aggregate(calls)
        assert request["data"] == "0x82ad56cb" + encode(["(address,bool,bytes)[]"], [tuples]).hex(), number
        wallet = addresses[0]
        assert multicall.balance_of(wallet).hex() == "70a08231" + encode(["address"], [wallet]).hex(), number


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        # No words; an array outside; one that leads to itself.
        ((), 2),
        ((32,), 2),
        ((0, 0), 0),
        # A tuple that leads to itself; one whose bytes do; two that share all.
        ((32, 3, 0, 96, 160, 0, 128, 1, 64, 0), 3),
        ((32, 1, 32, 1, 32, 0), 1),
        ((32, 2, 64, 64, 1, 64, 1, 7 << 248), 2),
        # More results than there is room for.
        ((32, 2**256 - 1, 32), 1),
    ],
)
def test_places_that_meet_are_read_as_eth_abi_reads_them(words: tuple[int, ...], expected: int) -> None:
    data = b"".join(word.to_bytes(32) for word in words)
    assert multicall.read_aggregate(data, expected) == _results(data, expected)

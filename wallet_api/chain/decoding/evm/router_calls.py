"""What the sender of a transaction asked of a known router in its input: whom it pays, and what it keeps.

No log has that of the routers of Uniswap (https://docs.uniswap.org/contracts) and of MetaMask.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question
from wallet_api.chain.decoding.evm.receipts import ZERO, address_of
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.venues import Role

ROUTERS = frozenset(venue.address for venue in EVM if venue.role == Role.PAYS)
_WORD = 32
# Of the universal router: what it calls its caller and itself, and the mask of the number of a command.
_CALLER, _ITSELF, _COMMAND = f"0x{1:040x}", f"0x{2:040x}", 0x7F
_SWEEP, _TRANSFER, _PAY_PORTION, _UNWRAP = 0x04, 0x05, 0x06, 0x0C
# MetaMask's adapters: the length of the arguments before those that vary, and of one that has none such.
_VARIES, _FIXED_WORDS = 9 * _WORD, 13


@dataclass(frozen=True, slots=True)
class RouterCall:
    """What a router was asked to do with native coin.

    `recipients` are whom it pays, as far as is known; `fee` is what it keeps of what it pays. What it does
    not need of the coin that it was sent comes back if `returns_unused`, what it has unwrapped if
    `returns_unwrapped`.
    """

    recipients: frozenset[str] = frozenset()
    fee: int = 0
    returns_unused: bool = False
    returns_unwrapped: bool = False

    def is_for(self, address: str) -> bool:
        """Return whether it pays nobody but this address."""
        return self.recipients <= {address}


NOTHING = RouterCall()


def router_call(evidence: EvmEvidence) -> RouterCall:
    """Return what the sender asked of a known router; nothing of another one. Raise Unanswered."""
    if evidence.logs.to not in ROUTERS:
        return NOTHING
    given = evidence.answer(Question(Need.INPUT))
    read = _READERS.get(given[:4]) if isinstance(given, bytes) else None
    # Elements of arrays may overlap: they are not copied.
    return read(memoryview(given)[4:], evidence.logs.sender) if read and isinstance(given, bytes) else NOTHING


def _number(data: memoryview, place: int) -> int:
    """Return the word at a place; 0 beyond the end."""
    return int.from_bytes(data[place * _WORD : (place + 1) * _WORD])


def _address(data: memoryview, place: int) -> str:
    return address_of(f"{_number(data, place):064x}")


def _bytes(data: memoryview, offset: int) -> memoryview:
    start = offset + _WORD
    return data[start : start + int.from_bytes(data[offset:start])]


def _each(data: memoryview, offset: int) -> Iterator[memoryview]:
    """Yield the elements of the array of bytes at an offset."""
    elements = data[offset + _WORD :]
    count = min(int.from_bytes(data[offset : offset + _WORD]), len(elements) // _WORD)
    return (_bytes(elements, _number(elements, place)) for place in range(count))


def _calls(data: memoryview, place: int) -> RouterCall:
    """Read several calls: one of them may unwrap, or return what was not needed."""
    calls = [(call[:4], call[4:]) for call in _each(data, _number(data, place))]
    recipients = frozenset(_address(given, 1) for name, given in calls if name == _UNWRAP_CALL)
    return RouterCall(recipients - {ZERO}, returns_unused=any(name == _REFUND for name, _ in calls))


def _commands(data: memoryview, caller: str) -> RouterCall:
    """Read the commands of the universal router: nothing if one pays a part of the coin to somebody."""
    recipients: set[str] = set()
    is_swept = False
    each = _each(data, _number(data, 1))
    for command, given in zip(_bytes(data, _number(data, 0)), each, strict=False):
        kind = command & _COMMAND
        to = _address(given, 0 if kind == _UNWRAP else 1)
        is_coin = _address(given, 0) == ZERO
        if kind in (_TRANSFER, _PAY_PORTION) and is_coin:
            return NOTHING
        if kind == _UNWRAP or (kind == _SWEEP and is_coin):
            recipients.add(caller if to == _CALLER else to)
            is_swept |= kind == _SWEEP
    recipients.discard(_ITSELF)
    is_back = recipients == {caller}
    return RouterCall(frozenset(recipients), returns_unused=is_back and is_swept, returns_unwrapped=is_back)


def _metamask(data: memoryview, caller: str) -> RouterCall:
    """Read MetaMask's call of an adapter: the fee, to whom, and whether it is of what the caller gets."""
    given = _bytes(data, _number(data, 3))
    is_varying = _number(given, 4) == _VARIES
    if not is_varying and len(given) != _FIXED_WORDS * _WORD:
        return NOTHING
    gained, fee = (1, 5) if is_varying else (3, _FIXED_WORDS - 3)
    is_of_coin = _address(given, gained) == ZERO and _number(given, fee + 2) == 1
    return RouterCall(fee=_number(given, fee) if is_of_coin else 0)


_REFUND, _UNWRAP_CALL = bytes.fromhex("12210e8a"), bytes.fromhex("49404b7c")
_READERS: dict[bytes, Callable[[memoryview, str], RouterCall]] = {
    bytes.fromhex(selector): read
    for read, selectors in (
        # swapExactTokensForETH, the same for tokens with a fee, swapTokensForExactETH; the three ForTokens:
        # amounts, the place of the path, the recipient, and until when.
        (
            lambda data, _: RouterCall(frozenset({_address(data, 3)})),
            ("18cbafe5", "791ac947", "4a25d94a", "38ed1739", "5c11d795", "8803dbee"),
        ),
        # swapETHForExactTokens: what the pool does not need of the coin comes back.
        (lambda data, _: RouterCall(returns_unused=True), ("fb3bdb41",)),
        # multicall, without and with until when.
        (lambda data, _: _calls(data, 0), ("ac9650d8",)),
        (lambda data, _: _calls(data, 1), ("5ae401dc",)),
        # execute, with and without until when.
        (_commands, ("3593564c", "24856bc3")),
        # swap of MetaMask.
        (_metamask, ("5f575529",)),
    )
    for selector in selectors
}

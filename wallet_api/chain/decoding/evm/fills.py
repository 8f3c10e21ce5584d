"""What the orders of a wallet exchanged that known contracts filled, whoever sent the transaction.

The amounts are those that the contract states in its event. Where it states only whose order it has filled,
they are what moved at the wallet, if that is one token for one other thing, or for what the words of the
order name, if their hash is the one that the contract logged. Anything else is not known: no fills.

Who has placed an order has signed its hash, so that a contract that fills an order with this hash acts for
him: https://eips.ethereum.org/EIPS/eip-712, and OrderLib of https://github.com/1inch/limit-order-protocol.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from Crypto.Hash import keccak

from wallet_api.chain.decoding.changes import FEES, agrees
from wallet_api.chain.decoding.evm.evidence import EvmEvidence, Need, Question
from wallet_api.chain.decoding.evm.logs import Event
from wallet_api.chain.decoding.evm.receipts import ZERO, address_of
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.venues import Role

_ORDERS = frozenset(venue.address for venue in EVM if venue.role == Role.ORDERS)
_WORD = 32
# salt, maker, receiver, the token that he gives, the one that he gets, their amounts, and traits.
_WORDS = 8
_MAKER = 1
_ORDER_TYPE = (
    b"Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,"
    b"uint256 makingAmount,uint256 takingAmount,uint256 makerTraits)"
)
_DOMAIN_TYPE = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_NAME, _VERSION = b"1inch Aggregation Router", b"6"
# Of the traits: the wrapped coin is paid as native coin.
_UNWRAPS = 1 << 247


@dataclass(frozen=True, slots=True)
class _Order:
    """Up to `making` of a token for at least so much of another one in proportion to `taking`."""

    lost: str
    gained: str
    making: int
    taking: int
    receiver: str
    is_unwrapped: bool


@dataclass(frozen=True, slots=True)
class Fill:
    """Units of a token that an order gave, and of one that it got; None if it got native coin without a log.

    `is_moved` is whether they are not stated, but what moved at the wallet; `is_elsewhere` whether somebody
    else has the proceeds, but for what it got.
    """

    lost: str
    gave: int
    gained: str
    got: int | None
    is_moved: bool = False
    is_elsewhere: bool = False


class Orders:
    """The orders of a wallet in a transaction, and what left it and came to it, each without the other.

    Logs at places that are of something else are no part of them.
    """

    def __init__(self, evidence: EvmEvidence, is_other: Callable[[int], bool]) -> None:
        self._evidence = evidence
        self._wallet = wallet = evidence.wallet
        self._is_other = is_other
        self._left: Counter[str] = Counter()
        self._came: Counter[str] = Counter()
        self._times_left = 0
        for move in evidence.logs.by_owner.get(wallet.address, ()):
            if move.units and move.giver != move.taker and not is_other(move.place):
                is_left = move.giver == wallet.address
                (self._left if is_left else self._came)[move.mint or wallet.chain.wrapped_mint] += move.units
                self._times_left += is_left

    def fills(self) -> Sequence[Fill] | None:
        """Return what they exchanged, nothing if that is not known; None without orders. Raise Unanswered."""
        stated = list(self._stated())
        named = sum(
            event.address(*event.venue.places) == self._wallet.address for event in self._of(Role.FILLS)
        )
        # An order is filled out of what leaves its owner.
        proven = self._proven() if self._left else []
        if not (stated or named or proven):
            return None
        if None in stated or (named and proven):
            return []
        if stated:
            fills = [fill for fill in stated if fill is not None]
            is_all = self._left.keys() <= {fill.lost for fill in fills}
            return fills if is_all or not (named or proven) else []
        return self._of_words(proven) if proven else self._of_moves(named)

    def _of(self, *roles: Role) -> Iterator[Event]:
        return (
            event
            for event in self._evidence.logs.events_of(*roles)
            if len(event.values) > max(event.venue.places) and not self._is_other(event.place)
        )

    def _stated(self) -> Iterator[Fill | None]:
        """Yield what known contracts state of the wallet's orders; None if its own logs contradict it."""
        for event in self._of(Role.STATES, Role.SETTLEMENT):
            for owner, lost, gained, gave, got, _ in event.parties():
                is_own = owner == self._wallet.address
                if gave and got and (is_own or (owner in _ORDERS and self._is_placed(event, owner, gained))):
                    is_paid = not is_own or self._left[lost] >= gave
                    yield self._settled(Fill(lost, gave, gained, got)) if is_paid else None

    def _settled(self, fill: Fill) -> Fill:
        """Return a stated fill, with whether the wallet has what it got. Native coin leaves no log."""
        assert fill.got is not None
        came = min(self._came[fill.gained], fill.got)
        if fill.gained in self._wallet.chain.pseudo_mints or agrees(came, fill.got, FEES):
            return fill
        return replace(fill, got=came, is_elsewhere=True)

    def _is_placed(self, event: Event, contract: str, gained: str) -> bool:
        """Return whether the wallet placed an order in native coin. Raise Unanswered."""
        # Only what the wallet took can be of an order of it.
        if _order_of(event) is None or not self._came[gained]:
            return False
        return self._evidence.answer(placed_by(event, contract)) == self._wallet.address

    def _proven(self) -> list[_Order]:
        """Return the orders in the input whose hashes known contracts logged. Raise Unanswered."""
        logged: defaultdict[str, set[int]] = defaultdict(set)
        for event in self._of(Role.HASH):
            logged[event.emitter].add(event.values[0])
        given = self._evidence.answer(Question(Need.INPUT)) if logged else None
        return list(_orders_in(given, self._wallet, logged)) if isinstance(given, bytes) else []

    def _of_words(self, orders: Sequence[_Order]) -> list[Fill]:
        """Return the fill of orders of one token for another one, at their price or a better one."""
        order = orders[0]
        gave, got = self._left[order.lost], self._came[order.gained]
        is_one = len({(each.lost, each.gained) for each in orders}) == 1
        if not is_one or not 0 < gave <= sum(each.making for each in orders):
            return []
        fill = Fill(order.lost, gave, order.gained, got)
        if not got and order.is_unwrapped:
            return [replace(fill, got=None)]
        if order.receiver not in (ZERO, self._wallet.address):
            return [replace(fill, is_elsewhere=True)]
        return [fill] if all(got * each.making >= gave * each.taking for each in orders) else []

    def _of_moves(self, orders: int) -> list[Fill]:
        """Return the fill of so many orders: one token that left the wallet once for each, for one thing.

        What comes back of the token is a gift.
        """
        gained = self._came.keys() - self._left.keys()
        if len(self._left) != 1 or self._times_left > orders or len(gained) > 1:
            return []
        ((lost, gave),) = self._left.items()
        mint = next(iter(gained), self._wallet.chain.wrapped_mint)
        return [Fill(lost, gave, mint, self._came[mint] if gained else None, is_moved=True)]


def placed_by(event: Event, contract: str) -> Question:
    """Return the question for the owner of the order that a settlement filled for `contract`."""
    return Question(Need.PLACED_BY, contract, _order_of(event) or "")


def _order_of(event: Event) -> str | None:
    """Return the hash of the order that a settlement filled, a part of its id; None for another form."""
    # Owner, tokens, amounts, fee, then the place, length and 56 bytes of the id.
    return f"0x{event.values[8]:064x}" if len(event.values) >= 10 and event.values[7] == 56 else None


def _orders_in(given: bytes, wallet: TrackedWallet, logged: Mapping[str, Container[int]]) -> Iterator[_Order]:
    """Yield the orders of `wallet` in the input that contracts filled, by the hashes that each logged."""
    maker = bytes.fromhex(wallet.address[2:])
    assert wallet.chain.evm_chain_id is not None
    seen: set[int] = set()
    place = given.find(maker)
    while place >= 0:
        start = place + len(maker) - (_MAKER + 1) * _WORD
        words = given[max(start, 0) : start + _WORDS * _WORD]
        if start >= 0 and len(words) == _WORDS * _WORD:
            for contract, hashes in logged.items():
                hashed = _hash(wallet.chain.evm_chain_id, contract, words)
                if hashed in hashes and hashed not in seen:
                    seen.add(hashed)
                    yield _read_order(wallet.chain.wrapped_mint, words)
        place = given.find(maker, place + 1)


def _read_order(wrapped: str, words: bytes) -> _Order:
    each = [words[start : start + _WORD] for start in range(0, len(words), _WORD)]
    _, _, receiver, lost, gained = (address_of(word.hex()) for word in each[:5])
    making, taking, traits = (int.from_bytes(word) for word in each[5:])
    return _Order(lost, gained, making, taking, receiver, gained == wrapped and bool(traits & _UNWRAPS))


def _hash(chain_id: int, contract: str, words: bytes) -> int:
    """Return the hash of an order, as a typed structured datum of a contract."""
    order = _keccak(_keccak(_ORDER_TYPE) + words)
    return int.from_bytes(_keccak(b"\x19\x01" + _domain(chain_id, contract) + order))


@cache
def _domain(chain_id: int, contract: str) -> bytes:
    names = _keccak(_DOMAIN_TYPE) + _keccak(_NAME) + _keccak(_VERSION)
    return _keccak(names + chain_id.to_bytes(_WORD) + bytes.fromhex(contract[2:]).rjust(_WORD, b"\0"))


def _keccak(data: bytes) -> bytes:
    return keccak.new(digest_bits=256, data=data).digest()

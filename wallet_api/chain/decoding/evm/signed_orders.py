"""The orders in the input of a transaction, proven by hashes that contracts logged.

Who has placed an order has signed its hash, so that a contract that fills an order with this hash acts for
him: https://eips.ethereum.org/EIPS/eip-712, and OrderLib of https://github.com/1inch/limit-order-protocol.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from Crypto.Hash import keccak

from wallet_api.chain.decoding.evm.receipts import address_of
from wallet_api.chain.decoding.swaps import TrackedWallet

_WORD = 32
# salt, maker, receiver, the token that he gives, the one that he gets, their amounts, and traits.
_WORDS = 8
_MAKER = 1
_ORDER = (
    b"Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,"
    b"uint256 makingAmount,uint256 takingAmount,uint256 makerTraits)"
)
_DOMAIN = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
_NAME, _VERSION = b"1inch Aggregation Router", b"6"
# Of the traits: the wrapped coin is paid as native coin.
_UNWRAPS = 1 << 247


@dataclass(frozen=True, slots=True)
class Order:
    """Up to `making` of a token for at least so much of another one in proportion to `taking`."""

    lost: str
    gained: str
    making: int
    taking: int
    receiver: str
    is_unwrapped: bool


def orders_in(given: bytes, wallet: TrackedWallet, logged: Mapping[str, Container[int]]) -> Iterator[Order]:
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
                    yield _order(wallet.chain.wrapped_mint, words)
        place = given.find(maker, place + 1)


def _order(wrapped: str, words: bytes) -> Order:
    each = [words[start : start + _WORD] for start in range(0, len(words), _WORD)]
    _, _, receiver, lost, gained = (address_of(word.hex()) for word in each[:5])
    making, taking, traits = (int.from_bytes(word) for word in each[5:])
    return Order(lost, gained, making, taking, receiver, gained == wrapped and bool(traits & _UNWRAPS))


def _hash(chain_id: int, contract: str, words: bytes) -> int:
    """Return the hash of an order, as a typed structured datum of a contract."""
    order = _keccak(_keccak(_ORDER) + words)
    return int.from_bytes(_keccak(b"\x19\x01" + _domain(chain_id, contract) + order))


@cache
def _domain(chain_id: int, contract: str) -> bytes:
    names = _keccak(_DOMAIN) + _keccak(_NAME) + _keccak(_VERSION)
    return _keccak(names + chain_id.to_bytes(_WORD) + bytes.fromhex(contract[2:]).rjust(_WORD, b"\0"))


def _keccak(data: bytes) -> bytes:
    return keccak.new(digest_bits=256, data=data).digest()

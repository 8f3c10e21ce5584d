"""What is read of the receipt of an EVM transaction, once for all wallets."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from wallet_api.base.chains import EVM_NATIVE_EMITTER, Chain
from wallet_api.chain.decoding.amounts import UnusableRow, quantity
from wallet_api.chain.decoding.changes import Changes
from wallet_api.chain.decoding.evm.receipts import (
    APPROVAL,
    DEPOSIT,
    ERC20_TRANSFER,
    TRANSFER,
    WITHDRAWAL,
    ZERO,
    Log,
    Receipt,
    address_of,
)
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.venues import Role, Venue

# The text of 32 bytes.
_WORD = 66
_SIGN = 1 << 255
# The words of what an event states of a party, without who was paid.
_PARTY = 5


class EvmMove(NamedTuple):
    """Units of a token, or (None) of wrapped coin, that one owner sent to another; `place` is the log's."""

    place: int
    giver: str
    taker: str
    mint: str | None
    units: int


class Wrap(NamedTuple):
    """Native coin that an owner wrapped, or (negative) unwrapped."""

    place: int
    owner: str
    units: int


class _Stated(NamedTuple):
    """What a contract states of a party: the tokens and amounts that it gave and got, and who was paid."""

    owner: str
    lost: str
    gained: str
    gave: int
    got: int
    receiver: str


class Event(NamedTuple):
    """A log with the topic of a venue. `is_known` is whether it is of the venue's own contract."""

    place: int
    emitter: str
    venue: Venue
    is_known: bool
    values: list[int]

    def address(self, place: int) -> str:
        """Return the address at a place of the values; ZERO if there is none."""
        return f"0x{self.values[place] % (1 << 160):040x}" if place < len(self.values) else ZERO

    def parties(self) -> Iterator[_Stated]:
        """Yield what it states of each party; nothing if it has too few values."""
        places = self.venue.places
        has_receiver = self.venue.role == Role.PAID_OUT
        if len(self.values) > max(places):
            for start in range(0, len(places), _PARTY + has_receiver):
                owner, lost, gained = (self.address(place) for place in places[start : start + 3])
                gave, got = (self.values[place] for place in places[start + 3 : start + _PARTY])
                receiver = self.address(places[start + _PARTY]) if has_receiver else owner
                yield _Stated(owner, lost, gained, gave, got, receiver)


_VENUES: Mapping[str, Mapping[str, Venue]] = defaultdict(dict)
for _venue in EVM:
    if _venue.topic:
        _VENUES[_venue.topic][_venue.address] = _venue  # type: ignore[index]


@dataclass(slots=True)
class Logs:
    """The transfers, wraps and known events of a receipt. `has_more` is whether it has other logs too.

    `native` are the transfers of native coin, if the chain logs them: all of them, without the fee, or none.
    """

    receipt: Receipt
    sender: str
    to: str
    moves: list[EvmMove] = field(default_factory=list)
    wraps: list[Wrap] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    native: list[EvmMove] = field(default_factory=list)
    has_more: bool = False
    by_owner: defaultdict[str, list[EvmMove]] = field(default_factory=lambda: defaultdict(list))
    # Other logs than transfers and approvals.
    by_emitter: defaultdict[str, list[Log]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def from_receipt(cls, chain: Chain, receipt: Receipt) -> Self:
        """Return what is read of a receipt. Raise UnusableRow."""
        logs = cls(receipt, receipt.sender.lower(), (receipt.to or ZERO).lower())
        for place, log in enumerate(receipt.logs):
            logs._add(chain.wrapped_mint, place, log)
        return logs

    def events_of(self, *roles: Role) -> Iterable[Event]:
        """Return the events of venues with these roles, in their order."""
        return (event for event in self.events if event.venue.role in roles)

    def changes_of(self, owner: str) -> Changes:
        """Return what an owner has more or less of each token and of wrapped coin, by the transfers."""
        changes: Changes = Counter()
        for move in self.by_owner.get(owner, ()):
            changes[move.mint] += move.units * ((move.taker == owner) - (move.giver == owner))
        return changes

    def amounts_of(self, emitter: str) -> Iterator[set[int]]:
        """Yield the values, without signs, of each log of a contract. Raise UnusableRow."""
        for log in self.by_emitter.get(emitter, ()):
            yield set(map(abs, signed(_values(log))))

    def _add(self, wrapped: str, place: int, log: Log) -> None:
        contract, topic = log.address.lower(), log.topics[0] if log.topics else ""
        if topic in (TRANSFER, ERC20_TRANSFER):
            # An NFT has a fourth topic.
            if len(log.topics) == 3 and len(log.data) == _WORD:
                giver, taker = map(address_of, log.topics[1:])
                mint = None if contract in (wrapped, EVM_NATIVE_EMITTER) else contract
                move = EvmMove(place, giver, taker, mint, quantity(log.data))
                if contract == EVM_NATIVE_EMITTER:
                    self.native.append(move)
                    return
                self.moves.append(move)
                for owner in {giver, taker}:
                    self.by_owner[owner].append(move)
            return
        if contract == wrapped and topic in (DEPOSIT, WITHDRAWAL) and len(log.topics) == 2:
            sign = 1 if topic == DEPOSIT else -1
            self.wraps.append(Wrap(place, address_of(log.topics[1]), sign * quantity(log.data)))
        if topic != APPROVAL:
            self.has_more = True
            self.by_emitter[contract].append(log)
        venues = _VENUES.get(topic)
        if venues is not None:
            venue = venues.get(contract) or venues.get("")
            if venue is not None:
                self.events.append(Event(place, contract, venue, bool(venue.address), _values(log)))


def signed(values: Iterable[int]) -> Iterator[int]:
    """Yield values as numbers with a sign."""
    return (value if value < _SIGN else value - 2 * _SIGN for value in values)


def _values(log: Log) -> list[int]:
    """Return the topics after the first one, and the words of the data. Raise UnusableRow."""
    data = log.data.removeprefix("0x")
    try:
        topics = [int(topic, 16) for topic in log.topics[1:]]
        return topics + [int(data[start : start + 64], 16) for start in range(0, len(data) - 63, 64)]
    except ValueError as error:
        raise UnusableRow("a log that is not hexadecimal") from error

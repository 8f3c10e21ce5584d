"""What a token does for itself in the trade of a wallet: it sells its tax, and adds it to a pool."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

from wallet_api.chain.decoding.evm.logs import Event, EvmMove, Logs, signed
from wallet_api.chain.decoding.venues import Role


def own_sales(logs: Logs, mints: set[str | None]) -> set[int]:
    """Return the places of the logs of what the contracts of these tokens did in a pool on their own.

    A pool logs a swap or a deposit after the transfers: who sent it the token last has paid for it. What else
    moved at the pool in between belongs to it, and what somebody unwrapped or wrapped of that.
    """
    events = {event.place: event for event in logs.events_of(Role.SWAP, Role.LIQUIDITY)}
    if not events or not any(move.giver == move.mint for move in logs.moves if move.mint in mints):
        return set()
    moves = {move.place: move for move in logs.moves}
    wraps: defaultdict[int, list[int]] = defaultdict(list)
    for wrap in logs.wraps:
        wraps[wrap.units].append(wrap.place)
    since: dict[str, list[EvmMove]] = {}
    places: set[int] = set()
    for place in sorted(events.keys() | moves.keys()):
        if place in events:
            places |= _own(wraps, events[place], since.pop(events[place].emitter, []))
            continue
        move = moves[place]
        if move.mint in mints:
            since[move.taker] = [move]
        for pool in {move.giver, move.taker} & since.keys():
            if since[pool][-1] is not move:
                since[pool].append(move)
    return places


def _own(wraps: Mapping[int, list[int]], event: Event, moves: list[EvmMove]) -> set[int]:
    """Return the places of a swap or a deposit, if the contract of the token has paid for it."""
    if not moves or moves[0].giver != moves[0].mint:
        return set()
    other = sum(move.units for move in moves[1:])
    if not other or other not in map(abs, signed(event.values)):
        return set()
    return {move.place for move in moves} | set(_wrapped(wraps, event, moves))


def _wrapped(wraps: Mapping[int, list[int]], event: Event, moves: list[EvmMove]) -> Iterator[int]:
    """Yield where the coin of the moves was wrapped, last before them, or unwrapped, first after them."""
    for move in moves:
        if move.mint is None:
            is_wrap = move.taker == event.emitter
            places = wraps.get(move.units if is_wrap else -move.units, [])
            nearest = bisect_left(places, move.place) - is_wrap
            if 0 <= nearest < len(places):
                yield places[nearest]

"""What a wallet sent on to others in the call in which it had received it."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from wallet_api.chain.decoding.solana.moves import SolanaMove


def onward_of(moved: Sequence[SolanaMove], wallet: str, dealers: AbstractSet[str]) -> Sequence[SolanaMove]:
    """Return what the wallet sent on, after it had received some of it, to others that gave it nothing.

    What else they received is no part of the exchange either.
    """
    received = [move for move in moved if move.taker == wallet]
    partners = {move.giver for move in received} | dealers | {wallet, ""}
    given = [move for move in moved if move.giver == wallet and move.taker not in partners]
    return _sent_on(given, _since(received)) if given else given


def _sent_on(given: Sequence[SolanaMove], since: Mapping[str | None, int]) -> Sequence[SolanaMove]:
    onward = [move for move in given if since.get(move.mint, move.number) < move.number]
    friends = {move.taker for move in onward if move.mint is not None}
    return [*onward, *(move for move in given if move.taker in friends and move not in onward)]


def _since(received: Iterable[SolanaMove]) -> dict[str | None, int]:
    """Return by token the place of the first step that brought some of it."""
    since: dict[str | None, int] = {}
    for move in received:
        since[move.mint] = min(move.number, since.get(move.mint, move.number))
    return since

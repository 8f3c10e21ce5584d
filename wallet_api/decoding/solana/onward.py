"""What a wallet sent on to others in the call in which it had received it."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from wallet_api.decoding.solana.flows import Flow


def onward_of(moved: Sequence[Flow], wallet: str, dealers: AbstractSet[str]) -> Sequence[Flow]:
    """Return what the wallet sent on, after it had received some of it, to others that gave it nothing.

    What else they received is no part of the exchange either.
    """
    received = [flow for flow in moved if flow.taker == wallet]
    partners = {flow.giver for flow in received} | dealers | {wallet, ""}
    given = [flow for flow in moved if flow.giver == wallet and flow.taker not in partners]
    return _sent_on(given, _since(received)) if given else given


def _sent_on(given: Sequence[Flow], since: Mapping[str | None, int]) -> Sequence[Flow]:
    onward = [flow for flow in given if since.get(flow.mint, flow.number) < flow.number]
    friends = {flow.taker for flow in onward if flow.mint is not None}
    return [*onward, *(flow for flow in given if flow.taker in friends and flow not in onward)]


def _since(received: Iterable[Flow]) -> dict[str | None, int]:
    """Return by token the place of the first step that brought some of it."""
    since: dict[str | None, int] = {}
    for flow in received:
        since[flow.mint] = min(flow.number, since.get(flow.mint, flow.number))
    return since

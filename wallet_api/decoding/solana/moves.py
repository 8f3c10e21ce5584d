"""What a wallet exchanged in a Solana transaction, and with whom.

An exchange happens inside one call: the smallest one, with all that it invoked, in which the wallet gave one
thing and took another. The reasons are in docs/sync.md, "Solana from a node".
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from wallet_api.decoding.moves import FEES, Changes
from wallet_api.decoding.solana.flows import Flow, Kind, SolanaFlows, changes_of, flows_of
from wallet_api.decoding.solana.groups import Exchange, find_exchange
from wallet_api.decoding.solana.orders import as_the_makers
from wallet_api.decoding.solana.transactions import OUTSIDE, Transaction
from wallet_api.decoding.solana.venues import SOLANA
from wallet_api.decoding.swaps import TrackedWallet
from wallet_api.decoding.venues import Role

_LENDING = frozenset(venue.address for venue in SOLANA if venue.role is Role.LENDING)


@dataclass(frozen=True, slots=True)
class Moves:
    """What a wallet moved: its exchanges, and the flows of all owners that belong to none of them.

    What the escrows of its orders gave and took for it counts as its own. `is_liquidity` is whether it gave
    and took what makes no exchange, since a pool or an order book has kept it.
    """

    wallet: str
    exchanges: Sequence[Exchange]
    rest: Sequence[Flow]
    total: Changes
    decimals: Mapping[str, int]
    is_signer: bool
    is_liquidity: bool


def read_moves(wallet: TrackedWallet, at: datetime, transaction: Transaction) -> Moves:
    """Return what `wallet` moved in a transaction of a time. Raise UnusableRow."""
    read = flows_of(wallet.chain, at, transaction)
    address = wallet.address
    is_signer = address in read.signers
    moved = read.flows if is_signer else as_the_makers(address, read.signers, read.flows, read.run)
    total = changes_of(moved).get(address, Changes())
    flows = list(_without_nfts(read, moved, address, total))
    found, rest, in_pools = _find_exchanges(address, read, flows)
    held = changes_of(flows).get(address, Changes())
    # Who fills orders of others keeps nothing of what passes.
    kept = (abs(held[mint]) * FEES > abs(units) > 0 for mint, units in in_pools.items())
    return Moves(address, found, rest, held, read.decimals, is_signer, any(kept))


def _without_nfts(read: SolanaFlows, moved: Iterable[Flow], wallet: str, total: Changes) -> Iterable[Flow]:
    """Yield what is no NFT, and no rent of others that came to the wallet."""
    unique = {mint for mint, decimals in read.decimals.items() if not decimals and abs(total[mint]) <= 1}
    unique |= read.unique
    for flow in moved:
        if flow.mint not in unique and not (flow.kind is Kind.REFUND and flow.taker == wallet):
            yield flow


def _find_exchanges(
    wallet: str, read: SolanaFlows, flows: Iterable[Flow]
) -> tuple[list[Exchange], list[Flow], Changes]:
    """Return the exchanges of the smallest calls, the flows that belong to none, and what moved in pools."""
    found: list[Exchange] = []
    in_pools: Changes = Counter()
    waiting: defaultdict[int, list[Flow]] = defaultdict(list)
    for flow in flows:
        waiting[flow.call].append(flow)
    # What is paid to a lender and comes from it is lent.
    calls = ((step.number, step.caller) for step in reversed(read.run) if step.program not in _LENDING)
    for call, caller in (*calls, (OUTSIDE, OUTSIDE)):
        if inside := waiting.pop(call, None):
            ordered = sorted(inside, key=lambda flow: flow.number) if call == OUTSIDE else inside
            exchange, left, pooled = find_exchange(wallet, read, ordered, call)
            found += () if exchange is None else (exchange,)
            in_pools.update(pooled)
            waiting[caller] += left
    return found, waiting[OUTSIDE], in_pools

"""What was read of the newest blocks of a chain, which are read again for a time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from wallet_api.chain.providers.trades.evm_node import Found

# A transaction of a wallet.
Pair = tuple[str, str]


@dataclass(slots=True)
class NewestBlocks:
    """The transactions of wallets in the newest blocks that have landed, by number and hash of a block."""

    _landed: dict[tuple[int, str], set[Pair]] = field(default_factory=dict)
    # The first block that this process has read; it did not see which transactions landed of those before.
    _from: int | None = None

    def move(self, first: int, new_from: int) -> None:
        """Forget the blocks before `first`; those from `new_from` on are read for the first time."""
        self._from = new_from if self._from is None else self._from
        self._landed = {block: pairs for block, pairs in self._landed.items() if block[0] >= first}

    def unread(self, found: Mapping[int, Found]) -> dict[int, Found]:
        """Return what is found without the wallets of whose transactions in a block all have landed.

        Where one is added to a block, all others of its wallet there are read again: they share its balances.
        """
        parts: dict[int, Found] = {}
        for number, block in found.items():
            landed = self._landed.get((number, block.hash))
            part = block if landed is None else without_known(block, landed.__contains__)
            if part is not None:
                parts[number] = part
        return parts

    def late(self, found: Mapping[int, Found], before: int) -> int:
        """Return how many transactions of wallets are new in blocks that were read, before a number."""
        if self._from is None:
            return 0
        return sum(
            len(_pairs(block) - self._landed.get((number, block.hash), set()))
            for number, block in found.items()
            if self._from <= number < before
        )

    def land(self, found: Mapping[int, Found]) -> None:
        """Note that all that is found has landed."""
        for number, block in found.items():
            self._landed.setdefault((number, block.hash), set()).update(_pairs(block))


def without_known(block: Found, is_known: Callable[[Pair], bool]) -> Found | None:
    """Return a block without the wallets of which all transactions in it are known; None if no others are."""
    wallets = {address for signature, address in _pairs(block) if not is_known((signature, address))}
    wallets |= {wallet.address for wallet in block.unlisted}
    if not wallets:
        return None
    part = Found(block.hash, unlisted=block.unlisted)
    for signature, of_one in block.wallets.items():
        if kept := {address: wallet for address, wallet in of_one.items() if address in wallets}:
            part.wallets[signature] = kept
    return part


def merge(found: dict[int, Found], more: Mapping[int, Found]) -> dict[int, Found]:
    """Add what was found of some blocks to `found`, and return it."""
    for number, block in more.items():
        known = found.setdefault(number, Found(block.hash))
        known.unlisted += [wallet for wallet in block.unlisted if wallet not in known.unlisted]
        for signature, wallets in block.wallets.items():
            known.wallets[signature] = known.wallets.get(signature, {}) | wallets
    return found


def _pairs(block: Found) -> set[Pair]:
    return {(signature, address) for signature, wallets in block.wallets.items() for address in wallets}

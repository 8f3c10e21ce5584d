"""What a wallet's own money was exchanged for in an EVM transaction that it did not send.

Only what moved at the wallet itself counts, since anybody may move anything beside it. It is a trade if the
wallet's own code has paid or was called; else it is named, as what nothing proves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.evm.coin import exact_change, may_have_moved_coin
from wallet_api.chain.decoding.evm.consent import Consent
from wallet_api.chain.decoding.evm.counterparts import exchanged
from wallet_api.chain.decoding.evm.evidence import EvmEvidence
from wallet_api.chain.decoding.evm.fills import Fill
from wallet_api.chain.decoding.evm.orders import fill_swap
from wallet_api.chain.decoding.evm.owners import EvmOwners
from wallet_api.chain.decoding.swaps import UNSIGNED, SwapWriter
from wallet_api.chain.decoding.trades import Decoded, Draft

_UNPROVEN = Decoded(why=UNSIGNED, is_signed=False)


@dataclass(frozen=True, slots=True)
class _Moved:
    """What the wallet has more or less of each token and of coin; `coin` is native, None if unknown."""

    units: Mapping[str, int]
    coin: int | None

    @property
    def lost(self) -> list[str]:
        return [mint for mint, units in self.units.items() if units < 0]

    @property
    def gained(self) -> list[str]:
        return [mint for mint, units in self.units.items() if units > 0]

    @property
    def is_one_for_one(self) -> bool:
        return len(self.lost) == len(self.gained) == 1


def decode_money(evidence: EvmEvidence) -> Decoded:
    """Return the trade of the wallet's money, or what it would be if the wallet agreed. Raise Unanswered."""
    chain = evidence.wallet.chain
    moved = _moved(evidence)
    money = moved.units.keys() & {chain.wrapped_mint, *chain.stable_mints}
    if not (money and moved.lost and moved.gained):
        return _UNPROVEN
    owners = EvmOwners.read(evidence, Consent.to_all(evidence.logs))
    tokens = moved.units.keys() - {chain.wrapped_mint}
    if any(owners.is_share(mint) for mint in tokens):
        return _UNPROVEN
    write = evidence.writer(tokens, tokens)
    if write is None:
        return _UNPROVEN
    try:
        drafts = _drafts(write, moved)
    except UnusableRow:
        return _UNPROVEN
    if drafts and moved.is_one_for_one and _is_proven(evidence, moved, owners):
        return Decoded(drafts, swaps=1, from_logs=chain.wrapped_mint in moved.units and moved.coin is None)
    return Decoded(why=UNSIGNED, is_signed=False, unproven=drafts)


def _moved(evidence: EvmEvidence) -> _Moved:
    """Return what moved at the wallet, with the native coin where a node shows it. Raise Unanswered."""
    wallet, logs = evidence.wallet, evidence.logs
    wrapped = wallet.chain.wrapped_mint
    changes = {mint or wrapped: units for mint, units in logs.changes_of(wallet.address).items()}
    coin: int | None = 0
    # A contract that is called may add native coin, such as a tip.
    if logs.to == wallet.address or may_have_moved_coin(logs):
        coin = exact_change(evidence, Consent.to_all(logs))
        if coin is not None:
            own = sum(wrap.units for wrap in logs.wraps if wrap.owner == wallet.address)
            changes[wrapped] = changes.get(wrapped, 0) + coin + own
    return _Moved({mint: units for mint, units in changes.items() if units}, coin)


def _is_proven(evidence: EvmEvidence, moved: _Moved, owners: EvmOwners) -> bool:
    """Return whether the wallet's own code has done it.

    The transaction calls it; or the state shows that its native coin is gone, which nobody else can send, and
    others exchanged about as much for what came, since anybody can send a token.
    """
    wallet = evidence.wallet
    if evidence.logs.to == wallet.address:
        return True
    wrapped = wallet.chain.wrapped_mint
    spent, (gained,) = -(moved.coin or 0), moved.gained
    if moved.lost != [wrapped] or moved.units[wrapped] != moved.coin or spent <= 0:
        return False
    others = -exchanged(owners, gained, moved.units[gained]).coin
    return spent <= 2 * others <= 3 * spent


def _drafts(write: SwapWriter, moved: _Moved) -> Sequence[Draft]:
    """Return the trades of one thing for another; of more than two, each token without a value."""
    if moved.is_one_for_one:
        (lost,), (gained,) = moved.lost, moved.gained
        return Decoded.from_swaps(
            [fill_swap(write, Fill(lost, -moved.units[lost], gained, moved.units[gained]))]
        ).drafts
    wallet = write.wallet
    return [
        Draft(
            *(wallet, write.signature, mint, units < 0, write.created_at),
            token_amount=write.amount(mint, units),
            value_usd=None,
        )
        for mint, units in moved.units.items()
        if not wallet.chain.is_native(mint)
    ]

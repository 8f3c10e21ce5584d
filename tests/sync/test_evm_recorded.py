"""Recorded transactions of three EVM chains through `wallet-api sync trades`, served by nodes."""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal

import pytest

from tests.stub.evm import TRANSFER
from tests.stub.server import Stub
from tests.sync.evm import Recorded, read_recorded, serve
from tests.sync.operator import Operator, Outcome, plain

RECORDED = read_recorded()
CHAINS = ("eth", "base", "bnb")
USD = Decimal(2000)
SINCE = ("--since", "2015-07-30")
# What is read as a swap by others and is none here: wraps, NFTs, lending, and what is minted or burned.
NO_SWAPS = 4

Pair = tuple[Recorded, str]


def pairs(chain: str) -> list[Pair]:
    """Return the transactions of a chain, each with its wallets."""
    return [(one, wallet) for one in RECORDED if one.chain == chain for wallet in one.wallets]


def read(stub: Stub, operator: Operator, chain: str, state_blocks: int | None = None) -> Outcome:
    """Let the commands read the chain from its node, and run one round."""
    operator.environment |= stub.evm_environment(chain)
    stub.prices.hourly = lambda currency, moment: float(USD)
    serve(stub, [one for one in RECORDED if one.chain == chain])
    stub.nodes.blocks[chain].state_blocks = state_blocks
    operator.track(*{(chain, wallet): None for _, wallet in pairs(chain)})
    return operator.sync("trades", "--chain", chain, *SINCE)


def value(native: str | None, usd: str | None) -> Decimal:
    """Return the value in the native coin, from the dollars where there is no other."""
    if native is not None:
        return Decimal(native)
    assert usd is not None
    return (Decimal(usd) / USD).quantize(Decimal("1e-18"), ROUND_HALF_UP)


def expected(chain: str) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return amount and value of the trades that were recorded."""
    return {
        (chain, wallet, one.hash, mint, side): (plain(amount), plain(value(native, usd)))
        for one, wallet in pairs(chain)
        for mint, side, amount, native, usd, _ in one.trades(wallet)
    }


@pytest.mark.parametrize("chain", CHAINS)
def test_every_recorded_transaction_is_the_trades_that_it_was(
    stub: Stub, operator: Operator, chain: str
) -> None:
    done = read(stub, operator, chain)
    ledger = {key: trade[:2] for key, trade in operator.ledger().items()}
    assert ledger == expected(chain)
    left_out = Counter(reason for one, wallet in pairs(chain) if (reason := one.left_out(wallet)))
    kept = operator.fetch("SELECT reason, count(*) FROM sync_left_out GROUP BY reason")
    assert {row["reason"]: row["count"] for row in kept} == left_out
    assert (done.only["failed"], done.only["from_logs"]) == (0, 0)
    assert operator.sync("trades", "--chain", chain, *SINCE).only["changed"] == 0


def test_of_the_recorded_swaps_97_in_100_are_trades() -> None:
    swaps = [(one, wallet) for one in RECORDED if one.is_swap for wallet in one.wallets]
    read = [one for one, wallet in swaps if one.trades(wallet)]
    missed = Counter(reason for one, wallet in swaps if (reason := one.left_out(wallet)))
    assert len(swaps) - len(read) - missed.total() == NO_SWAPS
    # Both legs of those without a value are known, but no price of either token.
    assert missed == {"unclear": 4, "no_value": 6}
    assert (len(read) + missed["no_value"]) / (len(read) + missed.total()) >= 0.97


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.hash[:12])
def test_amounts_and_values_are_the_changes_of_the_wallets_balances(one: Recorded) -> None:
    for wallet in one.wallets:
        trades = one.trades(wallet)
        change: Counter[str] = Counter()
        for log in one.row["receipt"]["logs"]:
            if log["topics"][:1] == [TRANSFER] and len(log["topics"]) == 3:
                for topic, sign in zip(log["topics"][1:], (-1, 1), strict=True):
                    if topic.endswith(wallet[2:]):
                        change[log["address"]] += sign * int(log["data"], 16)
        for mint, side, amount, *_ in trades:
            units = Decimal(change[mint]).scaleb(-one.row["decimals"][mint])
            assert Decimal(amount) * (1 if side == "buy" else -1) == units
        if len(trades) == 1 and wallet == one.row["receipt"]["from"]:
            ((_, side, _, native, *_),) = trades
            assert native is not None
            gas = int(one.row["receipt"]["gasUsed"], 16) * int(
                one.row["receipt"].get("effectiveGasPrice", "0x0"), 16
            )
            # Beside the gas there is the fee of the layer below, and wrapped coin moves by logs.
            coin = Decimal(int(one.row["coins"][wallet]) + gas).scaleb(-18)
            if coin and abs(coin) > Decimal("1e-6") and one.chain != "base":
                assert abs(coin) == Decimal(native)
                assert (coin < 0) == (side == "buy")


@pytest.mark.parametrize("chain", CHAINS)
def test_without_state_values_come_from_logs_and_are_counted(
    stub: Stub, operator: Operator, chain: str
) -> None:
    done = read(stub, operator, chain, state_blocks=0)
    wanted = expected(chain)
    ledger = {key: trade[:2] for key, trade in operator.ledger().items()}
    assert ledger.keys() <= wanted.keys()
    assert len(ledger) >= 0.9 * len(wanted)
    assert 0 < done.only["from_logs"] <= len(ledger)
    for key, (amount, native) in ledger.items():
        assert amount == wanted[key][0]
        # A fee that a router keeps of the proceeds leaves no log.
        assert abs(Decimal(native) / Decimal(wanted[key][1]) - 1) <= Decimal("0.011")

"""Recorded transactions of the mainnets through `wallet-api sync trades`, served by nodes."""

import copy
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from tests.stub.server import Stub
from tests.sync.operator import Key, Operator, Outcome, plain
from tests.sync.recorded import Recorded, read_recorded, serve
from tests.sync.solana import USDC
from wallet_api.chains import CHAINS

RECORDED = read_recorded()
EVM_CHAINS = ("eth", "base", "bnb")
USD = Decimal(160)
SINCE = ("--since", "2015-07-30")
EVENTS = sorted(
    {
        log["topics"][0]
        for one in RECORDED
        if one.chain != "solana"
        for log in one.row["receipt"]["logs"]
        if log["topics"]
    }
)
# Orders that others fill.
ORDERS = ("3HdFhHNy", "3HxfYpPA", "42zg3foo", "4NAC7cK6", "4v28RP4A", "4vug6xbf", "4xqxLBqu", "5FBWfqrM")
ORDERS += ("DHFysLFq", "QFgRtoQK", "k2eGRDNq", "2GMpqA7d", "S3z6oPjo")


def read(
    stub: Stub,
    operator: Operator,
    chain: str,
    *,
    state_blocks: int | None = None,
    recorded: Sequence[Recorded] = RECORDED,
) -> Outcome:
    """Track the wallets of a chain, and read it from its node in one round."""
    operator.environment |= stub.node_environment if chain == "solana" else stub.evm_environment(chain)
    stub.prices.hourly = lambda currency, moment: float(USD)
    recorded = [one for one in recorded if one.chain == chain]
    serve(stub, recorded)
    if chain != "solana":
        stub.nodes.blocks[chain].state_blocks = state_blocks
    operator.track(*{(chain, wallet): None for one in recorded for wallet in one.wallets})
    return operator.sync("trades", "--chain", chain, *SINCE)


def value(chain: str, native: str | None, usd: str | None) -> str:
    """Return the value in the native coin, from the dollars where there is no other."""
    if native is not None:
        return plain(native)
    assert usd is not None
    unit = Decimal(1).scaleb(-CHAINS[chain].native_decimals)
    return plain((Decimal(usd) / USD).quantize(unit, ROUND_HALF_UP))


def expected(chain: str) -> dict[Key, tuple[str, str]]:
    """Return amount and value of the trades that were recorded."""
    return {
        (chain, wallet, one.signature, mint, side): (plain(amount), value(chain, native, usd))
        for one in RECORDED
        if one.chain == chain
        for wallet, trades in one.wallets.items()
        for mint, side, amount, native, usd, _ in trades
    }


def exchanged(operator: Operator) -> dict[Key, str]:
    """Return what the other side moved, where tips and fees are a part of the value."""
    rows = operator.fetch(
        "SELECT blockchain, address, tx_signature, mint, is_sell, exchanged_value FROM trades"
        " JOIN tokens USING (token_id) JOIN wallets USING (wallet_id, blockchain)"
        " WHERE exchanged_value IS NOT NULL"
    )
    return {
        (
            *(row["blockchain"], row["address"], row["tx_signature"], row["mint"]),
            "sell" if row["is_sell"] else "buy",
        ): plain(row["exchanged_value"])
        for row in rows
    }


@pytest.mark.parametrize(
    ("chain", "has_history"), [("solana", True), ("solana", False), *((chain, False) for chain in EVM_CHAINS)]
)
def test_every_recorded_transaction_is_the_trades_that_it_was(
    stub: Stub, operator: Operator, chain: str, has_history: bool
) -> None:
    # In whole pages, or one by one.
    stub.transactions.has_history = has_history
    done = read(stub, operator, chain)
    recorded = [one for one in RECORDED if one.chain == chain]
    ledger = operator.ledger()
    assert {key: trade[:2] for key, trade in ledger.items()} == expected(chain)
    trades = {
        (chain, wallet, one.signature, mint, side): more
        for one in recorded
        for wallet, of_wallet in one.wallets.items()
        for mint, side, _, *more in of_wallet
    }
    dollars = {key: plain(usd) for key, (_, usd, _) in trades.items() if usd is not None}
    assert {key: ledger[key][2] for key in dollars} == dollars
    assert exchanged(operator) == {
        key: plain(moved)
        for key, (native, _, moved) in trades.items()
        if moved is not None and Decimal(moved) != Decimal(native or 0)
    }
    left_out = Counter(reason for one in recorded for reason in one.left_out.values())
    kept = operator.fetch("SELECT reason, count(*) FROM sync_left_out GROUP BY reason")
    assert {row["reason"]: row["count"] for row in kept} == left_out
    assert (done.only["failed"], done.only["from_logs"], done.only["unreadable"]) == (0, 0, 0)
    none = sum(not of_wallet for one in recorded for of_wallet in one.wallets.values())
    unsigned = sum(len(one.unsigned) for one in recorded)
    assert done.only["no_trades"] == none - left_out.total() - unsigned
    assert operator.sync("trades", "--chain", chain, *SINCE).only["changed"] == 0


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.signature[:12])
def test_the_amount_of_a_trade_is_the_change_of_the_wallets_balance(one: Recorded) -> None:
    for wallet, trades in one.wallets.items():
        for mint, side, amount, *_ in trades:
            change = one.change(wallet, mint)
            if one.signature.startswith("58F9fNP7"):
                # The rest went on to a bridge.
                assert (mint, change, amount) == (USDC, Decimal("0.104871"), "34.95721")
            elif one.signature.startswith(ORDERS) and side == "sell":
                # It left the escrow, which the wallet had filled before.
                assert change == 0
            else:
                assert Decimal(amount) * (1 if side == "buy" else -1) == change


@pytest.mark.parametrize("chain", EVM_CHAINS)
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


@pytest.mark.parametrize("chain", EVM_CHAINS)
def test_what_a_contract_of_anybody_logs_changes_no_trade(stub: Stub, operator: Operator, chain: str) -> None:
    chance = random.Random(0)
    forged = [_with_forged_logs(one, chance) for one in RECORDED if one.chain == chain]
    done = read(stub, operator, chain, recorded=forged)
    assert done.only["failed"] == 0
    assert {key: trade[:2] for key, trade in operator.ledger().items()} == expected(chain)


def _with_forged_logs(one: Recorded, chance: random.Random) -> Recorded:
    """Return a transaction with more logs, with the topics of real ones, of contracts of no standing."""
    receipt = copy.deepcopy(one.row["receipt"])
    addresses = [*one.wallets, "0x" + 40 * "0", *(log["address"] for log in receipt["logs"])]
    numbers = [0, 1, 10**18, 2**256 - 1, *(int(address, 16) for address in addresses)]
    for _ in range(8):
        owners = [f"0x{address[2:]:0>64}" for address in chance.sample(addresses, chance.randint(0, 3))]
        log = {
            "address": f"0x{chance.getrandbits(160):040x}",
            "topics": [chance.choice(EVENTS), *owners],
            "data": "0x" + "".join(f"{chance.choice(numbers):064x}" for _ in range(chance.randint(0, 8))),
        }
        receipt["logs"].insert(chance.randint(0, len(receipt["logs"])), log)
    return replace(one, row=one.row | {"receipt": receipt})


def test_each_damaged_transaction_is_read_or_left_out(stub: Stub, operator: Operator) -> None:
    chance = random.Random(0)
    damaged = [_damaged(one, chance) for one in RECORDED if one.chain == "solana"]
    done = read(stub, operator, "solana", recorded=damaged)
    assert done.only["failed"] == 0
    traded = {key[1:3] for key in operator.ledger()}
    kept = operator.fetch("SELECT reason, count(*) FROM sync_left_out GROUP BY reason")
    left_out = {row["reason"]: row["count"] for row in kept}
    assert left_out["unreadable"] > len(damaged) // 3
    read_pairs = sum(len(one.wallets) for one in damaged)
    assert len(traded) + done.only["no_trades"] + sum(left_out.values()) == read_pairs


def _damaged(one: Recorded, chance: random.Random) -> Recorded:
    """Return a transaction in which two values below `meta` or `message` are others, or missing."""
    result = copy.deepcopy(one.row["result"])
    for _ in range(2):
        place: Any = chance.choice((result["meta"], result["transaction"]["message"]))
        names = [name for name in place if name not in ("err", "status")]
        while isinstance(place[name := chance.choice(names)], dict | list) and place[name]:
            place = place[name]
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
        if chance.random() < 0.5:
            del place[name]
        else:
            place[name] = chance.choice((None, 0, 1, -1, 2**63, "", "x", "-1", "1.5", [], {}))
    return replace(one, row=one.row | {"result": result})

"""Recorded transactions of Solana's mainnet through `wallet-api sync trades`, served by a node."""

from decimal import ROUND_HALF_UP, Decimal

import pytest

from tests.stub.server import Stub
from tests.sync.operator import Operator, plain
from tests.sync.recorded import Recorded, read_recorded
from tests.sync.solana import USDC, read_from

RECORDED = read_recorded()
SOL_USD = Decimal(160)

# By the beginning of the signature: the value of each side, in dollars or in SOL.
KNOWN: dict[str, list[tuple[str, str, str]]] = {
    # A leftover in SOL does not hide the swap.
    "2nLWcmra": [("buy", "usd", "2"), ("sell", "usd", "2")],
    # Bought for 34.957210 USDC, of which a bridge took 34.852339 in the same transaction.
    "58F9fNP7": [("buy", "native", "0.218145145")],
    # Lending: repaid, and collateral withdrawn.
    "2VvCxb43": [],
    # A vault mints its shares, and burns them.
    "2Cxrz8NW": [],
    "4Tnpv3Zg": [],
    # Two tokens by way of USDC.
    "2tWRF2xV": [("buy", "usd", "0.449258"), ("sell", "usd", "0.449258")],
    # 1.01 SOL and a tip of 0.004; the rent of five new accounts is no price.
    "2s393PSY": [("buy", "native", "1.014")],
    # 250 USDC by way of 1.1541 SOL.
    "3p36wGRa": [("buy", "usd", "250"), ("sell", "usd", "250")],
    # Orders that others filled: what left the escrow is the value.
    "42zg3foo": [("buy", "usd", "16"), ("sell", "usd", "16")],
    "4NAC7cK6": [("buy", "usd", "839.779382"), ("sell", "usd", "839.779382")],
    "k2eGRDNq": [("buy", "usd", "2390"), ("sell", "usd", "2390")],
    "2GMpqA7d": [("buy", "native", "0.001428571")],
    "S3z6oPjo": [("buy", "usd", "2.777777"), ("sell", "usd", "2.777777")],
}
ORDERS = ("3HdFhHNy", "3HxfYpPA", "42zg3foo", "4NAC7cK6", "4v28RP4A", "4vug6xbf", "4xqxLBqu", "5FBWfqrM")
ORDERS += ("DHFysLFq", "QFgRtoQK", "k2eGRDNq", "2GMpqA7d", "S3z6oPjo")


def serve(stub: Stub, operator: Operator) -> None:
    """Let the node return all transactions, a third of them as version 1, and track their wallets."""
    read_from(stub, operator)
    stub.prices.hourly = lambda currency, moment: float(SOL_USD)
    operator.track(*{("solana", wallet): None for one in RECORDED for wallet in one.wallets})
    for number, one in enumerate(RECORDED):
        told = one.told if number % 3 else one.told | {"version": 1}
        for wallet in one.wallets:
            stub.transactions.add(wallet, one.signature, told)


def value(native: str | None, usd: str | None) -> Decimal:
    """Return the value in SOL, from the dollars where there is no other."""
    if native is not None:
        return Decimal(native)
    assert usd is not None
    return (Decimal(usd) / SOL_USD).quantize(Decimal("1e-9"), ROUND_HALF_UP)


@pytest.mark.parametrize("has_history", [True, False])
def test_every_recorded_transaction_is_the_trades_that_it_was(
    stub: Stub, operator: Operator, has_history: bool
) -> None:
    serve(stub, operator)
    # In whole pages, or one by one.
    stub.transactions.has_history = has_history
    done = operator.sync("trades", "--since", "2020-03-16")
    assert (done.status, done.only["left_out"], done.only["unreadable"]) == (0, 0, 0)
    pairs = [trades for one in RECORDED for trades in one.wallets.values()]
    assert done.only["no_trades"] == sum(not trades for trades in pairs)
    expected = {
        ("solana", wallet, one.signature, mint, side): (plain(amount), plain(value(native, usd)))
        for one in RECORDED
        for wallet, trades in one.wallets.items()
        for mint, side, amount, native, usd, _ in trades
    }
    ledger = operator.ledger()
    assert {key: trade[:2] for key, trade in ledger.items()} == expected
    dollars = {
        ("solana", wallet, one.signature, mint, side): plain(usd)
        for one in RECORDED
        for wallet, trades in one.wallets.items()
        for mint, side, _, _, usd, _ in trades
        if usd is not None
    }
    assert {key: ledger[key][2] for key in dollars} == dollars
    # What the other side moved makes the price; it is kept where tips and fees are a part of the value.
    kept = operator.fetch(
        "SELECT tx_signature, mint, is_sell, wallets.address, exchanged_value FROM trades"
        " JOIN tokens USING (token_id) JOIN wallets USING (wallet_id) WHERE exchanged_value IS NOT NULL"
    )
    assert {
        (
            "solana",
            row["address"],
            row["tx_signature"],
            row["mint"],
            "sell" if row["is_sell"] else "buy",
        ): plain(row["exchanged_value"])
        for row in kept
    } == {
        ("solana", wallet, one.signature, mint, side): plain(exchanged)
        for one in RECORDED
        for wallet, trades in one.wallets.items()
        for mint, side, _, native, _, exchanged in trades
        if exchanged is not None and Decimal(exchanged) != Decimal(native or 0)
    }
    assert operator.sync("trades", "--since", "2020-03-16").only["changed"] == 0


def found(prefix: str) -> Recorded:
    """Return the recorded transaction whose signature begins so."""
    (one,) = (one for one in RECORDED if one.signature.startswith(prefix))
    return one


@pytest.mark.parametrize("prefix", KNOWN)
def test_what_is_recorded_as_expected_is_what_happened(prefix: str) -> None:
    # Of orders that others fill, the second wallet is that of who filled it, for whom it is no trade.
    trades, *others = found(prefix).wallets.values()
    assert not any(others)
    by_side = {side: (native, usd) for _, side, _, native, usd, _ in trades}
    assert by_side.keys() == {side for side, _, _ in KNOWN[prefix]}
    for side, kind, amount in KNOWN[prefix]:
        native, usd = by_side[side]
        assert plain(str(usd if kind == "usd" else native)) == amount


@pytest.mark.parametrize("one", RECORDED, ids=lambda one: one.signature[:8])
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

"""Some recorded transactions of the mainnets through `wallet-api sync trades`, served by nodes.

tests/decoding decodes all of them, also as a node without state shows them and among forged logs.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

import pytest

from tests.decoding import test_evm_recorded, test_solana_recorded
from tests.stub.server import Stub
from tests.sync.operator import Key, Operator, Outcome, plain
from tests.sync.recorded import serve_evm, serve_solana
from wallet_api.base.chains import CHAINS

# Trades for coin, for dollars, of several wallets, and by orders; what is no trade, left out or unsigned.
SOLANA = ("3DZuPoKR", "3bYXWjjN", "3p36wGRa", "51SfoFAg", "JBnrBbgq", "5vBFfTGr", "2GMpqA7d", "k2eGRDNq")
SOLANA += ("63hssgYb", "2Cxrz8NW", "5ChR6nE7", "58F9fNP7")
EVM = ("0xc8bd1d35", "0x160c0e6d", "0xe9cc9f27", "0x8b8652c5", "0xbfe3c8a1", "0x5edc23d5", "0x20ecc226")
EVM += ("0xaf8755f0", "0xd4d16ea7", "0xe2d6aa63", "0x47307e4e", "0xcd135f41", "0xd467dc8d", "0x26053896")
EVM += ("0xa8ba1828", "0x6f16132d", "0x46d434c0", "0xd8a00593", "0x3cfb94c6", "0xdbad52c6", "0xf4da4f7c")
OF_SOLANA = [case for case in test_solana_recorded.CASES if case.signature.startswith(SOLANA)]
OF_EVM = [case for case in test_evm_recorded.CASES if case.signature.startswith(EVM)]
EVM_CHAINS = ("eth", "base", "bnb")
Cases = list[test_solana_recorded.Case] | list[test_evm_recorded.Case]
USD = Decimal(160)
SINCE = ("--since", "2015-07-30")


def read(stub: Stub, operator: Operator, chain: str) -> Outcome:
    """Track the wallets of a chain, and read it from its node in one round."""
    operator.environment |= stub.node_environment if chain == "solana" else stub.evm_environment(chain)
    stub.prices.hourly = lambda currency, moment: float(USD)
    serve_solana(stub, OF_SOLANA)
    serve_evm(stub, OF_EVM, datetime.now(UTC).replace(microsecond=0) - timedelta(days=20))
    operator.track(*{(chain, case.wallet): None for case in cases_of(chain)})
    return operator.sync("trades", "--chain", chain, *SINCE)


def cases_of(chain: str) -> Cases:
    """Return the recorded transactions of a chain, each for a wallet."""
    return OF_SOLANA if chain == "solana" else [case for case in OF_EVM if case.given.chain == chain]


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
        (chain, case.wallet, case.signature, mint, side): (plain(amount), value(chain, native, usd))
        for case in cases_of(chain)
        for mint, side, amount, native, usd, _ in case.trades
    }


def exchanged(operator: Operator, where: str = "exchanged_value > 0") -> dict[Key, str]:
    """Return what the other side moved, where tips and fees are a part of the value."""
    rows = operator.fetch(
        "SELECT blockchain, address, tx_signature, mint, is_sell, exchanged_value FROM trades"
        " JOIN tokens USING (token_id) JOIN wallets USING (wallet_id, blockchain)"
        f" WHERE {where}"
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
def test_recorded_transactions_are_the_trades_that_they_were(
    stub: Stub, operator: Operator, chain: str, has_history: bool
) -> None:
    # In whole pages, or one by one.
    stub.transactions.has_history = has_history
    done = read(stub, operator, chain)
    of_evm = [] if chain == "solana" else [case for case in OF_EVM if case.given.chain == chain]
    ledger = operator.ledger()
    assert {key: trade[:2] for key, trade in ledger.items()} == expected(chain)
    trades = {
        (chain, case.wallet, case.signature, mint, side): more
        for case in cases_of(chain)
        for mint, side, _, *more in case.trades
    }
    dollars = {key: plain(usd) for key, (_, usd, _) in trades.items() if usd is not None}
    assert {key: ledger[key][2] for key in dollars} == dollars
    assert exchanged(operator) == {
        key: plain(moved)
        for key, (native, _, moved) in trades.items()
        if moved is not None and Decimal(moved) != Decimal(native or 0)
    }
    others = {
        (chain, case.wallet, case.signature) for case in of_evm if case.given.receipt["from"] != case.wallet
    }
    assert {key[:3] for key in exchanged(operator, "exchanged_value = 0")} <= others
    left_out = Counter(case.left_out for case in of_evm if case.left_out)
    kept = operator.fetch("SELECT reason, count(*) FROM sync_left_out WHERE trades IS NULL GROUP BY reason")
    assert {row["reason"]: row["count"] for row in kept} == left_out
    assert (done.only["failed"], done.only["from_logs"], done.only["unreadable"]) == (0, 0, 0)
    none = sum(not case.trades for case in cases_of(chain))
    unsigned = sum(case.is_unsigned for case in of_evm)
    assert done.only["no_trades"] == none - left_out.total() - unsigned
    assert operator.sync("trades", "--chain", chain, *SINCE).only["changed"] == 0

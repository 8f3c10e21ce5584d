"""What providers of market prices were recorded to send is read as it is meant."""

from pathlib import Path

import pytest

from tests.ledger.rows import trade_row
from tests.stub import faults
from tests.stub.evm import now
from tests.stub.server import Stub
from tests.sync.operator import Operator, addresses, plain

DATA = Path(__file__).parents[1] / "data" / "markets"


@pytest.mark.parametrize(
    ("provider", "chain", "mint", "usd", "liquidity"),
    [
        # Of its pools the deepest counts.
        ("dexscreener", "bnb", "0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c", "84584.076", "28700176.37"),
        # Read among others.
        (
            *("geckoterminal", "eth", "0xb69100340a5947e856d873463694ae2186146c43"),
            *("0.00000541568159886096", "478324.0538"),
        ),
        (
            *("jupiter", "solana", "So11111111111111111111111111111111111111112"),
            *("147.4789340738336", "621679197.67"),
        ),
    ],
)
def test_a_recorded_price_loses_no_digit(
    stub: Stub, operator: Operator, provider: str, chain: str, mint: str, usd: str, liquidity: str
) -> None:
    [wallet] = addresses(chain, 1)
    operator.track((chain, wallet))
    operator.trades([trade_row(wallet, "bought", now(), blockchain=chain, mint=mint)])
    stub.scenarios[provider] = faults.raw((DATA / f"{provider}.json").read_bytes())
    done = operator.sync("quotes", "--chain", chain, MARKET_PRICES_PROVIDER=provider)
    assert (done.status, done.only["chains"][chain]["quoted"]) == (0, 1)
    [row] = operator.fetch("SELECT usd, liquidity_usd FROM token_quotes WHERE span_seconds = 60")
    assert (plain(row["usd"]), plain(row["liquidity_usd"])) == (usd, liquidity)

"""What providers of market prices were recorded to send is read as it is meant."""

from pathlib import Path

from tests.stub import faults
from tests.stub.server import Stub
from tests.sync.operator import Operator, addresses, now, plain

DATA = Path(__file__).parents[1] / "data" / "markets"
BTCB = "0x7130d2a12b9bcbfae4f2634d864a1ee1ce3ead9c"
PEPER = "0xb69100340a5947e856d873463694ae2186146c43"
SOL = "So11111111111111111111111111111111111111112"


def quoted(stub: Stub, operator: Operator, provider: str, chain: str, mint: str) -> tuple[str, str]:
    """Dollars and liquidity of a token by the recorded reply of a provider."""
    [wallet] = addresses(chain, 1)
    operator.track((chain, wallet))
    operator.trades(
        [
            {
                "blockchain": chain,
                "wallet_address": wallet,
                "tx_signature": "bought",
                "mint": mint,
                "transaction_type": "buy",
                "token_amount": "1",
                "value": "1",
                "created_at": now(),
            }
        ]
    )
    stub.scenarios[provider] = faults.raw((DATA / f"{provider}.json").read_bytes())
    done = operator.sync("quotes", "--chain", chain, MARKET_PRICES_PROVIDER=provider)
    assert (done.status, done.only["chains"][chain]["quoted"]) == (0, 1)
    [row] = operator.fetch("SELECT usd, liquidity_usd FROM token_quotes WHERE span_seconds = 60")
    return plain(row["usd"]), plain(row["liquidity_usd"])


def test_of_the_pools_of_dexscreener_the_deepest_counts(stub: Stub, operator: Operator) -> None:
    assert quoted(stub, operator, "dexscreener", "bnb", BTCB) == ("84584.076", "28700176.37")


def test_a_token_of_geckoterminal_is_read_among_others(stub: Stub, operator: Operator) -> None:
    found = quoted(stub, operator, "geckoterminal", "eth", PEPER)
    assert found == ("0.00000541568159886096", "478324.0538")


def test_a_price_of_jupiter_loses_no_digit(stub: Stub, operator: Operator) -> None:
    assert quoted(stub, operator, "jupiter", "solana", SOL) == ("147.4789340738336", "621679197.67")

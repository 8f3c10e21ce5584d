"""The balances of a wallet, those of a demo wallet, and the forms in which Moralis reports them."""

from dataclasses import dataclass
from typing import Any

from wallet_api.chains import CHAINS, EVM_PSEUDO_MINT, Chain
from wallet_api.database import connect, load_sql
from wallet_api.demo.forms import seeded
from wallet_api.demo.world import decimals_of

_BALANCES = load_sql(__package__, "balances")


@dataclass(frozen=True)
class Balance:
    """The balance of a token: `units` are in its smallest unit. Name and symbol may be missing."""

    address: str
    name: str | None
    symbol: str | None
    decimals: int
    units: int
    verified: bool = False
    spam: bool = False


@dataclass(frozen=True)
class Portfolio:
    """The native balance in the smallest unit, and the tokens."""

    native: int
    tokens: tuple[Balance, ...]


def demo_portfolio(database_url: str, chain_name: str, address: str) -> Portfolio:
    """Return what a wallet holds according to its trades in the ledger, and a made-up native balance."""
    chain = CHAINS[chain_name]
    decimals = decimals_of(chain)
    with connect(database_url) as connection:
        rows = connection.execute(_BALANCES, {"blockchain": chain_name, "address": address}).fetchall()
    tokens = (
        Balance(
            row["mint"],
            row["token_name"],
            row["token_name"].replace(" ", "").upper(),
            decimals,
            int(row["quantity"].scaleb(decimals)),
        )
        for row in rows
    )
    return Portfolio(seeded("native", address).randrange(100 * 10**chain.native_decimals), tuple(tokens))


def evm_rows(chain: Chain, portfolio: Portfolio, *, with_spam: bool) -> list[dict[str, Any]]:
    """Return the rows of `/wallets/{address}/tokens`, native first. A zero native balance has no row."""
    native = Balance(
        EVM_PSEUDO_MINT, chain.native_name, chain.currency, chain.native_decimals, portfolio.native, True
    )
    tokens = [token for token in portfolio.tokens if with_spam or not token.spam]
    return [
        {
            "token_address": token.address,
            "symbol": token.symbol,
            "name": token.name,
            "decimals": token.decimals,
            "balance": str(token.units),
            "possible_spam": token.spam,
            "verified_contract": token.verified,
            "native_token": token is native,
        }
        for token in ([native] if native.units else []) + tokens
    ]


def solana_document(portfolio: Portfolio) -> dict[str, Any]:
    """Return the document of `/account/mainnet/{address}/portfolio`, with an account for each token."""
    rows = [
        {
            "associatedTokenAddress": f"account of {token.address}",
            "mint": token.address,
            "name": token.name,
            "symbol": token.symbol,
            "amountRaw": str(token.units),
            "decimals": token.decimals,
            "isVerifiedContract": token.verified,
            "possibleSpam": token.spam,
        }
        for token in portfolio.tokens
    ]
    return {"nativeBalance": {"lamports": str(portfolio.native)}, "nfts": [], "tokens": rows}

"""The balances of a wallet, and the wire shapes in which Moralis reports them."""

from dataclasses import dataclass
from typing import Any

from wallet_api.chains import CHAINS, EVM_PSEUDO_MINT, Chain
from wallet_api.demo.forms import decimal_text, seeded, solana_address


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


def native_units(chain: str, address: str) -> int:
    """Return a native balance derived from the address: from zero to a few hundred coins."""
    random = seeded("native", chain, address)
    if random.random() < 0.05:
        return 0
    coins = min(random.paretovariate(0.7) / 10, 900.0)
    # Real balances have digits down to the smallest unit.
    smallest: int = 10 ** CHAINS[chain].native_decimals
    return int(coins * 1000) * smallest // 1000 + random.randrange(smallest // 1000)


def evm_rows(chain: Chain, portfolio: Portfolio, *, with_spam: bool) -> list[dict[str, Any]]:
    """Return the rows of `/wallets/{address}/tokens`, native first. A zero native balance has no row."""
    rows = []
    if portfolio.native:
        native = Balance(
            EVM_PSEUDO_MINT,
            chain.native_name,
            chain.currency,
            chain.native_decimals,
            portfolio.native,
            verified=True,
        )
        rows.append(_evm_row(native, native=True))
    rows += [_evm_row(token) for token in portfolio.tokens if with_spam or not token.spam]
    return rows


def solana_document(portfolio: Portfolio) -> dict[str, Any]:
    """Return the document of `/account/mainnet/{address}/portfolio`."""
    native = {"lamports": str(portfolio.native), "solana": decimal_text(portfolio.native, 9)}
    return {"nativeBalance": native, "nfts": [], "tokens": _solana_rows(portfolio)}


def _solana_rows(portfolio: Portfolio) -> list[dict[str, Any]]:
    """Return one row per token account; a mint may have two accounts."""
    rows = []
    for token in portfolio.tokens:
        random = seeded("accounts", token.address)
        parts = [token.units]
        if token.units > 1 and random.random() < 0.05:
            first = random.randrange(1, token.units)
            parts = [first, token.units - first]
        rows += [_solana_row(token, part, solana_address(random)) for part in parts]
    return rows


def _evm_row(token: Balance, *, native: bool = False) -> dict[str, Any]:
    return {
        "token_address": token.address,
        "symbol": token.symbol,
        "name": token.name,
        "decimals": _decimals(token),
        "balance": str(token.units),
        "possible_spam": token.spam,
        "verified_contract": token.verified,
        "balance_formatted": decimal_text(token.units, token.decimals),
        "native_token": native,
    }


def _solana_row(token: Balance, units: int, account: str) -> dict[str, Any]:
    return {
        "associatedTokenAddress": account,
        "mint": token.address,
        "name": token.name,
        "symbol": token.symbol,
        "amountRaw": str(units),
        "amount": decimal_text(units, token.decimals),
        "decimals": _decimals(token),
        "isVerifiedContract": token.verified,
        "possibleSpam": token.spam,
    }


def _decimals(token: Balance) -> int | str:
    # The real API returns both forms; here it depends on the token.
    return str(token.decimals) if token.address[-1] in "37AaFf" else token.decimals

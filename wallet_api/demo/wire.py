"""Balances in the wire shapes of Moralis: token rows of EVM wallets, portfolios of Solana wallets."""

from typing import Any

from wallet_api.chains import Chain
from wallet_api.demo.balances import Balance, Portfolio
from wallet_api.demo.forms import decimal_text, seeded, solana_address

PSEUDO_NATIVE = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"


def evm_rows(chain: Chain, portfolio: Portfolio, *, with_spam: bool) -> list[dict[str, Any]]:
    """Return the rows of `/wallets/{address}/tokens`, native first. A zero native balance has no row."""
    rows = []
    if portfolio.native:
        native = Balance(
            PSEUDO_NATIVE,
            chain.native_name,
            chain.currency,
            chain.native_decimals,
            portfolio.native,
            verified=True,
        )
        rows.append(_evm_row(native, native=True))
    rows += [_evm_row(token) for token in portfolio.tokens if with_spam or not token.spam]
    return rows


def solana_portfolio(portfolio: Portfolio) -> dict[str, Any]:
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
        "logo": None,
        "thumbnail": None,
        "decimals": _decimals(token),
        "balance": str(token.units),
        "possible_spam": token.spam,
        "verified_contract": token.verified,
        "total_supply": None,
        "total_supply_formatted": None,
        "percentage_relative_to_total_supply": None,
        "security_score": None,
        "balance_formatted": decimal_text(token.units, token.decimals),
        "usd_price": None,
        "usd_price_24hr_percent_change": None,
        "usd_price_24hr_usd_change": None,
        "usd_value": None,
        "usd_value_24hr_usd_change": None,
        "native_token": native,
        "portfolio_percentage": 0,
    }


def _solana_row(token: Balance, units: int, account: str) -> dict[str, Any]:
    return {
        "associatedTokenAddress": account,
        "mint": token.address,
        "name": token.name,
        "symbol": token.symbol,
        "tokenStandard": 2,
        "score": 80 if token.verified else 0,
        "amountRaw": str(units),
        "amount": decimal_text(units, token.decimals),
        "decimals": _decimals(token),
        "logo": None,
        "isVerifiedContract": token.verified,
        "possibleSpam": token.spam,
    }


def _decimals(token: Balance) -> int | str:
    # The real API returns both forms; here it depends on the token.
    return str(token.decimals) if token.address[-1] in "37AaFf" else token.decimals

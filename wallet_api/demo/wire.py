"""Balances as Moralis writes them: rows of an EVM wallet's tokens, and a Solana wallet's portfolio."""

from typing import Any

from wallet_api.chains import Chain
from wallet_api.demo.balances import Balance, Portfolio
from wallet_api.demo.forms import decimal_text, seeded, solana_address

PSEUDO_NATIVE = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"


def evm_rows(
    chain: Chain, portfolio: Portfolio, *, with_native: bool = True, with_spam: bool = True
) -> list[dict[str, Any]]:
    """The rows of `/wallets/{address}/tokens`, native first; an empty native balance has none."""
    rows = []
    if with_native and portfolio.native:
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
    """The document of `/account/mainnet/{address}/portfolio`."""
    return {"nativeBalance": solana_native(portfolio), "nfts": [], "tokens": solana_rows(portfolio)}


def solana_native(portfolio: Portfolio) -> dict[str, str]:
    """The document of `/account/mainnet/{address}/balance`."""
    return {"lamports": str(portfolio.native), "solana": decimal_text(portfolio.native, 9)}


def solana_rows(portfolio: Portfolio, *, with_spam: bool = True) -> list[dict[str, Any]]:
    """The rows of `/account/mainnet/{address}/tokens`: one an account, so at times two of a mint."""
    rows = []
    for token in portfolio.tokens:
        if token.spam and not with_spam:
            continue
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
    # Both forms are met in the wild, so both are played; which one is the token's own.
    return str(token.decimals) if token.address[-1] in "37AaFf" else token.decimals

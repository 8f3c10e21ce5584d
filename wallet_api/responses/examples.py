"""Values that the examples of several operations share; wallet and token are of the demo."""

from typing import Any

ADDRESS = "24spxm8umeNweepYcCnaUPV68uAhkray8ps2MJqAoQKQ"
MINT = "25AW4JD9V5gADpTFZPwGisuJVCMg3ACYUzP6dp2FamyE"
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"

# Arguments by name.
ARGUMENTS = {
    "blockchain": "solana",
    "type": "kol",
    "address": ADDRESS,
    "period": "7d",
    "mint": MINT,
    "mode": "most_traded",
}

META = {
    "request_id": "req_4f6b1c2d8e9a0b1c2d3e4f5a",
    "cached": False,
    "cache_age_seconds": 0,
    "version": "1.0.0",
    "timestamp": "2026-01-30T12:51:16Z",
}

# A history leaves out the link.
HISTORY_PROFILE: dict[str, Any] = {
    "wallet_address": ADDRESS,
    "name": "0xLarkCalls",
    "image_url": "https://images.example/0xlarkcalls.png",
    "twitter": "https://x.example/0xLarkCalls",
    "telegram": "",
    "blockchain": "solana",
    "type": "kol",
    "currency": "SOL",
}

PROFILE = HISTORY_PROFILE | {"copytrade_link": f"https://copytrade.example/solana/{ADDRESS}"}

# In a feed of one token.
TOKEN_TRANSACTION: dict[str, Any] = {
    "tx_signature": SIGNATURE,
    "event_index": 0,
    "transaction_type": "buy",
    "value": 2.5,
    "value_usd": 375,
    "currency": "SOL",
    "token_amount": 1250000,
    "price_per_token": 0.000002,
    "price_per_token_usd": 0.0003,
    "created_at": "2026-01-30T12:40:57Z",
    "profile": PROFILE,
    "holdings_after": {
        "token_amount": 2750000,
        "token_amount_peak": 2750000,
        "bag_pct": 100,
        "still_holding": True,
        "supply_pct": None,
        "supply_pct_peak": None,
    },
}

TRANSACTION = TOKEN_TRANSACTION | {
    "mint": MINT,
    "token_name": "Doge Club",
    "token_supply": None,
    "token_decimals": None,
}

TOKEN: dict[str, Any] = {
    "blockchain": "solana",
    "currency": "SOL",
    "mint": MINT,
    "token_name": "Doge Club",
    "token_supply": None,
    "token_decimals": None,
    "price": 0.000002,
    "price_usd": 0.0003,
    "price_at": "2026-01-30T12:40:57Z",
    "market_cap": None,
    "market_cap_usd": None,
    "market_cap_currency": None,
    "sol_price_usd": 150,
    "pool": None,
    "on_curve": None,
    "bonding_curve_progress": None,
}

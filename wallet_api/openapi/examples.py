"""Example values of parameters and answers, in keeping with each other; the wallet is one of the demo's."""

from typing import Any

ADDRESS = "24spxm8umeNweepYcCnaUPV68uAhkray8ps2MJqAoQKQ"
_MINT = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"
_SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"

PARAMETERS = {"blockchain": "solana", "type": "kol", "address": ADDRESS, "period": "7d"}

META = {
    "request_id": "req_4f6b1c2d8e9a0b1c2d3e4f5a",
    "cached": False,
    "cache_age_seconds": 0,
    "version": "1.0.0",
    "timestamp": "2026-01-30T12:51:16Z",
}

_PROFILE: dict[str, Any] = {
    "wallet_address": ADDRESS,
    "name": "0xLarkCalls",
    "image_url": "https://images.example/0xlarkcalls.png",
    "twitter": "https://x.example/0xLarkCalls",
    "telegram": "",
    "blockchain": "solana",
    "type": "kol",
    "currency": "SOL",
}

WALLETS = {
    "blockchain": "solana",
    "type": "kol",
    "currency": "SOL",
    "pagination": {"limit": 1, "next_cursor": "WyJ3YWxsZXRzIl0", "has_more": True, "total": 80},
    "wallets": [_PROFILE | {"copytrade_link": f"https://copytrade.example/solana/{ADDRESS}"}],
}

HISTORY = {
    "profile": _PROFILE,
    "lifetime_stats": {
        "currency": "SOL",
        "buy": 12.5,
        "sell": 31.25,
        "realized_pnl": 18.75,
        "realized_pnl_percentage": 150,
        "buy_txn": 2,
        "sell_txn": 1,
        "total_tx_count": 3,
        "win_rate": 100,
        "win_count": 1,
        "total_sold": 1,
        "active_tokens_count": 1,
        "largest_buy": 7.5,
        "best_trade_pnl": 18.75,
        "worst_trade_pnl": 18.75,
        "still_holding_count": 0,
    },
    "win_rate_distribution": {
        "above_500": 0,
        "above_100_to_500": 1,
        "above_zero_to_100": 0,
        "below_zero": 0,
    },
    "token_overview": [
        {
            "mint": _MINT,
            "token_name": "Bonk",
            "invested": 12.5,
            "sold": 31.25,
            "realized_pnl": 18.75,
            "realized_pnl_percentage": 150,
            "currency": "SOL",
            "buy_txn": 2,
            "sell_txn": 1,
            "first_seen": "2026-01-29T08:11:02Z",
            "last_seen": "2026-01-30T12:40:57Z",
            "still_holding": False,
        }
    ],
    "trades": [
        {
            "tx_signature": _SIGNATURE,
            "mint": _MINT,
            "token_name": "Bonk",
            "transaction_type": "sell",
            "value": 31.25,
            "currency": "SOL",
            "created_at": "2026-01-30T12:40:57Z",
        }
    ],
    "pagination": {"limit": 1, "next_cursor": "WyJoaXN0b3J5Il0", "has_more": True},
}

HOLDINGS = {
    "active_holdings": {
        "tokens": [
            {
                "token_address": "native",
                "token_name": "Solana",
                "symbol": "SOL",
                "amount": "1500000000",
                "amount_formatted": "1.5",
                "decimals": 9,
                "verified_contract": True,
            },
            {
                "token_address": _MINT,
                "token_name": "Bonk",
                "symbol": "BONK",
                "amount": "420000000",
                "amount_formatted": "4200",
                "decimals": 5,
                "verified_contract": False,
            },
        ],
        "count": 2,
        "last_updated": "2026-01-30T12:51:15Z",
        "stale": False,
        "loading": False,
    }
}

LOADING = {
    "active_holdings": {"tokens": [], "count": 0, "last_updated": None, "stale": False, "loading": True}
}

VOLUME = {
    "blockchain": "solana",
    "type": "kol",
    "mode": "volume",
    "volume": 1204.75,
    "volume_usd": 180712.5,
    "currency": "SOL",
    "time_window_seconds": 86400,
}

CAPPED_VOLUME = VOLUME | {
    "mint": _MINT,
    "warnings": ["The window was capped from 172800 to 86400 seconds."],
}

LEADERBOARD = {
    "blockchain": "solana",
    "type": "kol",
    "period": "7d",
    "currency": "SOL",
    "leaderboard": [
        {
            "wallet": ADDRESS,
            "rank": 1,
            "profile": {
                "name": "0xLarkCalls",
                "image_url": "https://images.example/0xlarkcalls.png",
                "twitter": "https://x.example/0xLarkCalls",
                "currency": "SOL",
            },
            "period_stats": {
                "realized_pnl": 18.75,
                "realized_pnl_usd": 2812.5,
                "buy_txn": 2,
                "sell_txn": 1,
                "total_txn": 3,
                "total_volume": 43.75,
                "total_volume_usd": 6562.5,
                "avg_hold_time_minutes": 1709.92,
            },
            "period_win_rate_distribution": {
                "win_rate_percentage": 100,
                "above_500": 0,
                "above_100_to_500": 1,
                "above_zero_to_100": 0,
                "below_zero": 0,
                "closed_count": 1,
                "win_count": 1,
            },
        }
    ],
    "pagination": {"limit": 1, "next_cursor": "WyJsZWFkZXJib2FyZCJd", "has_more": True},
}

HEALTH = {"status": "ok"}

READINESS = {"status": "ready", "database": "ok", "tables": "ok", "primary": "ok", "store": "ok"}

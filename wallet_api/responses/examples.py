"""Values that the examples of several operations share; the wallet is one of the demo's."""

from typing import Any

ADDRESS = "24spxm8umeNweepYcCnaUPV68uAhkray8ps2MJqAoQKQ"
MINT = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"

# Arguments by name.
ARGUMENTS = {"blockchain": "solana", "type": "kol", "address": ADDRESS, "period": "7d"}

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

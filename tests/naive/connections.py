"""The connections of a wallet, naively: every pair of wallets and tokens compared.

Shares no code with the service.
"""

from datetime import datetime, timedelta
from fractions import Fraction

from tests.naive.walk import Row, Trade, Wallet, shown, shown_time

PERIOD = timedelta(days=30)


def connections_of(
    now: datetime, wallet: Wallet, trades: list[Trade], profiles: dict[Wallet, Row], names: dict[Wallet, Row]
) -> Row:
    """Return token_count, total and connections. `names` has the name of each token of each wallet."""
    last: dict[Wallet, dict[str, datetime]] = {}
    for trade in trades:
        if now - PERIOD < trade.at <= now:
            times = last.setdefault(trade.wallet, {})
            times[trade.mint] = max(times.get(trade.mint, trade.at), trade.at)
    own = last.get(wallet, {})
    found = []
    for other, times in last.items():
        mints = sorted(own.keys() & times.keys(), key=str.encode)
        mints.sort(key=lambda mint: times[mint], reverse=True)
        if other[0] == wallet[0] and other != wallet and mints:
            found.append(
                {
                    "wallet_address": other[1],
                    "profile": profiles[other],
                    "shared_tokens_count": len(mints),
                    "overlap_score": shown(Fraction(len(mints), len(own)), 4),
                    "shared_tokens": [
                        {
                            "mint": mint,
                            "symbol": None,
                            "token_name": names[wallet][mint] or names[other][mint],
                        }
                        for mint in mints[:50]
                    ],
                    "last_shared_at": shown_time(times[mints[0]]),
                }
            )
    found.sort(key=lambda row: (-row["shared_tokens_count"], row["wallet_address"].encode()))
    return {"token_count": len(own), "total": len(found), "connections": found}

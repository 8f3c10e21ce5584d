"""Which KOLs earn, and not by luck, and what did several of them buy today?"""

import os
from decimal import Decimal

import requests

service = requests.Session()
service.headers["Authorization"] = f"Bearer {os.environ['KEY']}"
service.params = {"blockchain": "solana", "type": "kol", "limit": 10}


def ask(path, **arguments):
    response = service.get(f"{os.environ['API']}/v1/{path}", params=arguments, timeout=30)
    response.raise_for_status()
    return response.json(parse_float=Decimal, parse_int=Decimal)["data"]


def drawn(values):
    low, high = min(values), max(values)
    return "".join("▁▂▃▄▅▆▇█"[int((value - low) / ((high - low) or 1) * 7)] for value in values)


honest = {"sort": "win_rate_low", "min_closed": 5, "max_open_cost": 50, "chart": "true"}
for entry in ask("wallet/leaderboard", period="30d", **honest)["leaderboard"]:
    stats = entry["period_stats"]
    worst = f"fell by {stats['max_drawdown']:.2f} at worst, {stats['open_cost']:.2f} not sold"
    best = f"{stats['realized_pnl']:+.2f} SOL, wins {stats['win_rate_low']:.0f} % or more"
    print(f"{entry['profile']['name']}: {best}, {worst}")
    print(f"   {drawn(entry['chart']['values'])}")

for signal in ask("signals", mode="cluster", hours=24, include_wallets="false")["signals"]:
    stats = signal["token_stats"]
    bought = f"{signal['window']['wallet_count']} bought, {stats['net_flow']:+.2f} SOL net"
    print(f"{signal['token']['token_name']}: {bought}")

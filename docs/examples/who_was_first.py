"""Who first bought what the KOL with the most profit of seven days holds?"""

import os
import sys
from decimal import Decimal

import requests

service = requests.Session()
service.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def ask(path, **arguments):
    response = service.get(f"{os.environ['API']}/v1/{path}", params=arguments, timeout=30)
    response.raise_for_status()
    return response.json(parse_float=Decimal)["data"]


kols = {"blockchain": "solana", "type": "kol"}
[best] = ask("wallet/leaderboard", **kols, period="7d", sort="realized_pnl", limit=1)["leaderboard"]
record = ask("wallets/history", **kols, address=best["wallet"], limit=1)
held = [row for row in record["token_overview"] if row["still_holding"]]
if not held:
    sys.exit(f"{best['profile']['name']} holds nothing")
token = max(held, key=lambda row: row["invested"])
traders = ask("tokens/stats", blockchain="solana", mint=token["mint"], sort="first_buy", limit=5)

total = traders["pagination"]["total"]
print(f"{best['profile']['name']} holds {token['token_name']}. The first of {total} traders:")
for row in traders["traders"]:
    profile, stats = row["profile"], row["trader_stats"]
    name = profile["name"] or profile["wallet_address"]
    # Wallets that never bought come last.
    if "first_buy_at" in stats:
        print(f"{stats['first_buy_at']} {name}: {stats['realized_pnl']} SOL realized")

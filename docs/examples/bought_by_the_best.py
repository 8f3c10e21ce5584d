"""Which KOLs on Solana made the most profit in seven days, and what did they buy in the last hour?"""

import json
import os
from decimal import Decimal
from urllib.parse import urlencode
from urllib.request import Request, urlopen


def ask(path, **arguments):
    url = f"{os.environ['API']}/v1/{path}?{urlencode(arguments)}"
    request = Request(url, headers={"Authorization": f"Bearer {os.environ['KEY']}"})
    with urlopen(request, timeout=30) as response:
        return json.load(response, parse_float=Decimal)["data"]


kols = {"blockchain": "solana", "type": "kol"}
board = ask("wallet/leaderboard", **kols, period="7d", sort="realized_pnl", limit=10)
within = ask("transactions/timerange", **kols, hours=1, limit=1000)

for entry in board["leaderboard"]:
    print(f"{entry['rank']}. {entry['profile']['name']}: {entry['period_stats']['realized_pnl']} SOL")
    for trade in within["transactions"]:
        if trade["profile"]["wallet_address"] == entry["wallet"] and trade["transaction_type"] == "buy":
            print(f"   {trade['created_at']} {trade['token_name']} for {trade['value']} SOL")

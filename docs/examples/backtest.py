"""Buy what three KOLs bought within 24 hours, and sell it twelve hours later: what did that bring?"""

import os
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from statistics import mean

import requests

service = requests.Session()
service.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def ask(path, moment, **arguments):
    arguments |= {"blockchain": "solana", "as_of": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}
    response = service.get(f"{os.environ['API']}/v1/{path}", params=arguments, timeout=30)
    response.raise_for_status()
    data = response.json(parse_float=Decimal, parse_int=Decimal)["data"]
    for warning in data.get("warnings", ()):
        print(warning, file=sys.stderr)
    return data


def prices(mints, moment):
    pages = [",".join(mints[first : first + 100]) for first in range(0, len(mints), 100)]
    tokens = [token for page in pages for token in ask("tokens/prices", moment, mint=page)["tokens"]]
    return {token["mint"]: token["price"] for token in tokens}


rule = {
    "type": "kol",
    "mode": "cluster",
    "min_wallets": 3,
    "hours": 24,
    "limit": 1000,
    "include_wallets": "false",
}
step, now, made = timedelta(hours=12), datetime.now(UTC).replace(microsecond=0), []
for moment in (now - number * step for number in range(60, 0, -1)):
    signals = ask("signals", moment, **rule)["signals"]
    bought = {
        one["token"]["mint"]: one["token_stats"]["price"] for one in signals if one["token_stats"]["price"]
    }
    sold = prices(list(bought), moment + step)
    # What nobody has traded for a day can hardly be sold: all that it cost is lost.
    returns = [(sold[mint] or Decimal(0)) / price - 1 for mint, price in bought.items()]
    made += returns
    if returns:
        print(f"{moment:%Y-%m-%d %H:%M}: {len(returns)} bought, {mean(returns):+.2%} after twelve hours")

print(f"{len(made)} trades, {made.count(-1)} lost without a price")
if made:
    print(f"{mean(made):+.2%} on average")

"""All trades of the twenty KOLs with the most profit of seven days, as one CSV file."""

import csv
import io
import os
import sys
from itertools import islice
from urllib.parse import urljoin

import requests

service = requests.Session()
service.headers["Authorization"] = f"Bearer {os.environ['KEY']}"


def rows(path, **arguments):
    url = f"{os.environ['API']}/v1/{path}?format=csv"
    while url:
        response = service.get(url, params=arguments, timeout=30)
        response.raise_for_status()
        yield from csv.DictReader(io.StringIO(response.text, newline=""))
        following = response.links.get("next")
        url, arguments = following and urljoin(response.url, following["url"]), {}


kols = {"blockchain": "solana", "type": "kol"}
board = rows("wallet/leaderboard", **kols, period="7d", sort="realized_pnl", limit=20)
table = None
for entry in islice(board, 20):
    for trade in rows("wallets/history", **kols, address=entry["wallet"], limit=1000):
        row = {"rank": entry["rank"], "name": entry["profile_name"], **trade}
        if table is None:
            table = csv.DictWriter(sys.stdout, row)
            table.writeheader()
        table.writerow(row)

"""Print each buy of a KOL of at least 5 SOL within a second of its arrival."""

import json
import os
import time
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

place = Path("bot-place")
state = json.loads(place.read_text()) if place.exists() else {"after": "now", "acted": []}
service = requests.Session()
service.headers["Authorization"] = f"Bearer {os.environ['KEY']}"
service.params = {
    "blockchain": "solana",
    "type": "kol",
    "transaction_type": "buy",
    "min_value": "5",
    "limit": 1000,
}
# Values with all their digits.
service.params["amounts"] = "string"
# Wait as long as a refusal says, and through a restart of the service.
retries = Retry(20, backoff_factor=0.5, backoff_max=5, status_forcelist=(429, 502, 503))
for scheme in ("http://", "https://"):
    service.mount(scheme, HTTPAdapter(max_retries=retries))

while True:
    response = service.get(
        f"{os.environ['API']}/v1/transactions/latest", params={"after": state["after"]}, timeout=30
    )
    response.raise_for_status()
    data = response.json()["data"]
    for row in data["transactions"]:
        if row["event"] in ("trade", "correction"):
            wallet = row["profile"]["wallet_address"]
            trade = [wallet, row["tx_signature"], row["mint"], row["event_index"]]
            if trade not in state["acted"]:
                name = row["profile"]["name"] or wallet
                print(
                    f"{row['created_at']} {name} bought {row['token_name']} for {row['value']} SOL",
                    flush=True,
                )
                state["acted"].append(trade)
    # Corrections come soon.
    state = {"after": data["pagination"]["next_cursor"], "acted": state["acted"][-10_000:]}
    # Whole or not at all, whenever the program is killed.
    written = place.with_suffix(".new")
    written.write_text(json.dumps(state))
    written.replace(place)
    if not data["pagination"]["has_more"]:
        time.sleep(0.5)

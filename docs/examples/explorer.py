"""Print the trades of one token against coin or dollars, as NDJSON: explorer.py WALLET EXPORT…"""

import csv
import json
import sys
from collections import defaultdict
from decimal import Decimal, getcontext

getcontext().prec = 100
KINDS = {
    "So11111111111111111111111111111111111111111": "coin",  # SOL, as Solscan writes it
    "So11111111111111111111111111111111111111112": "wrapped",
    "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2": "wrapped",
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v": "dollars",  # USDC
    "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB": "dollars",  # USDT
    "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48": "dollars",
    "0xdac17f958d2ee523a2206206994597c13d831ec7": "dollars",
}
FEES = Decimal("0.02")  # so much coin beside dollars is fees


def number(text):
    return Decimal(text.replace(",", "").lstrip("$") or 0)


def rows_of(file):
    with open(file, encoding="utf-8-sig", newline="") as lines:
        yield from csv.DictReader(lines)


wallet, *files = sys.argv[1:]
is_evm = wallet.startswith("0x")
stored = str.lower if is_evm else str
wallet = stored(wallet)
changes, times, sent = defaultdict(lambda: defaultdict(Decimal)), {}, set()
for file in files:
    for row in rows_of(file):
        signature = row.get("Signature") or row.get("Transaction Hash") or row["Txhash"]
        times[signature] = row.get("Block Time") or row["UnixTimestamp"]
        # What failed has moved nothing, and the rent of an account is no price.
        if row.get("ErrCode") or "Error" in (row.get("Status") or "") or "ACCOUNT" in row.get("Action", ""):
            continue
        if "TxnFee(ETH)" in row and stored(row["From"]) == wallet:
            sent.add(signature)
        if "Value_IN(ETH)" in row:
            kind, amount = "coin", number(row["Value_IN(ETH)"]) - number(row["Value_OUT(ETH)"])
        else:
            mint = stored(row.get("Token Address") or row["ContractAddress"])
            amount = number(row.get("Amount") or row["TokenValue"]).scaleb(-int(row.get("Decimals") or 0))
            amount *= (stored(row["To"]) == wallet) - (stored(row["From"]) == wallet)
            kind = KINDS.get(mint, mint)
        changes[signature][kind] += amount
for signature, kinds in changes.items():
    coin, wrapped, dollars = (kinds.pop(kind, Decimal(0)) for kind in ("coin", "wrapped", "dollars"))
    # Coin that is wrapped in the transaction which spends it is in the export twice.
    coin = max(coin, wrapped, key=abs) if coin * wrapped > 0 else coin + wrapped
    paid = dollars or coin
    tokens = [(mint, amount) for mint, amount in kinds.items() if amount]
    # Anybody can write a transfer from or to any wallet into the logs of an EVM chain.
    is_own = signature in sent or not is_evm
    is_trade = len(tokens) == 1 and tokens[0][1] * paid < 0 and not (dollars and abs(coin) > FEES)
    if not is_own or not is_trade:
        print("left out:", signature, file=sys.stderr)
        continue
    mint, amount = tokens[0]
    trade = {"wallet_address": wallet, "tx_signature": signature, "mint": mint}
    trade |= {"created_at": times[signature], "transaction_type": "buy" if amount > 0 else "sell"}
    trade |= {"token_amount": f"{abs(amount):f}", "value_usd" if dollars else "value": f"{abs(paid):f}"}
    print(json.dumps(trade))

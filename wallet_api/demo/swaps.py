"""Trades as Moralis writes swaps, and the choice among them that a call asks for."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

import orjson

from wallet_api.chains import Chain
from wallet_api.demo.forms import evm_address, seeded, solana_address, time_text

WRAPPED_NATIVE = {
    "solana": "So11111111111111111111111111111111111111112",
    "eth": "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    "base": "0x4200000000000000000000000000000000000006",
    "bnb": "0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c",
}

Trade = Mapping[str, Any]


def select(
    trades: Iterable[Trade], arguments: Mapping[str, str], start: int, size: int
) -> tuple[list[Trade], bool]:
    """The page of `size` trades from `start` that the query arguments ask for, and whether more follow.

    `trades` come newest first. Raises ValueError for an argument that is not understood.
    """
    order = arguments.get("order", "DESC").upper()
    if order not in ("ASC", "DESC"):
        raise ValueError("order must be ASC or DESC")
    kinds = {kind for kind in arguments.get("transactionTypes", "buy,sell").lower().split(",") if kind}
    first = _moment(arguments.get("fromDate"))
    last = _moment(arguments.get("toDate"))
    token = arguments.get("tokenAddress")
    chosen = (
        trade
        for trade in trades
        if trade["transaction_type"] in kinds
        and (first is None or trade["created_at"] >= first)
        and (last is None or trade["created_at"] <= last)
        and (token is None or trade["mint"] in (token, token.lower()))
    )
    ordered: Iterable[Trade] = chosen if order == "DESC" else reversed(list(chosen))
    page = list(islice(ordered, start, start + size + 1))
    return page[:size], len(page) > size


def swap(chain: Chain, address: str, trade: Trade) -> dict[str, Any]:
    """One row of `/wallets/{address}/swaps` or `/account/mainnet/{address}/swaps`."""
    bought_token = trade["transaction_type"] == "buy"
    usd = orjson.Fragment(trade["value_usd"]) if "value_usd" in trade else None
    token = {
        "address": trade["mint"],
        "name": trade.get("token_name"),
        "symbol": trade.get("token_name"),
        "logo": None,
        "amount": trade["token_amount"],
        "usdPrice": None,
        "usdAmount": usd,
        "tokenType": "token0",
    }
    native = {
        "address": WRAPPED_NATIVE[chain.name],
        "name": f"Wrapped {chain.native_name}",
        "symbol": chain.currency,
        "logo": None,
        "amount": trade["value"],
        "usdPrice": None,
        "usdAmount": usd,
        "tokenType": "token1",
    }
    random = seeded("pair", trade["mint"])
    make = solana_address if chain.name == "solana" else evm_address
    return {
        "transactionHash": trade["tx_signature"],
        "transactionType": trade["transaction_type"],
        "transactionIndex": trade.get("event_index", 0),
        "subCategory": "accumulation" if bought_token else "partialSell",
        "blockTimestamp": trade["created_at"].removesuffix("Z") + ".000Z",
        "blockNumber": 317348443,
        "walletAddress": address,
        "pairAddress": make(random),
        "pairLabel": f"{trade.get('token_name', '')}/{chain.currency}",
        "exchangeAddress": make(random),
        "exchangeName": None,
        "exchangeLogo": None,
        "baseToken": trade["mint"],
        "quoteToken": WRAPPED_NATIVE[chain.name],
        "bought": token if bought_token else native,
        "sold": native if bought_token else token,
        "baseQuotePrice": None,
        "totalValueUsd": usd,
    }


def _moment(text: str | None) -> str | None:
    """A date of the query, Unix seconds or ISO 8601, in the form of `created_at`, which sorts by time."""
    if not text:
        return None
    if text.isdecimal():
        return time_text(int(text))
    return time_text(int(datetime.fromisoformat(text).timestamp()))

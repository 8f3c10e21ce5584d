"""Moralis' swaps, in pages."""

import base64
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
from flask import Response, request

from tests.stub.faults import message_response
from tests.stub.moralis import EVM_CHAINS, json_response

Row = dict[str, Any]


@dataclass
class Swaps:
    """The rows of wallets by (chain, address), in any order; pages are in order of time."""

    rows: dict[tuple[str, str], list[Row]] = field(default_factory=dict)
    key: str = "stub"
    page_rows: int = 100

    def add(self, chain: str, address: str, *rows: Row) -> None:
        """Add rows to a wallet."""
        self.rows.setdefault((chain, address), []).extend(rows)

    def answer(self, address: str) -> Response:
        """Return a page of a wallet's swaps."""
        if request.headers.get("X-API-Key") != self.key:
            return message_response("Token is invalid format", 401)
        chain = EVM_CHAINS[request.args["chain"]].name if address.startswith("0x") else "solana"
        first = datetime.fromtimestamp(int(request.args["fromDate"]), UTC)
        # Stable: rows of one block stay in the order in which they were added.
        rows = sorted(self.rows.get((chain, address), ()), key=_time)
        rows = [row for row in rows if _time(row) >= first]
        size = min(int(request.args["limit"]), self.page_rows)
        start = _place(request.args.get("cursor"))
        page = rows[start : start + size]
        cursor = _cursor(start + size) if start + size < len(rows) else None
        size_name = "pageSize" if chain == "solana" else "page_size"
        return json_response({"cursor": cursor, "page": start // size + 1, size_name: size, "result": page})


def leg(mint: str, amount: str | None, name: str | None = None, **fields: Any) -> Row:
    """Return one side of a swap."""
    return {
        "address": mint,
        "name": name,
        "symbol": name,
        "logo": None,
        "amount": amount,
        "usdPrice": None,
        "usdAmount": None,
        "tokenType": "token0",
        **fields,
    }


def swap(
    signature: str,
    at: datetime,
    bought: Row | None,
    sold: Row | None,
    usd: float | None = None,
    *,
    pool: str = "AbCuhWFpcqspj4Cip3FEdJHqzouJqSa9PJLFd8TuvnPw",
    **fields: Any,
) -> Row:
    """Return a row as documented. `transactionType` contradicts the legs: clients must ignore it."""
    return {
        "transactionHash": signature,
        "transactionType": "sell",
        "transactionIndex": 93,
        "subCategory": "newPosition",
        "blockTimestamp": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "blockNumber": 317348443,
        "pairAddress": pool,
        "pairLabel": "A/B",
        "exchangeAddress": "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo",
        "exchangeName": None,
        "exchangeLogo": None,
        "baseToken": None,
        "quoteToken": None,
        "bought": bought,
        "sold": sold,
        "baseQuotePrice": "0.004885390113289905",
        "totalValueUsd": usd,
        **fields,
    }


def _time(row: Row) -> datetime:
    try:
        return datetime.fromisoformat(row["blockTimestamp"])
    except (KeyError, ValueError):
        return datetime.now(UTC)


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps({"place": place})).decode()


def _place(cursor: str | None) -> int:
    return int(orjson.loads(base64.urlsafe_b64decode(cursor))["place"]) if cursor else 0

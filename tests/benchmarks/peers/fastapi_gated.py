"""The peer: FastAPI with the same three gates and the same SQL, each as its library's documentation has it.

The key is looked up by its hash and the credit taken by an UPDATE, both over asyncpg; slowapi counts each key
in the same Valkey, up to 300 a minute, and writes the same headers. Nothing is cached.
"""

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import asyncpg
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded

from wallet_api.chains import CHAINS
from wallet_api.database import load_sql
from wallet_api.periods import PERIOD_LENGTHS
from wallet_api.queries import windows
from wallet_api.queries.history import HISTORY
from wallet_api.queries.token_price import DEFAULT_RULE
from wallet_api.queries.windows import cover


def positional(sql: str) -> tuple[str, list[str]]:
    """A statement of ours with $1, $2, … in place of named parameters, and their names in that order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return re.sub(r"%\((\w+)\)s", number, sql), names


_RATE = "300/minute"
_FIND_KEY = "SELECT key_id, expires_at, revoked_at FROM api_keys WHERE key_hash = $1"
_CHARGE = "UPDATE api_keys SET credits = credits - 1 WHERE key_id = $1 AND credits >= 1 RETURNING credits"
_VOLUME, _VOLUME_NAMES = positional(load_sql("wallet_api.queries", "volume"))
_BOARD, _BOARD_NAMES = positional(load_sql("wallet_api.queries", "leaderboard"))
_HISTORY, _HISTORY_NAMES = positional(HISTORY)
_HISTORY_PARTS = ("profile", "lifetime_stats", "win_rate_distribution", "token_overview", "trades")
_WALLET = "SELECT wallet_id FROM wallets WHERE blockchain = $1 AND type = $2 AND address = $3"
_LIST = """
SELECT address AS wallet_address, name, image_url, twitter, telegram, copytrade_link, blockchain, type
  FROM wallets
 WHERE blockchain = $1 AND type = $2 AND address > $3
 ORDER BY address
 LIMIT $4
"""
_COUNT = "SELECT wallet_count FROM wallet_groups WHERE blockchain = $1 AND type = $2"


def presented_key(request: Request) -> str:
    """The key of the Authorization header."""
    return request.headers.get("Authorization", "").removeprefix("Bearer ")


limiter = Limiter(
    key_func=presented_key,
    headers_enabled=True,
    storage_uri=os.environ["VALKEY_URL"],
    strategy="fixed-window",
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """One pool for the life of the process."""
    async with asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=8, max_size=8) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=lifespan)
app.state.limiter = limiter
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)  # type: ignore[arg-type]


async def charged(request: Request, response: Response) -> AsyncIterator[asyncpg.Connection]:
    """The key, then the credit, on the connection that the view goes on with."""
    async with request.app.state.pool.acquire() as connection:
        key = await connection.fetchrow(_FIND_KEY, hashlib.sha256(presented_key(request).encode()).digest())
        if key is None or key["revoked_at"] is not None:
            raise HTTPException(403, "forbidden")
        left = await connection.fetchval(_CHARGE, key["key_id"])
        if left is None:
            raise HTTPException(403, "no credits left")
        response.headers["X-Credits-Remaining"] = str(left)
        yield connection


def answer(data: dict[str, Any]) -> dict[str, Any]:
    """The envelope."""
    meta = {
        "request_id": os.urandom(12).hex(),
        "cached": False,
        "cache_age_seconds": 0,
        "version": "1.0.0",
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return {"success": True, "data": data, "meta": meta}


def window(length: timedelta, sizes: Sequence[int]) -> dict[str, Any]:
    """The time until now, in the buckets of our rollups."""
    now = datetime.now(UTC).replace(microsecond=0)
    columns = zip(*cover(now - length, now, sizes), strict=True)
    return {"now": now, **dict(zip(("sizes", "starts", "ends"), columns, strict=True))}


Charged = Annotated[asyncpg.Connection, Depends(charged)]


@app.get("/v1/transactions/volume")
@limiter.limit(_RATE)
async def volume(
    request: Request,
    response: Response,
    blockchain: str,
    type: str,
    connection: Charged,
    seconds: Annotated[int, Query(ge=1)] = 86_400,
) -> dict[str, Any]:
    """What our volume answers, without a mint."""
    currency = CHAINS[blockchain].currency
    values = {"blockchain": blockchain, "type": type, "mint": None, "currency": currency}
    values |= window(timedelta(seconds=seconds), windows.BUCKET_SECONDS)
    row = await connection.fetchrow(_VOLUME, *(values[name] for name in _VOLUME_NAMES))
    return answer(
        {
            "blockchain": blockchain,
            "type": type,
            "mode": "volume",
            "volume": float(row["volume"]),
            "volume_usd": None if row["volume_usd"] is None else float(row["volume_usd"]),
            "currency": currency,
            "time_window_seconds": seconds,
        }
    )


@app.get("/v1/wallets")
@limiter.limit(_RATE)
async def wallets(
    request: Request,
    response: Response,
    blockchain: str,
    type: str,
    connection: Charged,
    limit: Annotated[int, Query(ge=1)] = 50,
    after: str = "",
) -> dict[str, Any]:
    """What our list answers."""
    currency = CHAINS[blockchain].currency
    total = await connection.fetchval(_COUNT, blockchain, type)
    rows = await connection.fetch(_LIST, blockchain, type, after, limit)
    return answer(
        {
            "blockchain": blockchain,
            "type": type,
            "currency": currency,
            "pagination": {"total": total, "limit": limit, "has_more": len(rows) == limit},
            "wallets": [{**row, "currency": currency} for row in rows],
        }
    )


@app.get("/v1/wallet/leaderboard")
@limiter.limit(_RATE)
async def leaderboard(
    request: Request,
    response: Response,
    blockchain: str,
    type: str,
    connection: Charged,
    period: str = "1d",
    limit: Annotated[int, Query(ge=1)] = 10,
) -> dict[str, Any]:
    """The ranked wallets of our leaderboard."""
    values = {"blockchain": blockchain, "type": type, "currency": CHAINS[blockchain].currency}
    now = datetime.now(UTC)
    values |= {"now": now} | windows.cut_period(now - PERIOD_LENGTHS[period], now)
    rows = await connection.fetch(_BOARD, *(values[name] for name in _BOARD_NAMES))
    ranked = sorted(rows, key=lambda row: (-row["total_volume"], row["address"]))[:limit]
    entries = [{"wallet": row["address"], **json.loads(row["entry"])} for row in ranked]
    return answer({"period": period, "wallets": entries})


@app.get("/v1/wallets/history")
@limiter.limit(_RATE)
async def history(
    request: Request,
    response: Response,
    blockchain: str,
    type: str,
    address: str,
    connection: Charged,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> dict[str, Any]:
    """The first page of our history."""
    values = {"blockchain": blockchain, "type": type, "address": address, "limit": limit}
    values["overview"] = True
    # From the place before all trades.
    values |= {"created_at": datetime.max.replace(tzinfo=UTC), "since": datetime.min.replace(tzinfo=UTC)}
    values |= {"searched_ids": [], "searched_prices": [], "searched_at": []}
    values |= {"is_sell": False, "tx_signature": "", "event_index": 0, "mint": ""}
    values |= DEFAULT_RULE.parameters(datetime.now(UTC))
    values["currency"] = CHAINS[blockchain].currency
    values["wallet_id"] = await connection.fetchval(_WALLET, blockchain, type, address)
    row = await connection.fetchrow(_HISTORY, *(values[name] for name in _HISTORY_NAMES))
    if row is None:
        raise HTTPException(404, "not tracked")
    data = {name: json.loads(row[name]) for name in _HISTORY_PARTS}
    return answer(data | {"pagination": {"limit": limit, "has_more": row["has_more"]}})

"""What the wallets of a group bought together, first, or left, as it was known at a moment."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson

from wallet_api.chains import CHAINS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.errors import InvalidParameter
from wallet_api.queries.paging import cap_warnings, cut_warnings, limit_warnings, with_warnings
from wallet_api.queries.prices import read_tokens
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

MAX_HOURS = 168
MAX_SIGNALS = 100
# Of each signal.
MAX_WALLETS = 1000
# Without `min_wallets`.
LEAST_WALLETS = {"cluster": 3, "entry": 1, "exit": 3}

_ACTIVE = timedelta(hours=24)
# Windows that begin before the year 1 cannot be computed.
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

_SIGNALS = load_sql(__package__, "signals")


def group_signals(
    connection: Connection,
    now: datetime,
    blockchain: str,
    type: str,
    mode: str,
    limit: int = 20,
    min_wallets: int | None = None,
    min_value: Decimal = Decimal(0),
    hours: int = 24,
    include_wallets: bool = True,
    as_of: datetime | None = None,
    rule: PriceRule = DEFAULT_RULE,
) -> dict[str, Any]:
    """Return the signals of a group in (`as_of` - `hours`, `as_of`], at most MAX_SIGNALS.

    `as_of` is `now` by default; it counts in whole seconds, and is 1970 at the earliest. No trade, price or
    dollar value of after it counts. Signals of most wallets come first, then of the largest investment.
    Raises InvalidParameter.
    """
    if as_of is not None and as_of > now:
        raise InvalidParameter("Parameter as_of is in the future.", parameter="as_of")
    moment = max(as_of or now, _EARLIEST).replace(microsecond=0)
    least = LEAST_WALLETS[mode] if min_wallets is None else min_wallets
    window_hours = min(hours, MAX_HOURS)
    parameters = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "mode": mode,
        "limit": min(limit, MAX_SIGNALS),
        "min_wallets": least,
        "min_value": min_value,
        "include_wallets": include_wallets,
        "most_wallets": MAX_WALLETS,
        "since": moment - timedelta(hours=window_hours),
        "active_since": moment - _ACTIVE,
        **rule.parameters(moment),
    }
    rows = connection.execute(_SIGNALS, parameters).fetchall()
    tokens = _read_tokens(connection, moment, blockchain, [row["mint"] for row in rows], rule)
    data = {
        "blockchain": blockchain,
        "type": type,
        "currency": CHAINS[blockchain].currency,
        "mode": mode,
        "hours": window_hours,
        "as_of": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "total": rows[0]["total"] if rows else 0,
        "count": len(rows),
        "signals": [
            {
                "signal_type": mode,
                "signal_strength": _strength(row["wallet_count"], least),
                **_signal(row, blockchain, window_hours, tokens[row["mint"]]),
            }
            for row in rows
        ],
    }
    warnings = cap_warnings("hours", hours, MAX_HOURS)
    if include_wallets and any(row["wallet_count"] > MAX_WALLETS for row in rows):
        warnings.append(f"Only the first {MAX_WALLETS} wallets of a signal are shown.")
    return with_warnings(data, warnings)


def first_signals(data: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the data of a group's signals with at most `limit` of them."""
    signals = data["signals"][:limit]
    warnings = [
        *limit_warnings(limit, MAX_SIGNALS),
        *data.get("warnings", ()),
        *cut_warnings(len(signals), data["total"], "signals"),
    ]
    return with_warnings({**data, "count": len(signals), "signals": signals}, warnings)


def _signal(row: Row, blockchain: str, hours: int, token: Row) -> dict[str, Any]:
    currency = CHAINS[blockchain].currency
    return {
        "currency": currency,
        "token": {**token, "blockchain": blockchain, "currency": currency},
        "token_stats": {
            **row,
            "wallet_count": row["trader_count"],
            "price": token["price"],
            "price_at": token["price_at"],
        },
        "wallets": None if row["wallets"] is None else orjson.Fragment(row["wallets"]),
        "window": {**row, "hours": hours},
    }


def _read_tokens(
    connection: Connection, moment: datetime, blockchain: str, mints: Sequence[str], rule: PriceRule
) -> dict[str, Row]:
    if not mints:
        return {}
    tokens = json.loads(read_tokens(connection, moment, blockchain, mints, rule), parse_float=Decimal)
    return {token["mint"]: token for token in tokens}


def _strength(wallets: int, least: int) -> str:
    return "high" if wallets >= 4 * least else "medium" if wallets >= 2 * least else "low"

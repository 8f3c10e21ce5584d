"""What the wallets of a group bought together, first, or left, as it was known at a moment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.base.times import shown_time
from wallet_api.database import Connection, Row, load_sql, rows_by, rows_of, shared
from wallet_api.queries.groups import group_parameters
from wallet_api.queries.native_price import native_price_of
from wallet_api.queries.outcomes import TokenMoment, outcome_columns
from wallet_api.queries.paging import MAX_LIMIT, cap_warnings, cut_warnings, limit_warnings, with_warnings
from wallet_api.queries.prices import read_prices
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule
from wallet_api.queries.windows import cut_period, moment_of

MAX_HOURS = 168
# Of each signal.
MAX_WALLETS = 1000
# Without `min_wallets`.
LEAST_WALLETS = {"cluster": 3, "entry": 1, "exit": 3}

_ACTIVE = timedelta(hours=24)

_SIGNALS = load_sql(__package__, "signals")
_TOKENS = load_sql(__package__, "signal_tokens")


@dataclass(frozen=True)
class SignalOptions:
    """What makes a signal of a group, in a window of `hours` up to `as_of`, and what of it is returned.

    `as_of` is now by default.
    """

    blockchain: str
    type: str
    mode: str
    limit: int = 20
    min_wallets: int | None = None
    min_value: Decimal = Decimal(0)
    hours: int = 24
    include_wallets: bool = True
    as_of: datetime | None = None
    min_transactions: int = 1

    @property
    def least_wallets(self) -> int:
        """Return the fewest wallets of a signal."""
        return LEAST_WALLETS[self.mode] if self.min_wallets is None else self.min_wallets

    @property
    def window_hours(self) -> int:
        """Return the length of the window after capping."""
        return min(self.hours, MAX_HOURS)

    def parameters(self, moment: datetime) -> dict[str, Any]:
        """Return the parameters of signals.sql and signal_tokens.sql for a window that ends at a moment."""
        since = moment - timedelta(hours=self.window_hours)
        return {
            **group_parameters(self.blockchain, self.type),
            **cut_period(since, moment),
            "mode": self.mode,
            "limit": min(self.limit, MAX_LIMIT),
            "min_wallets": self.least_wallets,
            "min_value": self.min_value,
            "min_transactions": self.min_transactions,
            "include_wallets": self.include_wallets,
            "most_wallets": MAX_WALLETS,
            "since": since,
            "active_since": moment - _ACTIVE,
        }


def group_signals(
    connection: Connection, now: datetime, options: SignalOptions, rule: PriceRule = DEFAULT_RULE
) -> dict[str, Any]:
    """Return the signals of a group, at most 1000.

    No trade, price or dollar value of after the window counts. Signals of most wallets come first, then of
    the largest investment. Raises InvalidParameter.
    """
    moment = moment_of(options.as_of, now)
    parameters = options.parameters(moment) | rule.parameters(moment)
    head, [signals, wallets] = connection.fetch_lists(_SIGNALS, parameters)
    rows, wallets_of = rows_of(signals), rows_by(shared(wallets), "ordinal")
    times = rule.parameters(moment, is_past=options.as_of is not None)
    tokens = _tokens_of(connection, options.blockchain, signals["mint"], times)
    outcomes = outcome_columns(
        connection, now, [TokenMoment(token_id, moment) for token_id in signals["token_id"]], rule
    )
    data = {
        "blockchain": options.blockchain,
        "type": options.type,
        "currency": CHAINS[options.blockchain].currency,
        "mode": options.mode,
        "hours": options.window_hours,
        "as_of": shown_time(moment),
        **native_price_of(head),
        "total": head["total"],
        "count": len(rows),
        "signals": [
            {
                "signal_type": options.mode,
                "signal_strength": _strength(row["wallet_count"], options.least_wallets),
                **_signal(row, options, tokens[row["mint"]]),
                **outcomes[ordinal - 1],
                "wallets": wallets_of.get(ordinal),
            }
            for ordinal, row in enumerate(rows, 1)
        ],
    }
    warnings = cap_warnings("hours", options.hours, MAX_HOURS)
    if options.include_wallets and any(row["wallet_count"] > MAX_WALLETS for row in rows):
        warnings.append(f"Only the first {MAX_WALLETS} wallets of a signal are shown.")
    return with_warnings(data, warnings)


def signal_tokens(
    connection: Connection, moment: datetime, blockchain: str, type: str, mode: str
) -> list[int]:
    """Return the ids of the tokens of all signals of a group at a moment, by the default options."""
    options = SignalOptions(blockchain, type, mode, include_wallets=False)
    parameters = options.parameters(moment) | {"now": moment, "limit": None}
    return [row["token_id"] for row in connection.execute(_TOKENS, parameters)]


def size_of_signals(data: Mapping[str, Any]) -> int:
    """Return how many signals and wallets there are in the data of a group's signals."""
    wallets: Iterable[int] = (row["window_wallet_count"] for row in data["signals"] if row["wallets"])
    return 1 + len(data["signals"]) + sum(min(count, MAX_WALLETS) for count in wallets)


def first_signals(data: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return the data of a group's signals with at most `limit` of them."""
    signals = data["signals"][:limit]
    warnings = [
        *limit_warnings(limit),
        *data.get("warnings", ()),
        *cut_warnings(len(signals), data["total"], "signals"),
    ]
    return with_warnings({**data, "count": len(signals), "signals": signals}, warnings)


def _signal(row: Row, options: SignalOptions, token: Row) -> dict[str, Any]:
    currency = CHAINS[options.blockchain].currency
    shown = {"token": {**token, "blockchain": options.blockchain, "currency": currency}, "window": row}
    shown["token_stats"] = {**row, "wallet_count": row["trader_count"], **token}
    columns = {f"{name}_{key}": value for name, values in shown.items() for key, value in values.items()}
    return {"currency": currency, **columns, "window_hours": options.window_hours}


def _tokens_of(
    connection: Connection, blockchain: str, mints: Sequence[str], times: Mapping[str, Any]
) -> dict[str, Row]:
    if not mints:
        return {}
    _, tokens = read_prices(connection, blockchain, mints, times)
    return {row["mint"]: row for row in rows_of(tokens)}


def _strength(wallets: int, least: int) -> str:
    return "high" if wallets >= 4 * least else "medium" if wallets >= 2 * least else "low"

"""The names of the fixed sets of words, of which generators of clients make enumerations."""

import re
from collections.abc import Sequence
from typing import Any

from wallet_api.api.schemas import (
    analytics,
    argument_fields,
    arguments,
    feed,
    figures,
    signals,
    status,
    tokens,
    wallet_tokens,
)
from wallet_api.base import orders, periods
from wallet_api.base.chains import CHAINS, WALLET_TYPES

WORDS: dict[str, Sequence[str]] = {
    "Blockchain": tuple(CHAINS),
    "WalletType": WALLET_TYPES,
    "GroupType": argument_fields.GROUP_TYPES,
    "Format": arguments.FORMATS,
    "Amounts": arguments.AMOUNTS,
    "Order": orders.ORDERS,
    "Direction": figures.DIRECTIONS,
    "TradeEvent": feed.TRADE_EVENTS,
    "Period": periods.BOARD_PERIODS,
    "LeaderboardSort": orders.BOARD_SORTS,
    "AnalyticsMode": analytics.MODES,
    "AnalyticsPeriod": analytics.PERIODS_OF_MODES,
    "FlowSort": analytics.FLOW_SORTS,
    "SignalMode": signals.MODES,
    "SignalStrength": signals.STRENGTHS,
    "OutcomeSpan": tuple(periods.OUTCOME_SPANS),
    "OutcomeGroup": analytics.OUTCOME_GROUPS,
    "TraderSort": tokens.TRADER_SORTS,
    "WalletTokenSort": wallet_tokens.SORTS,
    "StepRule": wallet_tokens.RULES,
    "ServerState": status.STATES,
    "ServiceState": status.SERVICE_STATES,
    "PriceState": status.PRICE_STATES,
}
_NAMES = {frozenset(words): name for name, words in WORDS.items()}


def reference(words: Sequence[str]) -> str | None:
    """Return the reference to the schema of a set of words, in any order; None if it has no name."""
    name = _NAMES.get(frozenset(words))
    return None if name is None else f"#/components/schemas/{name}"


def schema_of(name: str) -> dict[str, Any]:
    """Return the schema of the set of words of this name."""
    words = WORDS[name]
    # In some languages all members are names of one package: so each has that of its set before it.
    prefix = re.sub("(?<!^)(?=[A-Z])", "_", name)
    names = [f"{prefix}_{word}".replace("-", "_").upper() for word in words]
    return {"type": "string", "enum": list(words), "x-enum-varnames": names}

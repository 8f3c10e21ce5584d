"""What became of tokens after moments: the change of their price after an hour, six, and a day."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from wallet_api.database import Connection, load_sql
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

SPANS = {"1h": timedelta(hours=1), "6h": timedelta(hours=6), "24h": timedelta(hours=24)}

_NAMES = {span.total_seconds(): name for name, span in SPANS.items()}
_OUTCOMES = load_sql(__package__, "outcomes")


class Moment(NamedTuple):
    """A token by its id, and a time after which it is looked at."""

    token_id: int
    at: datetime


class Outcome(NamedTuple):
    """What became of a token: its price, when and of what that was, and the change in percent.

    A token that `is_gone` has no price, and a change of -100.
    """

    price: Decimal | None
    price_at: datetime | None
    source: str | None
    change_percent: Decimal
    is_gone: bool


def read_outcomes(
    connection: Connection, now: datetime, moments: Sequence[Moment], rule: PriceRule = DEFAULT_RULE
) -> dict[Moment, dict[str, Outcome]]:
    """Return by moment and span what became of a token until `now`, where that is known."""
    parameters = {
        "token_ids": [moment.token_id for moment in moments],
        "moments": [moment.at for moment in moments],
        "price_min_usd": rule.min_value_usd,
        "now": now,
    }
    outcomes: dict[Moment, dict[str, Outcome]] = {moment: {} for moment in moments}
    for row in connection.execute(_OUTCOMES, parameters):
        moment = Moment(row.pop("token_id"), row.pop("moment"))
        name = _NAMES[row.pop("seconds")]
        outcomes[moment][name] = Outcome(**row)
    return outcomes

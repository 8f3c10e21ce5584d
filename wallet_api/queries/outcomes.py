"""What became of tokens after moments: the change of their price after an hour, six, and a day."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from wallet_api.base.periods import OUTCOME_SPANS
from wallet_api.database import Connection, Row, load_sql
from wallet_api.queries.token_price import DEFAULT_RULE, PriceRule

_OUTCOMES = load_sql(__package__, "outcomes")
_FIRST = min(OUTCOME_SPANS.values())
# The parameters of statements about all of them.
SPANS: dict[str, Any] = {
    "spans": [*OUTCOME_SPANS],
    "seconds": [int(span.total_seconds()) for span in OUTCOME_SPANS.values()],
}
# What an outcome has, in the order of its columns.
_MEMBERS = ("price", "price_at", "change_percent", "source", "gone")


class TokenMoment(NamedTuple):
    """A token by its id, and a time after which it is looked at."""

    token_id: int
    at: datetime


def read_outcomes(
    connection: Connection, now: datetime, moments: Sequence[TokenMoment], rule: PriceRule = DEFAULT_RULE
) -> dict[TokenMoment, dict[str, Row]]:
    """Return by moment and span what became of a token until `now`, where that is known.

    An outcome has `price`, `price_at`, `change_percent` and `source`, or of a token that was gone `gone` and
    a `change_percent` of -100; the others are None.
    """
    outcomes: dict[TokenMoment, dict[str, Row]] = {moment: {} for moment in moments}
    parameters = SPANS | {
        "token_ids": [moment.token_id for moment in moments],
        "moments": [moment.at for moment in moments],
        "price_min_usd": rule.min_value_usd,
        "now": now,
    }
    for row in connection.execute(_OUTCOMES, parameters):
        of_moment = outcomes[TokenMoment(row["token_id"], row["moment"])]
        of_moment[row["span"]] = {name: row[name] for name in _MEMBERS}
    return outcomes


def outcome_columns(
    connection: Connection, now: datetime, moments: Sequence[TokenMoment], rule: PriceRule
) -> list[dict[str, Any]]:
    """Return for each moment the columns of a row's `outcome`: of each span the object, and its members."""
    # Nothing is known before, and most requests are of now.
    known = [moment for moment in moments if now - moment.at >= _FIRST]
    outcomes = read_outcomes(connection, now, known, rule) if known else {}
    return [_columns(outcomes.get(moment, {})) for moment in moments]


def _columns(outcome: dict[str, Row]) -> dict[str, Any]:
    columns: dict[str, Any] = {f"outcome_{span}": outcome.get(span) for span in OUTCOME_SPANS}
    for span, row in outcome.items():
        columns |= {f"outcome_{span}_{name}": value for name, value in row.items()}
    return columns

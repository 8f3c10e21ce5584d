"""GET /v1/wallets/history: the lifetime record of one wallet."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from wallet_api.api.access.current import current_request
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.examples import NOT_TRACKED_AS_KOL
from wallet_api.api.responses.large import await_turn
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.history import HistoryArguments, HistorySchema, UntypedHistoryArguments
from wallet_api.api.services import requested_wallet, services
from wallet_api.ledger.wallet import count_tokens
from wallet_api.queries.history import shows_all_tokens, wallet_history

blueprint = Blueprint("history", __name__, url_prefix="/v1")

_untyped = UntypedHistoryArguments()

_operation = Operation(
    name="get_history",
    use="For a whole life, and trades of any time; for a first look use get_brief, for a period get_tracker.",
    tag="Wallets",
    summary="Lifetime record of a wallet",
    arguments=HistoryArguments(),
    data=HistorySchema(),
    errors=[NOT_TRACKED_AS_KOL],
    description="`type` is optional if the operator has set HISTORY_TYPE=detected.",
    rows="trades",
)


@blueprint.get("/wallets/history")
@_operation.documents
def history() -> Response:
    """Return a wallet's lifetime figures, its record in every token, and a page of its trades."""
    detected = services().settings.history_type == "detected"
    arguments = load_arguments(_untyped if detected else _operation.arguments)
    if current_request().format != "json":
        # Its rows are the trades.
        arguments = {**arguments, "overview": False}
    return _operation.respond(lambda: _data(arguments), arguments)


def _data(given: Mapping[str, Any]) -> dict[str, Any]:
    current = services()
    with requested_wallet(given) as (connection, wallet, now):
        if shows_all_tokens(given):
            # There is a connection for each thread: none is missing while this one waits.
            counted = current.token_counts.get(wallet, lambda: count_tokens(connection, wallet))
            await_turn(counted.value)
        return wallet_history(connection, wallet, now, given, current.price_rule)

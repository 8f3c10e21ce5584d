"""GET /v1/analytics: the tokens that most wallets of a group traded."""

from functools import partial

from flask import Blueprint, Response

from wallet_api.queries.analytics import most_traded, read_tokens
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import respond_version
from wallet_api.responses.examples import examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.analytics import AnalyticsArguments, AnalyticsSchema
from wallet_api.services import services

blueprint = Blueprint("analytics", __name__, url_prefix="/v1")

_arguments = AnalyticsArguments()
_schema = AnalyticsSchema()


_operation = Operation(
    tag="Groups",
    summary="Most traded tokens of a group",
    arguments=_arguments,
    data=_schema,
    examples=examples_of("analytics"),
    description="All figures are of one moment, which may be 30 seconds ago: see `meta`.",
)


@blueprint.get("/analytics")
@_operation.documents
def analytics() -> Response:
    """Return the tokens that most wallets of a group traded in a period."""
    arguments = load_arguments(_arguments)
    group = [arguments[name] for name in ("blockchain", "type", "period")]
    board = services().board("most traded tokens", partial(read_tokens, rule=services().price_rule), *group)
    return respond_version(arguments, board, lambda: _schema.dump(most_traded(board.value, **arguments)))

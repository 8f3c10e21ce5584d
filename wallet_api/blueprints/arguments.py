"""The query string of this request, as the schema of the operation sees it."""

from typing import Any

from flask import request

from wallet_api.schemas import arguments


def load_arguments(schema: arguments.Arguments) -> dict[str, Any]:
    """This call's arguments. Raises MissingParameter, InvalidParameter."""
    given = {name: request.args.getlist(name) for name in request.args}
    given.pop("api_key", None)
    return arguments.load(schema, given)

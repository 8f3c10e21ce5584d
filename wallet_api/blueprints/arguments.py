"""The query string of the current request, validated by the schema of its operation."""

from typing import Any

from flask import request

from wallet_api.schemas import arguments


def load_arguments(schema: arguments.Arguments) -> dict[str, Any]:
    """Return the arguments of the current request. Raises MissingParameter, InvalidParameter."""
    given = request.args.to_dict(flat=False)
    # The gate has taken care of it.
    given.pop("api_key", None)
    return arguments.load(schema, given)

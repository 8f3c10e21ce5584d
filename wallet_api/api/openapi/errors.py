"""The errors of an operation: those of its arguments, of its view, and of all operations."""

from collections.abc import Iterable, Iterator

from wallet_api.api.responses.examples import argument_example
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.arguments import Arguments, load
from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.base.errors import ApiError, Forbidden, RateLimited, Unauthorized
from wallet_api.database import DatabaseUnavailable, QueryTimeout
from wallet_api.queries import cursors

_CRASH = ApiError()
_OF_ALL = (
    _CRASH,
    Unauthorized(),
    *map(Forbidden, Forbidden.messages),
    RateLimited(
        "The limit of this API key is 300 requests per minute. Try again in 17 seconds.",
        retry_after_seconds=17,
    ),
    DatabaseUnavailable(),
    QueryTimeout(),
)


def errors_of(operation: Operation) -> dict[str, ApiError]:
    """Return all errors that the operation responds with, by a name for each."""
    shared = (_CRASH,) if operation.access == "keyless" else _OF_ALL
    return _named([*_of_arguments(operation.arguments), *operation.errors, *shared])


def all_errors() -> dict[str, ApiError]:
    """Return the errors that every operation with a key responds with, by a name for each."""
    return _named(_OF_ALL)


def _named(errors: Iterable[ApiError]) -> dict[str, ApiError]:
    named: dict[str, ApiError] = {}
    for error in {error.message: error for error in errors}.values():
        name = "_".join(filter(None, (error.reason or error.code, error.parameter)))
        same = sum(other.rstrip("0123456789_") == name for other in named)
        named[f"{name}_{same + 1}" if same else name] = error
    return named


def _of_arguments(schema: Arguments) -> Iterator[ApiError]:
    """Yield the errors that a schema raises for missing, invalid and unknown arguments."""
    good = {
        name: [argument_example(name, getattr(field, "allowed", ()))]
        for name, field in schema.fields.items()
        if field.required
    }
    attempts = [{name: value for name, value in good.items() if name != left_out} for left_out in good]
    attempts += [good | {name: [wrong]} for name in schema.fields for wrong in ("?", "0", "")]
    if "type" in schema.fields:
        attempts += [
            good | {"blockchain": [chain], "type": [type]} for chain in CHAINS for type in WALLET_TYPES
        ]
    attempts.append(good | {"wallet": ["?"]})
    for attempt in attempts:
        try:
            load(schema, attempt)
        except ApiError as error:
            yield error
    if "cursor" in schema.fields:
        yield cursors.refusal()

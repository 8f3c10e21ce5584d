"""The OpenAPI 3.1 document, generated from the routes of the app and the schemas that the views use."""

from dataclasses import replace
from typing import Any

from apispec import APISpec
from flask import Flask
from marshmallow import Schema
from werkzeug.routing import Rule

from wallet_api import __version__
from wallet_api.api.openapi import responses
from wallet_api.api.openapi.conversion import SchemaPlugin, undescribed
from wallet_api.api.openapi.words import WORDS, schema_of
from wallet_api.api.responses.operation import Operation, is_alias, operation_of
from wallet_api.api.responses.operator import operator_of
from wallet_api.api.schemas.envelope import ErrorSchema, SuccessSchema

_DESCRIPTION = """\
What a curated set of crypto wallets trades and holds: the wallets with their records and balances, the
trades, volume and ranking of groups of them, and the tokens. All operations are `GET` with arguments in the
query string.

**Authentication.** Send your key as `Authorization: Bearer KEY`. The parameter `api_key` works too, but URLs
end up in logs and histories.

**Responses** are `{"success": true, "data": …, "meta": …}`. Amounts are exact JSON numbers; read them with
a decimal parser if your language has one, else request strings of the same digits with `amounts=string`,
which `/v1/openapi.json?amounts=string` describes. Times are UTC, ISO 8601 with `Z`.

**Errors** are `{"success": false, "error": {"code", "message", "request_id", …}, "meta": …}` with the HTTP
status below. On 429 and 503 wait for the seconds in `Retry-After`, then try again. A 503 without it, whose
`reason` is `provider_not_configured`, can only be fixed by the operator.

**Limits.** `X-RateLimit-Limit`, `-Remaining` and `-Reset` are the state of your key's rate limit, and
`X-Credits-Remaining` is its balance. A 200 costs one credit, unless the operator set other prices, which
`/v1/key` shows. Errors, 304 and balances that are still loading are free. Without credits, everything but
`/v1/key` is a 403. A limit or window beyond its maximum is capped, and `warnings` says so; a whole
number above 10^18 counts as 10^18.

**Conditional requests.** Responses have an `ETag`. Send it as `If-None-Match`, and data that has not
changed is a 304 without a body. Large responses are compressed for callers that send `Accept-Encoding:
gzip`.

**Pages.** `pagination.next_cursor`, to be sent as `cursor`, leads to the next page; so does the header
`Link`.

**Freshness.** Lists of wallets, leaderboards, trackers, connections, analytics and signals may be 30
seconds old, balances a minute; `meta.cached` and `meta.cache_age_seconds` show it.

**Tables.** With `format=csv` or `ndjson`, where an operation has it, the response is its rows alone.
`/v1/openapi.json?format=json` leaves tables out, so that each response of a generated client has one type.
"""

_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "description": "The `ETag` of an earlier response: 304 means that the data has not changed.",
    "schema": {"type": "string"},
}

_TAGS = (
    ("Wallets", "The tracked wallets, their records and their balances."),
    ("Groups", "The trades, volume and ranking of all wallets of a chain and type."),
    ("Tokens", "What tracked wallets trade and hold of a token."),
    ("Service", "Your key, and the service itself."),
)


def document(app: Flask, amounts: str = "number", *, tables: bool = True) -> dict[str, Any]:
    """Return the document of `app`: all of its operations, with all of their responses by `amounts`.

    Without `tables` each response is JSON, and no operation takes `format`.
    """
    spec = APISpec(
        title="Wallet Intelligence API",
        version=__version__,
        openapi_version="3.1.0",
        plugins=[SchemaPlugin(amounts)],
        info={
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            **operator_of(app).info,
        },
    )
    for name, description in _TAGS:
        spec.tag({"name": name, "description": description})
    spec.components.security_scheme(
        "bearer", {"type": "http", "scheme": "bearer", "description": "Your key in a header. Preferred."}
    )
    spec.components.security_scheme(
        "api_key",
        {
            "type": "apiKey",
            "in": "query",
            "name": "api_key",
            "description": "Your key as a parameter, where a header cannot be set.",
        },
    )
    for name in WORDS:
        spec.components.schema(name, schema_of(name))
    responses.add_shared(spec)
    for rule, operation in operations(app):
        if amounts == "string":
            # The examples have numbers.
            operation = replace(operation, examples={})
        if not tables:
            operation = operation.without_tables()
        spec.path(path=rule.rule, operations={"get": _operation(app, rule, operation)})
    return spec.to_dict()


def check(app: Flask) -> None:
    """Raise TypeError, with its name, if a route of `app` or one of its fields has no description."""
    schemas: list[Schema] = [SuccessSchema(), ErrorSchema()]
    for _, operation in operations(app):
        schemas += (operation.arguments, operation.data)
    missing = sorted({name for schema in schemas for name in undescribed(schema)})
    if missing:
        raise TypeError(f"without a description: {', '.join(missing)}: see docs/development.md")


def operations(app: Flask) -> list[tuple[Rule, Operation]]:
    """Return all operations with their routes, without aliases: by tag, the shortest path first, by view."""
    routes = [(rule, operation_of(app, rule.endpoint)) for rule in app.url_map.iter_rules()]
    found = [(rule, operation) for rule, operation in routes if operation and not is_alias(rule)]
    tags = [name for name, _ in _TAGS]

    def place(route: tuple[Rule, Operation]) -> tuple[int, int, str]:
        rule, operation = route
        return tags.index(operation.tag), rule.rule.count("/"), str(rule.endpoint).rpartition(".")[2]

    return sorted(found, key=place)


def _operation(app: Flask, rule: Rule, operation: Operation) -> dict[str, Any]:
    said = " ".join((app.view_functions[rule.endpoint].__doc__ or "").split())
    return {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": " ".join(filter(None, (said, operation.description, operation.use))),
        "parameters": _parameters(operation),
        "security": [] if operation.access == "keyless" else [{"bearer": []}, {"api_key": []}],
        "responses": responses.operation_responses(operation),
    }


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    # The plugin turns the schema into one parameter for each of its fields.
    parameters: list[dict[str, Any]] = [{"in": "query", "schema": operation.arguments}]
    if operation.etag:
        parameters.append(_IF_NONE_MATCH)
    return parameters

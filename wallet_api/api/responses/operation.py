"""An operation: what its view takes and returns, which the OpenAPI document shows too."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, current_app
from orjson import Fragment
from werkzeug.routing import Rule
from xxhash import xxh3_128_hexdigest

from wallet_api.api.access.current import ApiRequest, current_request
from wallet_api.api.access.views import Access, View, view_of
from wallet_api.api.responses import cached
from wallet_api.api.responses.arguments import load_arguments
from wallet_api.api.responses.cached import Body, Lifetime
from wallet_api.api.responses.cursor_seals import next_cursor, sealed
from wallet_api.api.responses.dollars import has_dollars, native_prices
from wallet_api.api.responses.envelope import JSON, begin_envelope, respond
from wallet_api.api.responses.examples import EXAMPLES
from wallet_api.api.responses.rows import CONTENT_TYPES, write_rows
from wallet_api.api.schemas.arguments import OF_TABLES, Arguments
from wallet_api.api.schemas.fields import with_strings
from wallet_api.api.schemas.shapes import List, Shape, columns_of, joined, shape_of, to_json, write_values
from wallet_api.api.schemas.tool_data import SLIM, slim
from wallet_api.base.cache import Cached
from wallet_api.base.errors import ApiError


@dataclass(frozen=True)
class Operation:
    """`name` is what a generated client calls it.

    `arguments` and `data` are the schemas of the query string and of the response's data.
    `examples` are those of the data by name, by default of examples.json; `errors` those that only this view
    raises.
    `use` is what it is for, and which other operation is for what is near it.
    `top_level` is the name of a member of the data that is repeated at the top level of the body.
    `rows` is that of the list which `format` returns alone, or of several, of which the data has one; without
    any, the data is the only row. `months.dates` are those within the rows of another list.
    With `bare` the data is the body, without the envelope.
    """

    name: str
    tag: str
    summary: str
    arguments: Arguments
    data: Shape
    examples: Mapping[str, Any] | None = None
    errors: Sequence[ApiError] = ()
    description: str = ""
    use: str = ""
    etag: bool = True
    top_level: str | None = None
    rows: str | None = None
    bare: bool = False
    lifetime: Lifetime = Lifetime.NORMAL
    # The name of an argument with which requests share no data, and cost nothing without a row.
    current_with: str = ""
    access: Access = "keyed"

    def __post_init__(self) -> None:
        if (self.rows is not None) != ("format" in self.arguments.fields):
            raise TypeError(f"{self.summary}: `rows` and the argument `format` belong together")

    @property
    def shown_examples(self) -> Mapping[str, Any]:
        """The examples of the data by name."""
        return EXAMPLES.get(self.name, {}) if self.examples is None else self.examples

    def without_tables(self) -> "Operation":
        """Return this operation as it is for those who never send `format`."""
        if self.rows is None:
            return self
        return replace(self, arguments=type(self.arguments)(exclude=OF_TABLES), rows=None)

    def documents(self, respond: Callable[[], Response]) -> View:
        """Return the view that responds so, which loads its arguments itself."""
        return View(respond, self.access, self)

    def cached(self, get_data: Callable[..., Any]) -> View:
        """Decorate a function that gets the arguments and returns the data, to be a view.

        Requests with the same arguments share what it returns for the lifetime of the operation.
        """

        @self.documents
        @wraps(get_data)
        def view() -> Response:
            arguments = load_arguments(self.arguments)

            def compute() -> Mapping[str, Any]:
                data: Mapping[str, Any] = get_data(**arguments)
                if self.current_with in arguments and not data["count"]:
                    current_request().free_of_charge = True
                return data

            return self.respond(compute, arguments)

        return view

    def respond(
        self,
        get_data: Callable[[], Mapping[str, Any]],
        arguments: Mapping[str, Any] | None = None,
        source: Cached[Any] | None = None,
        version: Hashable = None,
    ) -> Response:
        """Respond with what `get_data` returns, or has returned to an earlier request with these arguments.

        Without arguments it is for this request alone. With `source`, a value of another cache, it lives as
        long as that value; with a `version` of it, and what is read beside it, as long as any other data.
        """
        if arguments is None:
            written = _written(self.data, get_data())
            return Response(written, content_type=JSON) if self.bare else respond(Fragment(written))
        request = current_request()
        lifetime = Lifetime.NONE if self.current_with in arguments else self.lifetime
        return cached.respond_cached(
            request, lambda: self._body(request, arguments, get_data()), arguments, lifetime, source, version
        )

    def _body(self, request: ApiRequest, arguments: Mapping[str, Any], data: Mapping[str, Any]) -> Body:
        data, shape = sealed(self._warned(arguments, data)), self._shapes[request.data_form]
        cursor, next_page = next_cursor(data), _next_page(request, data)
        if request.format == "json":
            written = _written(shape, data)
            prefix = begin_envelope(written, self._repeated(shape, data))
            etag, meta = xxh3_128_hexdigest(written), data.get("of_meta")
            return Body(prefix, etag, next_page=next_page, cursor=cursor, meta=meta)
        body = write_rows(*self._listed(shape, data), request.format)
        warnings = data.get("warnings", [])
        # Without the URL, whose arguments have any order.
        version = to_json([request.format, warnings, cursor, xxh3_128_hexdigest(body)])
        etag = xxh3_128_hexdigest(version)
        return Body(body, etag, CONTENT_TYPES[request.format], warnings, next_page, cursor)

    def _warned(self, arguments: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        if not has_dollars(type(self.data)):
            return data
        warnings = native_prices(current_app).warnings(arguments, data)
        return {**data, "warnings": [*data.get("warnings", ()), *warnings]} if warnings else data

    @cached_property
    def _shapes(self) -> Mapping[str, Shape]:
        """The schemas of the data by the argument `amounts`, and that of tools."""
        return {"number": self.data, "string": with_strings(self.data), SLIM: slim(self.data)}

    def _listed(self, whole: Shape, data: Mapping[str, Any]) -> tuple[Shape, List]:
        """Return the rows that `format` returns alone, after their shape."""
        assert self.rows is not None
        names = self.rows.split()
        path = next((name for name in names if name.partition(".")[0] in data), names[0])
        name, _, inner = path.partition(".")
        shape, rows = shape_of(whole.fields[name]), data.get(name, [data])
        if not inner:
            return shape, rows
        lists = columns_of(rows).get(inner, ())
        return shape_of(shape.fields[inner]), joined(lists)

    def _repeated(self, shape: Shape, data: Mapping[str, Any]) -> bytes:
        """Return the member `top_level` as it follows the data."""
        if self.top_level is None:
            return b""
        [written] = write_values(shape.fields[self.top_level], [data[self.top_level]])
        return f',"{self.top_level}":{written}'.encode()


def _written(shape: Shape, data: Mapping[str, Any]) -> bytes:
    return shape.write([data])[0].encode()


def _next_page(request: ApiRequest, data: Mapping[str, Any]) -> str | None:
    """Return the URL of the page after this one, for all requests with the same arguments."""
    cursor = next_cursor(data)
    if cursor is None:
        return None
    # Without the key. Relative to the URL of the request, which a proxy may have changed.
    query = {name: value for name, value in request.args.items() if name != "api_key"}
    # A feed goes on in the same direction.
    place = "after" if query.get("after") else "cursor"
    return f"?{urlencode(query | {place: cursor})}"


def operation_of(app: Flask, endpoint: str) -> Operation | None:
    """Return the operation of an endpoint; None for one that the OpenAPI document leaves out."""
    operation: Operation | None = view_of(app, endpoint).operation
    return operation


def is_alias(rule: Rule) -> bool:
    """Return whether a route is a second path of an operation."""
    return str(rule.endpoint).endswith("_alias")

"""An operation: what its view takes and returns, which the OpenAPI document shows too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar

from flask import Flask, Response
from marshmallow import Schema

from wallet_api.access.current import OPERATION_ID
from wallet_api.access.gate import free_of_charge
from wallet_api.errors import ApiError
from wallet_api.responses.arguments import load_arguments
from wallet_api.responses.cached import Lifetime, respond_cached
from wallet_api.responses.rows import Listing
from wallet_api.schemas.arguments import Arguments

View = TypeVar("View", bound=Callable[..., Response])


@dataclass(frozen=True)
class Operation:
    """`name` is what a generated client calls it.

    `arguments` and `data` are the schemas of the query string and of the response's data.
    `examples` are examples of the data by name, `errors` those that only this view raises.
    `top_level` is the name of a member of the data that is repeated at the top level of the body.
    `rows` is that of the list which `format` returns alone.
    With `bare` the data is the body, without the envelope.
    """

    name: str
    tag: str
    summary: str
    arguments: Arguments
    data: Schema
    examples: Mapping[str, Any] = field(default_factory=dict)
    errors: Sequence[ApiError] = ()
    description: str = ""
    etag: bool = True
    top_level: str | None = None
    rows: str | None = None
    bare: bool = False
    lifetime: Lifetime = Lifetime.NORMAL
    # The name of an argument with which requests share no data, and cost nothing without a row.
    current_with: str = ""

    def __post_init__(self) -> None:
        if (self.rows is not None) != ("format" in self.arguments.fields):
            raise TypeError(f"{self.summary}: `rows` and the argument `format` belong together")

    @cached_property
    def listing(self) -> Listing | None:
        """Return how the rows are written alone; None if they are not."""
        if self.rows is None:
            return None
        return Listing(self.data, self.rows)

    def documents(self, view: View) -> View:
        """Decorate a view that loads its arguments and responds itself."""
        setattr(view, _ATTRIBUTE, self)
        setattr(view, OPERATION_ID, self.name)
        return view

    def cached(self, get_data: Callable[..., Any]) -> Callable[[], Response]:
        """Decorate a function that gets the arguments and returns the data, to be a view.

        Requests with the same arguments share what it returns for the lifetime of the operation.
        """
        arguments_schema, data_schema = self.arguments, self.data

        @self.documents
        @wraps(get_data)
        def view() -> Response:
            arguments = load_arguments(arguments_schema)
            is_current = self.current_with in arguments

            def dump() -> Any:
                data = get_data(**arguments)
                if is_current and not data["count"]:
                    free_of_charge()
                return data_schema.dump(data)

            return respond_cached(
                arguments,
                dump,
                lifetime=Lifetime.NONE if is_current else self.lifetime,
                top_level=self.top_level,
                listing=self.listing,
            )

        return view


_ATTRIBUTE = "wallet_api_operation"


def undocumented(view: View) -> View:
    """Decorate a view that the OpenAPI document leaves out: a page, a probe, what is for the operator."""
    setattr(view, _ATTRIBUTE, None)
    return view


def operation_of(app: Flask, endpoint: str) -> Operation | None:
    """Return the operation of an endpoint; None for one that the OpenAPI document leaves out.

    Raise TypeError, with the endpoint's name, if its view is not decorated with either.
    """
    view = app.view_functions[endpoint]
    if not hasattr(view, _ATTRIBUTE):
        raise TypeError(f"the view of {endpoint} has no Operation: see docs/development.md")
    operation: Operation | None = getattr(view, _ATTRIBUTE)
    return operation

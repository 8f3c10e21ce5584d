"""The views, with what the gate needs of them."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Literal

from flask import Flask, Response

# How requests get to a view: with a key, whose limit and credits count; free of charge, also with a key that
# has no credits; without a key, a limit and a cost; or as the view decides, which admits them itself or sends
# others in their place.
Access = Literal["keyed", "free", "keyless", "own"]


class View:
    """A view: what responds to its requests, how these get to it, and the Operation that it is, if any.

    `name` is that of the operation, else its own.
    """

    def __init__(self, respond: Callable[..., Response], access: Access, operation: Any = None) -> None:
        # Flask names the endpoint after it, and documents have its words.
        update_wrapper(self, respond)
        self._respond = respond
        self.access = access
        self.operation = operation
        self.name: str = respond.__name__ if operation is None else operation.name

    def __call__(self, **arguments: Any) -> Response:
        """Respond to the current request."""
        return self._respond(**arguments)


def keyless(respond: Callable[..., Response]) -> View:
    """Return a view that needs no key, and that the OpenAPI document leaves out: a page or a probe."""
    return View(respond, "keyless")


def view_of(app: Flask, endpoint: str) -> View:
    """Return the view of an endpoint. Raise TypeError, with the endpoint's name, if it is no View."""
    view = app.view_functions[endpoint]
    if not isinstance(view, View):
        raise TypeError(f"the view of {endpoint} has no Operation: see docs/development.md")
    return view

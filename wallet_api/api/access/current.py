"""The current request, with what its handling adds to it."""

import random
import time
from datetime import datetime
from typing import Any, cast

from flask import Request, current_app
from flask.globals import request_ctx
from werkzeug.utils import cached_property

from wallet_api.api.access.keyring import ApiKey
from wallet_api.api.access.views import View, view_of

# The members of the WSGI environment that the access log reads: the request's id, and the name of its key.
REQUEST_ID = "wallet_api.request_id"
KEY_NAME = "wallet_api.key_name"
# Present in that of the request of a tool.
OF_TOOL = "wallet_api.of_tool"


class ApiRequest(Request):
    """Flask's request, with its id and what becomes of it.

    `started` is of the performance counter, in seconds; `key_expires_at` is the time until which its key is
    accepted, None if that does not end; `charged` is the credits that the request cost, or would have cost
    a key with a limit of them; `counted_alone` is true if only this process has counted it; `refusal` is the
    code and the reason of the error in its response; `format` is that of the response, unless it is an error,
    and `data_form` names the shape that writes its data; `counts` is false if another request, which is sent
    while this one is handled, counts in its place.
    """

    key: ApiKey | None = None
    key_expires_at: datetime | None = None
    free_of_charge = False
    charged = 0
    counted_alone = False
    cached = False
    format = "json"
    data_form = "number"
    counts = True
    refusal: tuple[str, str] | None = None

    def __init__(self, environ: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(environ, *arguments, **options)
        self.started = time.perf_counter()
        # A name, which need not be secret.
        self.request_id: str = environ.setdefault(REQUEST_ID, f"req_{random.getrandbits(96):024x}")
        self.is_of_tool = OF_TOOL in environ

    @cached_property
    def view(self) -> View | None:
        """The view that responds; None for an unknown route."""
        return None if self.endpoint is None else view_of(current_app, self.endpoint)

    @property
    def operation(self) -> str:
        """The operationId, else the name of the view; `none` for an unknown route."""
        return "none" if self.view is None else self.view.name


def current_request() -> ApiRequest:
    """Return the current request itself, not Flask's proxy."""
    return cast(ApiRequest, request_ctx.request)

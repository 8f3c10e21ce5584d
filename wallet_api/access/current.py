"""The current request, with what its handling adds to it."""

import random
import time
from typing import Any, cast

from flask import Request
from flask.globals import request_ctx

from wallet_api.access.keyring import ApiKey


class ApiRequest(Request):
    """Flask's request, with its id and what becomes of it.

    `started` is of the performance counter, in seconds; `charged` is the credits that the request cost;
    `counted_alone` is true if only this process has counted it; `refusal` is the code and the reason of
    the error in its response; `format` is that of the response, unless it is an error.
    """

    key: ApiKey | None = None
    free_of_charge = False
    charged = 0
    counted_alone = False
    cached = False
    format = "json"
    refusal: tuple[str, str] | None = None

    def __init__(self, environ: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(environ, *arguments, **options)
        self.started = time.perf_counter()
        # A name, which need not be secret.
        self.request_id = f"req_{random.getrandbits(96):024x}"


def current_request() -> ApiRequest:
    """Return the current request itself, not Flask's proxy."""
    return cast(ApiRequest, request_ctx.request)

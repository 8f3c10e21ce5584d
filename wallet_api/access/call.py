"""The current request, with what its handling adds to it."""

import secrets
import time
from typing import Any, cast

from flask import Flask, Request, request

from wallet_api.access.keyring import ApiKey


class Call(Request):
    """Flask's request, with its id and what becomes of it.

    `started` is of the performance counter, in seconds; `charged` is the credits that the request cost;
    `counted_alone` tells whether only this process has counted it; `refusal` is the code and the reason of
    the error in its response.
    """

    key: ApiKey | None = None
    free_of_charge = False
    charged = 0
    counted_alone = False
    cached = False
    refusal: tuple[str, str] | None = None

    def __init__(self, environ: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(environ, *arguments, **options)
        self.started = time.perf_counter()
        self.request_id = f"req_{secrets.token_hex(12)}"


def init_app(app: Flask) -> None:
    """Make the requests of `app` calls."""
    app.request_class = Call


# Flask's proxy, typed.
current_call = cast(Call, request)

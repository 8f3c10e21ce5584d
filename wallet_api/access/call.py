"""The call in hand: Flask's request, with what each room leaves for those behind it."""

import secrets
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, cast

from flask import Flask, Request, current_app, request

from wallet_api.access.keyring import ApiKey

_LARGEST = 2**96 - 1


class Call(Request):
    """One call, and what becomes of it.

    `request_id` is its name, `req_` and 24 hexadecimal digits, from the app's `numbers`; `started` is of the
    performance counter, in seconds; `charged` are the credits that it cost; `counted_alone` tells whether no
    other process knows of it, `refusal` the code and the reason of the error that was answered.
    """

    numbers: Iterator[int]
    key: ApiKey | None = None
    free_of_charge = False
    charged = 0
    counted_alone = False
    cached = False
    refusal: tuple[str, str] | None = None

    def __init__(self, environ: dict[str, Any], *arguments: Any, **options: Any) -> None:
        super().__init__(environ, *arguments, **options)
        self.started = time.perf_counter()
        self.request_id = f"req_{next(self.numbers) & _LARGEST:024x}"


def init_app(app: Flask) -> None:
    """Let the requests of `app` be calls."""
    # Counted from anywhere, so that no two processes give the same: they are names, and need not be secret.
    app.request_class = type("Call", (Call,), {"numbers": count(secrets.randbits(96))})


# The call that this thread answers, and its app: what Flask's proxies stand for. Each use of a proxy goes
# through four functions to get there, and the rooms ask some ten times a call.
call_in_hand = cast(Callable[[], Call], request._get_current_object)  # type: ignore[attr-defined]
app_in_hand = cast(Callable[[], Flask], current_app._get_current_object)  # type: ignore[attr-defined]

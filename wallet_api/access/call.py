"""The call in hand: what each room leaves for those behind it, from the first hook to the last."""

import secrets
import time
from itertools import count

from flask import Flask, Request, current_app
from flask.globals import app_ctx, request_ctx

from wallet_api.access.keyring import ApiKey

_EXTENSION = "wallet_api.request_ids"
_LARGEST = 2**96 - 1


class Call:
    """One call. In one object, since Flask looks for the request anew at each use of what it keeps.

    `refusal` is the code and the reason of the error that was answered, `charged` the credits that it cost,
    `counted_alone` whether this process counted it without the others.
    """

    __slots__ = (
        *("request", "request_id", "started", "key", "free_of_charge", "charged", "counted_alone"),
        *("cached", "refusal"),
    )

    def __init__(self, request: Request, request_id: str) -> None:
        self.request = request
        self.request_id = request_id
        self.started = time.perf_counter()
        self.key: ApiKey | None = None
        self.free_of_charge = False
        self.charged = 0
        self.counted_alone = False
        self.cached = False
        self.refusal: tuple[str, str] | None = None


def init_app(app: Flask) -> None:
    """Have every call begin; to be called before all others hook into the requests of `app`."""
    # Counted from anywhere, so that no two processes give the same: they are names, and need not be secret.
    app.extensions[_EXTENSION] = count(secrets.randbits(96))
    app.before_request(_begin)


def call_in_hand() -> Call:
    """The call that this thread answers."""
    here = app_ctx.g
    try:
        call: Call = here.call
    except AttributeError:
        # What fails so early that no hook has run.
        _begin()
        call = here.call
    return call


def _begin() -> None:
    number = next(current_app.extensions[_EXTENSION]) & _LARGEST
    app_ctx.g.call = Call(request_ctx.request, f"req_{number:024x}")

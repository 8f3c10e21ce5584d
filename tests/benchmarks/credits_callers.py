"""Callers that use up the credits of one key, and what they receive."""

import http.client
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

CALLERS = 32
_PATH = "/v1/wallets?blockchain=solana&type=kol"
# A caller stops after so many refusals in a row: nothing comes back after that.
_REFUSALS = 5
_PAUSE_SECONDS = 0.1
_LAST_CALLS = 100
_LONGEST_SECONDS = 900.0


@dataclass
class Received:
    """Responses by kind: 200, 403 for a lack of credits, and 503; and connections that broke before one."""

    delivered: int = 0
    refused: int = 0
    unavailable: int = 0
    broken: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def count(self, status: int | None) -> None:
        """Count one response, or None. Raises ValueError for any that does not belong here."""
        names = {200: "delivered", 403: "refused", 503: "unavailable", None: "broken"}
        if status not in names:
            raise ValueError(f"a response with status {status}")
        name = names[status]
        with self.lock:
            setattr(self, name, getattr(self, name) + 1)


def use_up(url: str, key: str, steps: Sequence[int], disturb: Callable[[], None]) -> Received:
    """Send requests until the key has no credits left.

    `disturb` is called after each count of deliveries in `steps`. Raises TimeoutError after 15 minutes.
    """
    received = Received()
    done = threading.Event()

    def watch() -> None:
        for step in steps:
            while received.delivered < step:
                if done.wait(0.002):
                    return
            disturb()

    with ThreadPoolExecutor(CALLERS + 1) as pool:
        watching = pool.submit(watch)
        callers = [pool.submit(_call_until_refused, url, key, received) for _ in range(CALLERS)]
        try:
            for caller in callers:
                caller.result()
        finally:
            done.set()
        watching.result()
    # Each on a new connection, and so to any of the workers.
    for _ in range(_LAST_CALLS):
        connection = _connect(url)
        received.count(_call(connection, key))
        connection.close()
    return received


def _call_until_refused(url: str, key: str, received: Received) -> None:
    connection = _connect(url)
    refusals = 0
    deadline = time.monotonic() + _LONGEST_SECONDS
    while refusals < _REFUSALS:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the credits were not used up: {received}")
        status = _call(connection, key)
        received.count(status)
        refusals = refusals + 1 if status == 403 else 0
        if status is None:
            connection.close()
        if status != 200:
            time.sleep(_PAUSE_SECONDS)
    connection.close()


def _call(connection: http.client.HTTPConnection, key: str) -> int | None:
    try:
        connection.request("GET", _PATH, headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        response.read()
    except (http.client.HTTPException, OSError):
        return None
    return response.status


def _connect(url: str) -> http.client.HTTPConnection:
    address = urlsplit(url)
    return http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)

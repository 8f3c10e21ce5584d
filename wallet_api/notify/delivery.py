"""A thread for each target, which sends what waits for it, one message after the other."""

import json
import logging
import math
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event, Thread

from wallet_api.database import Row
from wallet_api.errors import ServiceUnavailable
from wallet_api.notify import queue
from wallet_api.notify.messages import body_of, message_id
from wallet_api.notify.sending import SendingError, send
from wallet_api.notify.session import Session
from wallet_api.notify.targets import Target
from wallet_api.times import shown_time

log = logging.getLogger(__name__)

_FIRST_SECONDS, _MOST_SECONDS = 1.0, 900.0
# As often it checks whether an operator resumed the target.
_POLL_SECONDS = 5.0
# The database is away, of which the process logs once, and not each of its threads.
_AWAY_SECONDS = 1.0

# The target of a name, as the file of rules has it now; None if it has none.
FindTarget = Callable[[str], Target | None]


class Sender(Thread):
    """Sends the messages to one target in their order; the next only when the one before was received."""

    def __init__(self, session: Session, name: str, find: FindTarget, *, allow_private: bool) -> None:
        super().__init__(name=f"webhooks to {name}", daemon=True)
        self._session, self._target, self._find = session, name, find
        self._allow_private = allow_private
        self._woken, self._stopping = Event(), Event()
        self._tries_at = -math.inf
        # The bucket is full at first.
        self._tokens, self._counted_at = math.inf, time.monotonic()

    def wake(self, *, at_once: bool = False) -> None:
        """Let it send what is new; `at_once` also what has failed and waits for its next try."""
        if at_once:
            self._tries_at = -math.inf
        self._woken.set()

    def stop(self) -> None:
        """Send no more; the try under way ends with its deadline."""
        self._stopping.set()
        self._woken.set()

    def run(self) -> None:
        """Send until stopped. What fails is tried again."""
        while not self._stopping.is_set():
            self._woken.clear()
            try:
                wait = self._send_next()
            except ServiceUnavailable:
                self._stopping.wait(_AWAY_SECONDS)
                continue
            except Exception as error:  # noqa: BLE001
                # Its text is not logged, since it may contain a password.
                log.error("webhooks to %s: unexpected error: %s", self._target, type(error).__name__)  # noqa: TRY400
                self._stopping.wait(_POLL_SECONDS)
                continue
            if wait and not self._stopping.is_set():
                self._woken.wait(wait)

    def _send_next(self) -> float:
        """Send the oldest message; return after how many seconds to go on."""
        target = self._find(self._target)
        if target is None:
            return _POLL_SECONDS
        with self._session.transaction() as connection:
            message = queue.next_message(connection, self._target)
        if message is None or message["paused_at"] is not None:
            return _POLL_SECONDS
        # Without failures it was resumed meanwhile.
        wait = self._tries_at - time.monotonic()
        if message["failures"] and wait > 0:
            return min(wait, _POLL_SECONDS)
        wait = self._token_seconds(target.per_minute)
        if wait:
            return 0.0 if self._hold_back(target) else wait
        self._try(target, message)
        return 0.0

    def _token_seconds(self, per_minute: int) -> float:
        """Take a token of the bucket; return 0, or after how many seconds there is one."""
        now = time.monotonic()
        earned = (now - self._counted_at) * per_minute / 60
        self._tokens, self._counted_at = min(per_minute, self._tokens + earned), now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) * 60 / per_minute

    def _hold_back(self, target: Target) -> bool:
        """Let one message stand for a flood, and say how many it had; return whether there was one.

        What waits since the target was away is no flood, and is sent as fast as it may be.
        """
        with self._session.transaction() as connection:
            flood = queue.find_flood(connection, target.name, target.per_minute)
            if flood is None:
                return False
            first, last = (shown_time(flood[name]) for name in ("first_at", "last_at"))
            data = json.dumps({"count": flood["count"], "first_at": first, "last_at": last})
            words = {"count": flood["count"], "created_at": last}
            body = body_of(target.template, {"type": "held_back", "timestamp": last}, data, words)
            id = message_id(target.name, "held_back", flood["first_id"], flood["last_id"])
            queue.hold_back(connection, target.name, flood, id, body)
        log.warning("webhooks to %s: %d messages were held back as one", target.name, flood["count"])
        return True

    def _try(self, target: Target, message: Row) -> None:
        try:
            send(target, message["message_id"], message["body"], allow_private=self._allow_private)
        except SendingError as error:
            self._fail(str(error))
            return
        with self._session.transaction() as connection:
            queue.delivered(connection, target.name, message, datetime.now(UTC))

    def _fail(self, failure: str) -> None:
        with self._session.transaction() as connection:
            row = queue.failed(connection, self._target, failure, datetime.now(UTC))
        if row["paused_at"] is not None:
            log.error(
                "webhooks to %s are paused, since it fails for three days (%s). To go on: notify resume",
                *(self._target, failure),
            )
        elif row["failures"] == 1:
            log.warning("webhooks to %s: %s; it will be tried again", self._target, failure)
        growing = min(_FIRST_SECONDS * 2.0 ** min(row["failures"] - 1, 20), _MOST_SECONDS)
        self._tries_at = time.monotonic() + growing * random.uniform(0.8, 1.2)  # noqa: S311

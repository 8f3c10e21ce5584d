"""A thread for each target, which sends what waits for it, one message after the other."""

import json
import logging
import math
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Event, Thread

from wallet_api.database import Database, Row
from wallet_api.errors import ServiceUnavailable
from wallet_api.notify import store
from wallet_api.notify.messages import body_of, message_id
from wallet_api.notify.sending import SendingError, send
from wallet_api.notify.targets import Target

log = logging.getLogger(__name__)

# A target that fails for so long is paused.
PAUSED_AFTER = timedelta(days=3)
_FIRST_SECONDS, _MOST_SECONDS = 1.0, 900.0
_POLL_SECONDS = 1.0
_PAUSED_SECONDS = 5.0

# The target of a name, as the file of rules has it now; None if it has none.
FindTarget = Callable[[str], Target | None]


class Sender(Thread):
    """Sends the messages to one target in their order; the next only when the one before was received."""

    def __init__(self, database: Database, name: str, find: FindTarget, *, allow_private: bool) -> None:
        super().__init__(name=f"webhooks to {name}", daemon=True)
        self.woken, self._stopping = Event(), Event()
        self._database, self._target, self._find = database, name, find
        self._allow_private = allow_private
        # The bucket is full at first.
        self._tokens, self._counted_at = math.inf, time.monotonic()

    def stop(self) -> None:
        """Send no more; the try under way ends with its deadline."""
        self._stopping.set()
        self.woken.set()

    def run(self) -> None:
        """Send until stopped. What fails is tried again."""
        while not self._stopping.is_set():
            try:
                wait = self._send_next()
            except ServiceUnavailable as error:
                log.warning("webhooks to %s: %s", self._target, error.message)
                wait = _POLL_SECONDS
            except Exception as error:  # noqa: BLE001
                # Its text is not logged, since it may contain a password.
                log.error("webhooks to %s: unexpected error: %s", self._target, type(error).__name__)  # noqa: TRY400
                wait = _PAUSED_SECONDS
            if wait:
                self.woken.wait(wait)
            self.woken.clear()

    def _send_next(self) -> float:
        """Send the oldest message; return after how many seconds to go on."""
        target = self._find(self._target)
        if target is None:
            return _PAUSED_SECONDS
        with self._database.write() as connection:
            standing = store.standing(connection, self._target)
            if standing is not None and standing["paused_at"] is not None:
                return _PAUSED_SECONDS
            message = store.next_message(connection, self._target)
        if message is None:
            return _POLL_SECONDS
        wait = self._token_seconds(target.per_minute)
        if wait:
            return wait if self._is_few(target) else self._hold_back(target)
        return self._try(target, message)

    def _token_seconds(self, per_minute: int) -> float:
        """Take a token of the bucket; return 0, or after how many seconds there is one."""
        now = time.monotonic()
        earned = (now - self._counted_at) * per_minute / 60
        self._tokens, self._counted_at = min(per_minute, self._tokens + earned), now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        return (1 - self._tokens) * 60 / per_minute

    def _is_few(self, target: Target) -> bool:
        """Return whether what waits can be sent within a minute."""
        with self._database.write() as connection:
            return store.count_waiting(connection, self._target, target.per_minute + 1) <= target.per_minute

    def _hold_back(self, target: Target) -> float:
        """Replace what waits by one message that says how many there were."""
        with self._database.write() as connection, connection.transaction():
            taken = store.collapse(connection, self._target)
            first, last = (f"{taken[name]:%Y-%m-%dT%H:%M:%SZ}" for name in ("first_at", "last_at"))
            id = message_id(self._target, "held_back", taken["first_id"], taken["last_id"])
            data = json.dumps({"count": taken["count"], "first_at": first, "last_at": last})
            words = {"count": taken["count"], "created_at": last}
            body = body_of(target.template, {"type": "held_back", "timestamp": last}, data, words)
            store.add_body(connection, self._target, "", id, body, taken["last_at"])
        log.warning("webhooks to %s: %d messages were held back as one", self._target, taken["count"])
        return 60 / target.per_minute

    def _try(self, target: Target, message: Row) -> float:
        try:
            send(target, message["message_id"], message["body"], allow_private=self._allow_private)
        except SendingError as error:
            return self._fail(str(error))
        with self._database.write() as connection:
            store.delivered(connection, self._target, message, datetime.now(UTC))
        return 0.0

    def _fail(self, failure: str) -> float:
        now = datetime.now(UTC)
        with self._database.write() as connection:
            row = store.failed(connection, self._target, failure, now)
            is_over = now - row["failing_since"] >= PAUSED_AFTER
            if is_over:
                store.pause(connection, self._target, now)
        if is_over:
            log.error(
                "webhooks to %s are paused, since it fails for three days (%s). To go on: notify resume",
                *(self._target, failure),
            )
        elif row["failures"] == 1:
            log.warning("webhooks to %s: %s; it will be tried again", self._target, failure)
        growing = _FIRST_SECONDS * 2.0 ** min(row["failures"] - 1, 20)
        # A wake is for new messages, not for the one that failed.
        self._stopping.wait(min(growing, _MOST_SECONDS) * random.uniform(0.8, 1.2))  # noqa: S311
        return 0.0

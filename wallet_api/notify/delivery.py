"""A thread for each target, which sends what waits for it, one message after the other."""

import logging
import math
import random
import time
from datetime import UTC, datetime
from threading import Event, Thread

from wallet_api.base.errors import ServiceUnavailable
from wallet_api.base.times import shown_time
from wallet_api.database import Row
from wallet_api.notify import queue
from wallet_api.notify.events import MessageType
from wallet_api.notify.messages import body_of, content_of_many, event_id, message_id
from wallet_api.notify.rules_file import RulesFile
from wallet_api.notify.sending import SendingOutcome, send_message
from wallet_api.notify.session import Session
from wallet_api.notify.targets import Target

log = logging.getLogger(__name__)

_FIRST_SECONDS, _MOST_SECONDS = 1.0, 900.0
# As often it checks whether an operator resumed the target.
_POLL_SECONDS = 5.0
# The database is away, of which the process logs once, and not each of its threads.
_AWAY_SECONDS = 1.0

# So often a message is tried that its receiver refuses.
_TRIES = 5


class Sender(Thread):
    """Sends the messages to one target in their order; the next only when the one before was received."""

    def __init__(self, session: Session, name: str, rules: RulesFile) -> None:
        super().__init__(name=f"webhooks to {name}", daemon=True)
        self._session, self._target, self._rules = session, name, rules
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
        target = self._rules.targets.get(self._target)
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
            data = {"count": flood["count"], "first_at": first, "last_at": last}
            body = body_of(target, content_of_many(MessageType.HELD_BACK, "", flood["last_at"], data))
            # What it stands for has ids of this target.
            id = message_id(event_id(MessageType.HELD_BACK, flood["first_id"], flood["last_id"]), target.name)
            queue.hold_back(connection, target.name, flood, id, body)
        log.warning("webhooks to %s: %d messages were held back as one", target.name, flood["count"])
        return True

    def _try(self, target: Target, message: Row) -> None:
        private = self._rules.allow_private
        outcome = send_message(target, message["message_id"], message["body"], allow_private=private)
        now = datetime.now(UTC)
        with self._session.transaction() as connection:
            if not outcome.failure:
                queue.delivered(connection, target.name, message, now)
                return
            is_last = outcome.is_aborted or message["refusals"] + 1 >= _TRIES
            if outcome.is_refused and is_last:
                state = queue.set_aside(connection, target.name, message, outcome, now)
            else:
                if outcome.is_refused:
                    queue.refused(connection, message)
                state = queue.failed(connection, target.name, outcome.failure, now, pauses=outcome.is_gone)
        if outcome.is_refused and is_last:
            log.warning(
                "webhooks to %s: %s of %s is set aside, since it is refused (%s): notify status",
                *(target.name, message["message_id"], message["rule"] or "held_back", outcome.failure),
            )
        else:
            self._wait_for_next(outcome, state)
        if state["paused_at"] is not None:
            log.error(
                "webhooks to %s are paused (%s). To go on: notify resume", self._target, outcome.failure
            )

    def _wait_for_next(self, outcome: SendingOutcome, state: Row) -> None:
        """Set when what failed is tried again."""
        if state["failures"] == 1:
            log.warning("webhooks to %s: %s; it will be tried again", self._target, outcome.failure)
        growing = min(_FIRST_SECONDS * 2.0 ** min(state["failures"] - 1, 20), _MOST_SECONDS)
        wait = growing * random.uniform(0.8, 1.2)  # noqa: S311
        self._tries_at = time.monotonic() + (wait if outcome.pause_seconds is None else outcome.pause_seconds)

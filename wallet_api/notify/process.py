"""The process of webhooks: it follows the feed, and has a thread for each target."""

import logging
import threading
import time

from wallet_api.base.errors import InvalidParameter, ServiceUnavailable
from wallet_api.database import Database, NotPermitted
from wallet_api.notify import queue, reports
from wallet_api.notify.delivery import Sender
from wallet_api.notify.feed import Feed
from wallet_api.notify.rules_file import RulesFile
from wallet_api.notify.session import AlreadyRunning, Session

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
_RETRY_SECONDS, _MOST_RETRY_SECONDS = 1.0, 30.0
# The session of a killed process keeps its lock until its statement ends; that of a machine that has
# disappeared, until the server notices.
_START_SECONDS, _TAKEN_SECONDS = 3.0, 60.0
_STOP_SECONDS = 2.0


class Process:
    """Follows the feed and sends what the rules report of it."""

    def __init__(self, session: Session, database: Database, rules: RulesFile) -> None:
        self._session, self._rules = session, rules
        self._feed = Feed(session, database)
        self._senders: dict[str, Sender] = {}
        self._failures, self._failing_since = 0, 0.0
        # When the lock was last its own, or it was not known whose it is.
        self._taken_since = time.monotonic()

    def run(self, stopping: threading.Event, *, from_now: bool) -> None:
        """Run until stopped, from where it was or from now on.

        Raises InvalidParameter if the feed has no such place, and AlreadyRunning.
        """
        self._begin(stopping, from_now=from_now)
        log.warning("notify: %d rules, %d targets", len(self._rules.rules), len(self._rules.targets))
        self._start_senders()
        try:
            while not stopping.is_set():
                if self._rules.refresh():
                    self._start_senders()
                stopping.wait(self._follow())
        finally:
            for sender in self._senders.values():
                sender.stop()
            for sender in self._senders.values():
                sender.join(_STOP_SECONDS)

    def _begin(self, stopping: threading.Event, *, from_now: bool) -> None:
        """Acquire the lock. Raises AlreadyRunning, DatabaseUnavailable."""
        ends_at = time.monotonic() + _START_SECONDS
        has_begun = False
        while not has_begun and not stopping.is_set():
            try:
                with self._session.transaction() as connection:
                    self._report_strangers(queue.read_status(connection))
                    if from_now:
                        reports.forget_place(connection)
                has_begun = True
            except AlreadyRunning:
                if time.monotonic() > ends_at:
                    raise
                stopping.wait(POLL_SECONDS)

    def _report_strangers(self, targets: list[dict[str, object]]) -> None:
        for row in targets:
            if row["waiting"] and row["target"] not in self._rules.targets:
                log.warning(
                    "notify: %s messages wait for %s, which is no target of the rules: notify resume --drop",
                    *(row["waiting"], row["target"]),
                )

    def _start_senders(self) -> None:
        """Start a thread for each target that has none, and let all go on by the rules that were read.

        That of a target that is gone waits for it, so that a target never has two.
        """
        for name in self._rules.targets.keys() - self._senders.keys():
            self._senders[name] = Sender(self._session, name, self._rules)
            self._senders[name].start()
        for sender in self._senders.values():
            sender.wake(at_once=True)

    def _follow(self) -> float:
        """Save what is reported of the next changes; return after how many seconds to go on."""
        try:
            read = self._feed.follow(self._rules)
        except (InvalidParameter, NotPermitted):
            raise
        except ServiceUnavailable as error:
            return self._fail(error, error.message)
        except Exception as error:  # noqa: BLE001
            # Its text is not logged, since it may contain a password.
            return self._fail(error, f"unexpected error: {type(error).__name__}")
        self._taken_since = time.monotonic()
        if self._failures:
            log.warning("notify: goes on after %.0f seconds", time.monotonic() - self._failing_since)
            self._failures = 0
        if not read:
            return POLL_SECONDS
        for sender in self._senders.values():
            sender.wake()
        return 0.0

    def _fail(self, error: Exception, text: str) -> float:
        now = time.monotonic()
        if not self._failures:
            self._failing_since = now
        if not isinstance(error, AlreadyRunning):
            self._taken_since = now
        elif now - self._taken_since > _TAKEN_SECONDS:
            raise error
        self._failures += 1
        wait = min(_RETRY_SECONDS * 2.0 ** min(self._failures - 1, 10), _MOST_RETRY_SECONDS)
        log.warning("notify: %s Next try in %.0f s.", text, wait)
        return wait

"""The process of webhooks: it follows the feed, and has a thread for each target."""

import logging
import threading
from pathlib import Path

from wallet_api.database import Database
from wallet_api.errors import ServiceUnavailable
from wallet_api.notify.delivery import Sender
from wallet_api.notify.following import follow
from wallet_api.notify.rules import Rules, RulesError, read_rules
from wallet_api.notify.targets import Target

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
_RETRY_SECONDS = 2.0


class CurrentRules:
    """The rules of a file, read again once they are expired. Raises RulesError at first."""

    def __init__(self, path: Path, *, allow_private: bool) -> None:
        self.allow_private = allow_private
        self._path = path
        self._is_expired = False
        self.value = self._read()

    def _read(self) -> Rules:
        return read_rules(self._path, allow_private=self.allow_private)

    def expire(self) -> None:
        """Have the file read again. A signal handler may call it: it takes no lock."""
        self._is_expired = True

    def refresh(self) -> None:
        """Read the file again if it is expired. With faults the rules stay as they are."""
        if self._is_expired:
            self._is_expired = False
            try:
                self.value = self._read()
                log.warning("notify: read %d rules", len(self.value.rules))
            except RulesError as error:
                log.error("notify: the rules stay as they were: %s", error)  # noqa: TRY400

    def find(self, target: str) -> Target | None:
        """Return a target by its name."""
        return self.value.targets.get(target)


def run(database: Database, rules: CurrentRules, stopping: threading.Event) -> None:
    """Follow the feed and send what the rules report of it, until stopped. Raises CursorUnknown."""
    senders: dict[str, Sender] = {}
    log.warning("notify: %d rules, %d targets", len(rules.value.rules), len(rules.value.targets))
    try:
        while not stopping.is_set():
            rules.refresh()
            for name in rules.value.targets.keys() - senders:
                senders[name] = Sender(database, name, rules.find, allow_private=rules.allow_private)
                senders[name].start()
            stopping.wait(_follow(database, rules.value, senders))
    finally:
        for sender in senders.values():
            sender.stop()
        for sender in senders.values():
            sender.join(_RETRY_SECONDS)


def _follow(database: Database, rules: Rules, senders: dict[str, Sender]) -> float:
    """Save what is reported of the next changes; return after how many seconds to go on."""
    try:
        read = follow(database, rules)
    except ServiceUnavailable as error:
        log.warning("notify: %s", error.message)
        return _RETRY_SECONDS
    if not read:
        return POLL_SECONDS
    for sender in senders.values():
        sender.woken.set()
    return 0.0

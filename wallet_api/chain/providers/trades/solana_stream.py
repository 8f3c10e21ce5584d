"""Notifications of a Solana node over one websocket: the transactions of many wallets."""

import logging
import threading
import time
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from websockets.sync.client import connect

from wallet_api.chain.providers.trades.solana_subscriptions import TRANSACTIONS, Subscriptions
from wallet_api.chain.providers.trades.source import Notice

log = logging.getLogger(__name__)

_SUBSCRIBE_SECONDS = 0.2
_STOP_SECONDS = 2.0
_LONGEST_PAUSE_SECONDS = 60.0
# A transaction has a few hundred accounts and balances at most, so a message some hundred kB.
_LIMITS: dict[str, Any] = {"open_timeout": 10.0, "close_timeout": 1.0, "max_size": 4 * 1024 * 1024}


class _SilentError(Exception):
    """The node sends nothing any more."""


class SolanaStream:
    """Watches addresses over a websocket, in a thread of its own, and connects again when it is lost.

    It uses transactionSubscribe if the node has it, else logsSubscribe for each of the first `most_logs`
    addresses. `deliver` is called with each notice, and must not block. A connection without a new slot for
    `silence_seconds` counts as lost.
    """

    def __init__(
        self, url: str, most_logs: int, silence_seconds: float, deliver: Callable[[Notice], None]
    ) -> None:
        self._url = url
        self._most_logs = most_logs
        self._silence_seconds = silence_seconds
        self._deliver = deliver
        self._stopping = threading.Event()
        self._wanted: dict[str, None] = {}
        self._session: Subscriptions | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.method = TRANSACTIONS
        self.reconnects = 0
        # At DEBUG it logs paths, which may contain a key.
        logging.getLogger("websockets").setLevel(logging.INFO)

    def start(self) -> None:
        """Connect."""
        self._thread.start()

    def close(self) -> None:
        """Close the connection, and wait a moment for it."""
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)

    def watch(self, addresses: Collection[str]) -> None:
        """Watch these addresses, the first ones if the node does not allow all, and leave all others."""
        self._wanted = dict.fromkeys(addresses)

    def watched(self) -> dict[str, datetime]:
        """Return the addresses that are watched without a gap, each with the time since when."""
        session = self._session
        return {} if session is None else dict(session.watched)

    @property
    def is_connected(self) -> bool:
        """Return whether the connection is open."""
        return self._session is not None

    def _run(self) -> None:
        first_pause = pause = self._silence_seconds / 10
        while not self._stopping.is_set():
            try:
                with connect(self._url, **_LIMITS) as socket:
                    self._session = Subscriptions(socket, self.method, self._most_logs, self._deliver)
                    self._serve(self._session)
            except Exception as error:  # noqa: BLE001
                # The thread goes on after any error. The messages may contain the URL, and so a key.
                log.warning("solana is not watched: %s", type(error).__name__)
            finally:
                has_watched, self._session = bool(self.watched()), None
            if has_watched:
                pause = first_pause
            self._stopping.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            self.reconnects += not self._stopping.is_set()

    def _serve(self, session: Subscriptions) -> None:
        subscribed_at = -_SUBSCRIBE_SECONDS
        while not self._stopping.is_set():
            if time.monotonic() - subscribed_at > _SUBSCRIBE_SECONDS:
                subscribed_at = time.monotonic()
                session.subscribe(self._wanted)
                self.method = session.method
                if session.is_silent(self._silence_seconds):
                    raise _SilentError
            session.receive()

"""The rounds of `wallet-api sync`, and their output and log lines."""

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.base.times import shown_time
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.sync import report
from wallet_api.chain.sync.report import SyncName
from wallet_api.chain.sync.schedule import repeat, stopped_by_signals
from wallet_api.chain.sync.session import SyncRunning, sole_session
from wallet_api.chain.sync.summaries import SOME_FAILED, RoundSummary
from wallet_api.database import Connection, NotPermitted
from wallet_api.database.migrations import SchemaError
from wallet_api.operate.cli.environment import require_tables
from wallet_api.operate.cli.output import print_json, raised_at
from wallet_api.operate.log_lines import drop_unwritable, formatter
from wallet_api.settings import Settings

_RECONNECT_SECONDS = 2.0
# The session of a killed process keeps its lock until its statement ends.
_LOCK_SECONDS = 3.0
_POLL_SECONDS = 0.5

_PROGRESS = "wallet_api.chain.sync.progress"

log = logging.getLogger("wallet_api.chain.sync")


@dataclass(frozen=True, slots=True)
class Work:
    """The rounds of one session, and the chains that it syncs (none for prices).

    The requests of a round are counted by the paces. With `watch_seconds` it repeats with that period, and
    reports only the first round and those with news.
    """

    sync: SyncName
    chains: Sequence[str]
    paces: Sequence[Pace]
    round: Callable[[Connection, threading.Event], RoundSummary]
    watch_seconds: float | None = None

    def measured_round(self, connection: Connection, stopping: threading.Event) -> RoundSummary:
        """Return the summary of a round, with its requests and seconds."""
        started, requests = time.monotonic(), self._requests()
        summary = self.round(connection, stopping)
        summary.requests = self._requests() - requests
        summary.seconds = round(time.monotonic() - started, 1)
        return summary

    def _requests(self) -> int:
        return sum(pace.calls for pace in self.paces)

    def __str__(self) -> str:
        """Return a readable name."""
        some = 0 < len(self.chains) < len(CHAINS)
        return f"{self.sync} of {', '.join(self.chains)}" if some else self.sync


def log_to_stderr(settings: Settings, stack: ExitStack, *, verbose: bool) -> None:
    """Log warnings and long rounds to standard error until the stack is closed; with `verbose`, all."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(settings))
    drop_unwritable(handler)
    if not verbose:
        handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == _PROGRESS)
        # This logger reports single pages; the sync logs the result of the wallet.
        handler.addFilter(lambda record: record.name != "wallet_api.chain.providers.fetch")
    root = logging.getLogger()
    root.addHandler(handler)
    stack.callback(root.removeHandler, handler)
    logging.getLogger("wallet_api").setLevel(logging.INFO)


def write_sync_note(settings: Settings, text: str, *, dated: bool) -> None:
    """Write a line to standard error: as a log line if LOG_FORMAT is json or `dated`, else plain."""
    if dated or settings.log_format == "json":
        text = _log_line(settings, text)
    click.echo(text, err=True)


def run_rounds(
    settings: Settings, works: Sequence[Work], every: float | None, as_json: bool, wait: bool
) -> None:
    """Run each work until it is done or a signal stops it; several run in parallel.

    Exit with the status of the command unless it is 0.
    """
    with stopped_by_signals() as stopping:

        def do(work: Work) -> int:
            rounds = _Rounds(settings, work, work.watch_seconds or every, as_json=as_json)
            try:
                return rounds.run(stopping, waits=wait)
            except BaseException:
                if every is not None:
                    # If one work fails, stop the others: the operator must notice.
                    stopping.set()
                raise

        if len(works) == 1:
            statuses = [do(works[0])]
        else:
            with ThreadPoolExecutor(len(works)) as executor:
                statuses = list(executor.map(do, works))
    if every is None and any(statuses):
        sys.exit(1 if set(statuses) == {1} else SOME_FAILED)


class _Rounds:
    """The rounds of a work, one or one `every` some seconds, and what is written of them."""

    def __init__(self, settings: Settings, work: Work, every: float | None, *, as_json: bool) -> None:
        self._settings = settings
        self._work = work
        self._every = every
        self._as_json = as_json
        self._has_begun = self._is_reported = self._is_dropped = False

    def run(self, stopping: threading.Event, *, waits: bool) -> int:
        """Return the exit status; 0 if it is stopped before it could begin.

        After an error the rounds go on, but for one that would come again, or at the first one.
        """
        started = time.monotonic()
        while not stopping.is_set():
            try:
                return self._session(stopping)
            except SyncRunning:
                if not waits and time.monotonic() > started + _LOCK_SECONDS:
                    raise
                pause = _POLL_SECONDS
            except (click.ClickException, NotPermitted, SchemaError):
                raise
            except ServiceUnavailable as error:
                # At the start, a wrong address must be reported at once.
                if self._every is None or not (self._has_begun or waits):
                    raise
                log.warning("sync %s: %s", self._work, error.message)
                pause = _RECONNECT_SECONDS
            except Exception as error:
                if self._every is None:
                    raise
                # The next round may succeed. The message is not logged, since it may contain a password.
                what = self._work, type(error).__name__, raised_at(error)
                log.error("sync %s: unexpected error: %s at %s", *what)  # noqa: TRY400
                pause = max(self._every, _RECONNECT_SECONDS)
            stopping.wait(pause)
        return 0

    def _session(self, stopping: threading.Event) -> int:
        """Repeat the rounds in a session of the database, and return the status of the last one."""
        work = self._work
        with sole_session(str(self._settings.database_url), work.sync, work.chains) as connection:
            require_tables(connection)
            report.begin_sync(connection, work.sync, work.chains or CHAINS, datetime.now(UTC))
            self._has_begun = True
            return repeat(lambda: self._round(connection, stopping), self._every, stopping).status

    def _round(self, connection: Connection, stopping: threading.Event) -> RoundSummary:
        summary = self._work.measured_round(connection, stopping)
        if summary.is_idle and self._is_reported and self._work.watch_seconds:
            return summary
        try:
            self._report(summary)
            self._is_dropped = False
        except OSError as error:
            # What is imported stays so, and the next round needs no output.
            if self._every is None:
                raise
            if not self._is_dropped:
                log.error("sync %s: reports are dropped: %s", self._work, error.strerror)  # noqa: TRY400
            self._is_dropped = True
        self._is_reported = True
        return summary

    def _report(self, summary: RoundSummary) -> None:
        data = {"job": self._work.sync} | summary.data()
        if self._as_json:
            print_json({"at": shown_time(datetime.now(UTC))} | data)
        elif self._every is not None or self._settings.log_format == "json":
            click.echo(_log_line(self._settings, f"{self._work}: {summary.words()}", data))
        else:
            click.echo(f"{str(self._work).capitalize()}: {summary.words()}")


def _log_line(settings: Settings, text: str, data: dict[str, Any] | None = None) -> str:
    extra = {"more": data} if data else None
    record = log.makeRecord(log.name, logging.INFO, "", 0, "%s", (text,), None, extra=extra)
    return formatter(settings).format(record)

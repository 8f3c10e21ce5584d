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

from wallet_api.chains import CHAINS
from wallet_api.cli.environment import require_tables
from wallet_api.cli.output import print_json, raised_at
from wallet_api.database import Connection, NotPermitted
from wallet_api.errors import ServiceUnavailable
from wallet_api.log_lines import drop_unwritable, formatter
from wallet_api.migrations import SchemaError
from wallet_api.providers.pace import Pace
from wallet_api.settings import Settings
from wallet_api.sync import report
from wallet_api.sync.report import SyncName
from wallet_api.sync.schedule import repeat, stopped_by_signals
from wallet_api.sync.session import SyncRunning, sole_session
from wallet_api.sync.summaries import SOME_FAILED, RoundSummary
from wallet_api.times import shown_time

_RECONNECT_SECONDS = 2.0
# The session of a killed process keeps its lock until its statement ends.
_LOCK_SECONDS = 3.0
_POLL_SECONDS = 0.5

log = logging.getLogger("wallet_api.sync")


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
        handler.addFilter(
            lambda record: record.levelno >= logging.WARNING or record.name == "wallet_api.sync.progress"
        )
        # This logger reports single pages; the sync logs the result of the wallet.
        handler.addFilter(lambda record: record.name != "wallet_api.providers.fetch")
    root = logging.getLogger()
    root.addHandler(handler)
    stack.callback(root.removeHandler, handler)
    logging.getLogger("wallet_api").setLevel(logging.INFO)


def write_sync_note(settings: Settings, text: str, *, dated: bool) -> None:
    """Write a line to standard error: as a log line if LOG_FORMAT is json or `dated`, else plain."""
    if dated or settings.log_format == "json":
        text = _log_line(settings, text)
    click.echo(text, err=True)


def run(settings: Settings, works: Sequence[Work], every: float | None, as_json: bool, wait: bool) -> None:
    """Run each work until it is done or a signal stops it; several run in parallel.

    Exit with the status of the command unless it is 0.
    """
    with stopped_by_signals() as stopping:

        def do(work: Work) -> int:
            try:
                return _rounds(settings, work, stopping, every, as_json, wait)
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


def _rounds(
    settings: Settings, work: Work, stopping: threading.Event, every: float | None, as_json: bool, wait: bool
) -> int:
    every = work.watch_seconds or every
    reported = is_dropped = False

    def one() -> RoundSummary:
        nonlocal reported, is_dropped
        summary = work.measured_round(connection, stopping)
        if not (summary.is_idle and reported and work.watch_seconds):
            try:
                _report(work, settings, summary, as_json, goes_on=every is not None)
                is_dropped = False
            except OSError as error:
                # What is imported stays so, and the next round needs no output.
                if every is None:
                    raise
                if not is_dropped:
                    log.error("sync %s: reports are dropped: %s", work, error.strerror)  # noqa: TRY400
                is_dropped = True
            reported = True
        return summary

    worked = False
    started = time.monotonic()
    while not stopping.is_set():
        try:
            with sole_session(str(settings.database_url), work.sync, work.chains) as connection:
                require_tables(connection)
                report.begin_sync(connection, work.sync, work.chains or CHAINS, datetime.now(UTC))
                worked = True
                return repeat(one, every, stopping).status
        except SyncRunning as error:
            if not wait and time.monotonic() > started + _LOCK_SECONDS:
                raise click.ClickException(str(error)) from None
            stopping.wait(_POLL_SECONDS)
        except (click.ClickException, NotPermitted, SchemaError):
            raise
        except ServiceUnavailable as error:
            # At the start, a wrong address must be reported at once.
            if every is None or not (worked or wait):
                raise
            log.warning("sync %s: %s", work, error.message)
            stopping.wait(_RECONNECT_SECONDS)
        except Exception as error:
            if every is None:
                raise
            # The next round may succeed. The message is not logged, since it may contain a password.
            name = type(error).__name__
            log.error("sync %s: unexpected error: %s at %s", work, name, raised_at(error))  # noqa: TRY400
            stopping.wait(max(every, _RECONNECT_SECONDS))
    return 0


def _report(work: Work, settings: Settings, summary: RoundSummary, as_json: bool, *, goes_on: bool) -> None:
    data = {"job": work.sync} | summary.data()
    if as_json:
        print_json({"at": shown_time(datetime.now(UTC))} | data)
    elif goes_on or settings.log_format == "json":
        click.echo(_log_line(settings, f"{work}: {summary.words()}", data))
    else:
        click.echo(f"{str(work).capitalize()}: {summary.words()}")


def _log_line(settings: Settings, text: str, data: dict[str, Any] | None = None) -> str:
    extra = {"more": data} if data else None
    record = log.makeRecord(log.name, logging.INFO, "", 0, "%s", (text,), None, extra=extra)
    return formatter(settings).format(record)

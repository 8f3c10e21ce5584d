"""`wallet-api sync trades|prices`: bring the ledger up to date from outside, once or again and again."""

import logging
import math
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import orjson

from wallet_api import migrations
from wallet_api.chains import CHAINS
from wallet_api.cli.environment import settings_with_database
from wallet_api.database import Connection
from wallet_api.errors import ServiceUnavailable
from wallet_api.logs import formatter
from wallet_api.settings import Settings
from wallet_api.sync.heartbeats import Job
from wallet_api.sync.pace import Pace
from wallet_api.sync.reports import prices_data, prices_words, trades_data, trades_words
from wallet_api.sync.rounds import TradesSync
from wallet_api.sync.schedule import repeat, stopped_by_signals
from wallet_api.sync.session import AlreadyRunning, Stopped, sole_session
from wallet_api.sync.wiring import Reading, price_sources, trade_sources

SOME_FAILED = 3

_RECONNECT_SECONDS = 2.0
_FILL_SECONDS = 3600.0
_FAILED_FILL_SECONDS = 300.0
_SPAN = re.compile(r"([1-9]\d{0,5})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}

log = logging.getLogger("wallet_api.sync")

# One round: the seconds to pause after it at least, its summary in words and as data, and its exit status.
Round = Callable[[Connection, threading.Event], tuple[float, str, dict[str, Any], int]]


@dataclass(frozen=True, slots=True)
class Work:
    """What one session does round by round, and for which chains if it is theirs."""

    job: Job
    chains: Sequence[str]
    round: Round

    def __str__(self) -> str:
        """Its name for people."""
        some = 0 < len(self.chains) < len(CHAINS)
        return f"{self.job} of {', '.join(self.chains)}" if some else self.job


class _Since(click.ParamType[datetime]):
    name = "30d|12h|DATE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        now = datetime.now(UTC)
        span = _SPAN.fullmatch(value)
        try:
            moment = (
                now - timedelta(**{_UNITS[span[2]]: int(span[1])}) if span else datetime.fromisoformat(value)
            )
        except (ValueError, OverflowError):
            self.fail("must be such as 30d, 12h, 2026-10-01 or 2026-10-01T12:00:00Z", param, ctx)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not datetime(2009, 1, 3, tzinfo=UTC) <= moment <= now:
            self.fail("must be a time in the past", param, ctx)
        return moment


def _common(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Log each row that is left out, and each call."),
        click.option(
            "--wait", is_flag=True, help="Wait for another one that is at work to end, and for the database."
        ),
        click.option("--json", "as_json", is_flag=True, help="Print each round's summary as JSON."),
        click.option(
            "--since",
            type=_Since(),
            default="30d",
            show_default=True,
            help="How far back.",
        ),
        click.option("--every", type=click.FloatRange(min=1), help="Go on, so many seconds a round."),
    ):
        command = option(command)
    return command


@click.group()
def sync() -> None:
    """Bring the ledger up to date from outside: trades from Moralis or, for Solana, from a node; prices
    from CoinGecko and Binance.

    Exit status: 0 all is up to date, 3 some of it is not, 1 nothing could be done. With --every it runs
    until SIGTERM or Ctrl-C, and ends between two wallets.
    """


@sync.command("trades")
@click.option("--chain", "chains", multiple=True, type=click.Choice(tuple(CHAINS)), help="Only this chain.")
@_common
def sync_trades(chains: tuple[str, ...], since: datetime, **options: Any) -> None:
    """Take in the new swaps of every tracked wallet; of a new wallet, those since --since.

    Running it again, or killing it, never makes a trade count twice or get lost.
    """
    with _ready(options) as (settings, stack):
        readings = stack.enter_context(trade_sources(settings, chains))
        prices, _ = stack.enter_context(price_sources(settings))
        told = [chain for reading in readings for chain in reading.chains]
        if not chains and len(told) < len(CHAINS):
            left_out = ", ".join(chain for chain in CHAINS if chain not in told)
            log.warning("sync trades: nothing is set up for %s", left_out)

        def work_on(reading: Reading) -> Work:
            job = TradesSync(
                source=reading.source,
                prices=prices,
                chains=reading.chains,
                since=since,
                overlap=timedelta(seconds=settings.sync_overlap_seconds),
                threads=settings.sync_threads,
                turn_seconds=options["every"] or math.inf,
            )
            # Two bars would write over each other.
            bar = sys.stderr.isatty() and settings.log_format == "text" and len(readings) == 1
            return Work("trades", reading.chains, _trades_round(job, reading.pace, bar=bar))

        _run(settings, [work_on(reading) for reading in readings], **options)


def _trades_round(job: TradesSync, pace: Pace, *, bar: bool) -> Round:
    def one(connection: Connection, stopping: threading.Event) -> tuple[float, str, dict[str, Any], int]:
        started, calls = time.monotonic(), pace.calls
        with _bar() if bar else nullcontext(_unseen) as progress:
            summary = job.round(connection, stopping, progress)
        data = {"chains": list(job.chains)} | trades_data(summary) | {"requests": pace.calls - calls}
        data["seconds"] = round(time.monotonic() - started, 1)
        status = 0 if summary.synced == summary.wallets else SOME_FAILED if summary.synced else 1
        return summary.pause_seconds, trades_words(data), data, status

    return one


@sync.command("prices")
@_common
def sync_prices(since: datetime, **options: Any) -> None:
    """Take in the price of now of SOL, BNB and ETH, and those of past hours that have none.

    Past are all hours since --since, and those of trades without a dollar value, which get one by it.
    """
    with _ready(options) as (settings, stack):
        prices, paces = stack.enter_context(price_sources(settings))
        fill_at = 0.0

        def one(connection: Connection, stopping: threading.Event) -> tuple[float, str, dict[str, Any], int]:
            nonlocal fill_at
            started, calls = time.monotonic(), sum(pace.calls for pace in paces.values())
            fill = started >= fill_at
            summary = prices.round(connection, since if fill else None)
            if fill:
                # The past hardly changes: what nobody has now, nobody will have a minute later.
                fill_at = started + (_FAILED_FILL_SECONDS if summary.failures else _FILL_SECONDS)
            data = prices_data(summary) | {"requests": sum(pace.calls for pace in paces.values()) - calls}
            data["seconds"] = round(time.monotonic() - started, 1)
            nothing = summary.missing and not summary.changed
            status = 1 if nothing else SOME_FAILED if summary.missing or summary.missing_hours else 0
            return 0.0, prices_words(data), data, status

        _run(settings, [Work("prices", (), one)], **options)


@contextmanager
def _ready(options: dict[str, Any]) -> Iterator[tuple[Settings, ExitStack]]:
    verbose = options.pop("verbose")
    with settings_with_database() as settings, ExitStack() as stack:
        _log_to_stderr(settings, stack, verbose=verbose)
        yield settings, stack


def _log_to_stderr(settings: Settings, stack: ExitStack, *, verbose: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(settings))
    if not verbose:
        handler.setLevel(logging.WARNING)
        # It speaks of holdings and of single pages; what becomes of a wallet is logged here.
        handler.addFilter(lambda record: record.name != "wallet_api.holdings.fetch")
    root = logging.getLogger()
    root.addHandler(handler)
    stack.callback(root.removeHandler, handler)
    logging.getLogger("wallet_api").setLevel(logging.INFO)


def _run(settings: Settings, works: Sequence[Work], every: float | None, as_json: bool, wait: bool) -> None:
    """Do each work until it is done or we are asked to stop; those of different sources side by side."""
    with stopped_by_signals() as stopping:

        def do(work: Work) -> int:
            try:
                return _rounds(settings, work, stopping, every, as_json, wait)
            except BaseException:
                if every is not None:
                    # Half of what was asked for is not what was asked for: whoever started us shall know.
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
    status = 0
    worked = False
    url = str(settings.database_url)
    while not stopping.is_set():
        try:
            with sole_session(url, work.job, work.chains, stopping, wait=wait) as connection:
                if migrations.pending(connection):
                    raise click.ClickException(
                        "The tables are not up to date: run 'wallet-api migrate' first."
                    )
                worked = True

                def one(connection: Connection = connection) -> float:
                    nonlocal status
                    pause, words, data, status = work.round(connection, stopping)
                    _report(work, settings, words, data, as_json, goes_on=every is not None)
                    return pause

                repeat(one, every, stopping)
            break
        except AlreadyRunning as error:
            raise click.ClickException(str(error)) from None
        except click.ClickException:
            raise
        except Stopped:
            break
        except ServiceUnavailable as error:
            # Whoever starts it and watches shall know at once that the address is wrong.
            if every is None or not (worked or wait):
                raise
            log.warning("sync %s: %s", work, error.message)
            stopping.wait(_RECONNECT_SECONDS)
        except Exception as error:
            if every is None:
                raise
            # What nobody foresaw costs a round, and not all that would follow. Its message stays
            # untold, since it may hold a password.
            place = traceback.extract_tb(error.__traceback__)[-1]
            log.error(  # noqa: TRY400
                "sync %s: %s at %s:%s", work, type(error).__name__, Path(place.filename).name, place.lineno
            )
            stopping.wait(max(every, _RECONNECT_SECONDS))
    return status


def _unseen(done: int, of: int) -> None:
    """No bar, where nobody looks at one."""


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    with click.progressbar(length=1, label="Wallets", file=sys.stderr) as bar:

        def progress(done: int, of: int) -> None:
            bar.length = of
            bar.update(done - bar.pos)

        yield progress


def _report(
    work: Work, settings: Settings, words: str, data: dict[str, Any], as_json: bool, *, goes_on: bool
) -> None:
    if as_json:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        click.echo(orjson.dumps({"job": work.job, "at": now} | data))
    elif goes_on or settings.log_format == "json":
        more = {"more": {"job": work.job} | data}
        record = log.makeRecord(log.name, logging.INFO, "", 0, "%s: %s", (work, words), None, extra=more)
        click.echo(formatter(settings).format(record))
    else:
        click.echo(f"{str(work).capitalize()}: {words}")

"""`wallet-api sync trades|prices`: import new trades and prices from providers, once or repeatedly."""

import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import click

from wallet_api.chains import CHAINS
from wallet_api.cli.environment import settings_with_database
from wallet_api.cli.output import json_option, progress_bar
from wallet_api.cli.sync_rounds import (
    SOME_FAILED,
    Outcome,
    Round,
    Work,
    log,
    log_to_stderr,
    run,
    write_sync_note,
)
from wallet_api.cli.sync_status import sync_status
from wallet_api.database import Connection
from wallet_api.settings import Settings
from wallet_api.sync.reports import prices_data, prices_words, trades_data, trades_words
from wallet_api.sync.rounds import TradesSync
from wallet_api.sync.sources import Reading, price_sources, trade_sources

_FILL_SECONDS = 3600.0
_FAILED_FILL_SECONDS = 300.0
_SPAN = re.compile(r"([1-9]\d{0,5})([dhm])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


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
        click.option("-v", "--verbose", is_flag=True, help="Log each skipped row and each request."),
        click.option(
            "--wait", is_flag=True, help="Wait until no other sync of this kind runs, and for the database."
        ),
        json_option,
        click.option(
            "--since",
            type=_Since(),
            default="30d",
            show_default=True,
            help="Import from this time on.",
        ),
        click.option("--every", type=click.FloatRange(min=1), help="Repeat with this period in seconds."),
    ):
        command = option(command)
    return command


@click.group()
def sync() -> None:
    """Import new trades and prices from providers.

    Trades come from Moralis or, for Solana, from a JSON-RPC node; prices from CoinGecko and Binance.

    Exit status: 0 everything is up to date, 3 a part is not, or something is newly left out, 1 the sync
    failed. With --every it runs until SIGTERM or Ctrl-C, and then stops after the current wallet.
    """


sync.add_command(sync_status)


@sync.command("trades")
@click.option("--chain", "chains", multiple=True, type=click.Choice(tuple(CHAINS)), help="Only this chain.")
@_common
def sync_trades(chains: tuple[str, ...], since: datetime, **options: Any) -> None:
    """Import the new swaps of every tracked wallet; for a new wallet, those after --since.

    The command may be killed and run again at any time: no trade is lost or counted twice.
    """
    with _ready(options) as (settings, stack):
        readings = stack.enter_context(trade_sources(settings, chains))
        prices, _ = stack.enter_context(price_sources(settings))
        synced = [chain for reading in readings for chain in reading.chains]
        if not chains and len(synced) < len(CHAINS):
            left_out = ", ".join(chain for chain in CHAINS if chain not in synced)
            log.warning("sync trades: no provider is configured for %s", left_out)

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
            # Two progress bars would overwrite each other.
            hidden = settings.log_format == "json" or len(readings) > 1
            one = _trades_round(job, hidden=hidden)
            return Work("trades", reading.chains, [reading.pace], one, trades_words)

        run(settings, [work_on(reading) for reading in readings], **options)


def _trades_round(job: TradesSync, *, hidden: bool) -> Round:
    def one(connection: Connection, stopping: threading.Event) -> Outcome:
        with progress_bar("Wallets", hidden=hidden) as show:
            summary = job.round(connection, stopping, show)
        complete = summary.synced == summary.wallets and summary.counts.is_complete
        status = 0 if complete else SOME_FAILED if summary.synced else 1
        return Outcome({"chains": list(job.chains)} | trades_data(summary), status, summary.pause_seconds)

    return one


@sync.command("prices")
@_common
def sync_prices(since: datetime, **options: Any) -> None:
    """Import the current prices of SOL, BNB and ETH, and the missing prices of past hours.

    Past hours are those after --since and those of trades without a USD value, which is then computed.
    """
    with _ready(options) as (settings, stack):
        prices, paces = stack.enter_context(price_sources(settings))
        fill_at = 0.0

        def one(connection: Connection, stopping: threading.Event) -> Outcome:
            nonlocal fill_at
            started = time.monotonic()
            fill = started >= fill_at
            summary = prices.round(connection, since if fill else None)
            if fill:
                # A past price that no provider has now will not be there a minute later either.
                fill_at = started + (_FAILED_FILL_SECONDS if summary.failures else _FILL_SECONDS)
            nothing = summary.missing and not summary.changed
            status = 1 if nothing else SOME_FAILED if summary.missing or summary.missing_hours else 0
            return Outcome(prices_data(summary), status)

        run(settings, [Work("prices", (), paces, one, prices_words)], **options)


@contextmanager
def _ready(options: dict[str, Any]) -> Iterator[tuple[Settings, ExitStack]]:
    verbose = options.pop("verbose")
    note = partial(write_sync_note, dated=options["every"] is not None)
    with settings_with_database(notify=note) as settings, ExitStack() as stack:
        log_to_stderr(settings, stack, verbose=verbose)
        yield settings, stack

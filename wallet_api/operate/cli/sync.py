"""`wallet-api sync trades|prices|tokens`: import from providers, once or repeatedly."""

import math
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import click

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import EARLIEST
from wallet_api.base.times import read_span, read_time
from wallet_api.chain.sync.faces import read_faces
from wallet_api.chain.sync.outcomes import Outcomes
from wallet_api.chain.sync.quotes import Quotes
from wallet_api.chain.sync.rounds import TradesSync
from wallet_api.chain.sync.sources import (
    Provider,
    face_sources,
    market_source,
    price_sources,
    trade_providers,
)
from wallet_api.chain.sync.summaries import RoundSummary
from wallet_api.chain.sync.watch import Watcher
from wallet_api.database import Connection
from wallet_api.ledger.files.readers import read_denied
from wallet_api.ledger.quotes import QuoteRule
from wallet_api.operate.cli.environment import settings_with_database
from wallet_api.operate.cli.options import all_of
from wallet_api.operate.cli.output import json_option, progress_bar
from wallet_api.operate.cli.sync_rounds import Work, log, log_to_stderr, run_rounds, write_sync_note
from wallet_api.operate.cli.sync_status import sync_accept, sync_forget, sync_status
from wallet_api.queries.token_price import PriceRule
from wallet_api.settings import Settings, outdated

_TURN_PERIODS = 10
# Chains take longer now and then.
_SLOW_FINALITY = 10


def _since(context: click.Context, option: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    now = datetime.now(UTC)
    try:
        ago = read_span(text)
        since = now - ago if ago else read_time(text)
    except (ValueError, OverflowError) as error:
        message = "must be such as 30d, 12h, 2026-10-01 or 2026-10-01T12:00:00Z"
        raise click.BadParameter(message, context, option) from error
    if not EARLIEST <= since <= now:
        raise click.BadParameter(f"must be from {EARLIEST:%Y-%m-%d} until now", context, option)
    return since


_since_option = click.option(
    "--since",
    metavar="30D|12H|DATE",
    callback=_since,
    default="30d",
    show_default=True,
    help="Import from this time on.",
)
_chains = click.option(
    "--chain", "chains", multiple=True, type=click.Choice(tuple(CHAINS)), help="Only this chain."
)
_common = all_of(
    click.option("--every", type=click.IntRange(1, 86_400), help="Repeat with this period in seconds."),
    json_option,
    click.option(
        "--wait", is_flag=True, help="Wait until no other sync of this kind runs, and for the database."
    ),
    click.option("-v", "--verbose", is_flag=True, help="Log each skipped row and each request."),
)


@click.group()
def sync() -> None:
    """Import new trades and prices from providers.

    Trades come from Moralis or from JSON-RPC nodes, prices from CoinGecko and Binance, names from nodes,
    quotes of tokens from a provider of market prices.

    Exit status: 0 everything is up to date, 3 a part is not, or something is newly left out, 1 the sync
    failed. With --every it runs until SIGTERM or Ctrl-C, and then stops after the current wallet.
    """


sync.add_command(sync_status)
sync.add_command(sync_forget)
sync.add_command(sync_accept)


@sync.command("trades")
@_chains
@click.option("--follow", is_flag=True, help="Repeat, and read new blocks of nodes within seconds.")
@_since_option
@_common
def sync_trades(chains: tuple[str, ...], since: datetime, follow: bool, **options: Any) -> None:
    """Import the new swaps of every tracked wallet; for a new wallet, those after --since.

    With --follow, chains whose trades come from a node are read every FOLLOW_SECONDS, the others every
    SYNC_TRADES_SECONDS, or with the period of --every.

    The command may be killed and run again at any time: no trade is lost or counted twice.
    """
    with _ready(options, repeats=follow) as (settings, stack):
        if follow:
            options["every"] = options["every"] or settings.sync_trades_seconds
        providers = stack.enter_context(trade_providers(settings, chains))
        prices, _ = stack.enter_context(price_sources(settings))
        denied = read_denied(settings.token_denylist)
        synced = [chain for provider in providers for chain in provider.chains]
        if not chains and len(synced) < len(CHAINS):
            left_out = ", ".join(chain for chain in CHAINS if chain not in synced)
            log.warning("sync trades: no provider is configured for %s", left_out)
        # Two progress bars would overwrite each other.
        hidden = settings.log_format == "json" or len(providers) > 1

        def work_on(provider: Provider) -> Work:
            is_watched = follow and (provider.source.reads_blocks or provider.stream is not None)
            seconds = settings.follow_seconds if is_watched else None
            start_watching, overlap = None, settings.sync_overlap_seconds
            if follow and provider.stream is not None:
                # A read finds only what is final.
                overlap = max(overlap, _final_seconds(provider))
                start_watching = partial(Watcher, provider, options["every"], settings.follow_seconds)
            trades = TradesSync(
                provider=provider,
                prices=prices,
                since=since,
                overlap=timedelta(seconds=overlap),
                threads=settings.sync_threads,
                turn_seconds=_turn_seconds(provider, seconds, options["every"]),
                start_watching=start_watching,
                watch_seconds=seconds or 0.0,
                denied=denied,
            )

            def one(connection: Connection, stopping: threading.Event) -> RoundSummary:
                with progress_bar("Wallets", hidden=hidden) as show:
                    return trades.round(connection, stopping, show)

            return Work("trades", provider.chains, [provider.pace], one, seconds)

        run_rounds(settings, [work_on(provider) for provider in providers], **options)


def _final_seconds(provider: Provider) -> float:
    """Return after how long what happens on its chain is final, at the most."""
    (chain,) = provider.chains
    return _SLOW_FINALITY * CHAINS[chain].rules_on(datetime.now(UTC).date()).final_seconds


def _turn_seconds(provider: Provider, watch_seconds: float | None, every: float | None) -> float:
    """Return how long a job may take before others have a turn."""
    if provider.source.reads_blocks:
        # New blocks are read beside it, and how the chain is watched is reported afterwards.
        return _TURN_PERIODS * watch_seconds if watch_seconds else math.inf
    return every or math.inf


@sync.command("prices")
@_since_option
@_common
def sync_prices(since: datetime, **options: Any) -> None:
    """Import the current prices of SOL, BNB and ETH, and the missing prices of past hours.

    Past hours are those after --since and those of trades without a USD value, which is then computed.
    """
    with _ready(options) as (settings, stack):
        prices, paces = stack.enter_context(price_sources(settings))
        one = Work("prices", (), paces, lambda connection, stopping: prices.round(connection, since))
        run_rounds(settings, [one], **options)


@sync.command("tokens")
@_chains
@_common
def sync_tokens(chains: tuple[str, ...], **options: Any) -> None:
    """Read symbols, names, decimals and supplies of traded tokens from nodes; supplies again after a day."""
    with _ready(options) as (settings, stack):
        sources, paces = stack.enter_context(face_sources(settings, chains))
        work = Work(
            "tokens",
            tuple(sources),
            paces,
            lambda connection, stopping: read_faces(connection, sources, stopping),
        )
        run_rounds(settings, [work], **options)


@sync.command("quotes")
@_chains
@click.option(
    "--since",
    metavar="30D|12H|DATE",
    callback=_since,
    help="Keep the signals of past hours from this time on as well, by the ledger as it is.",
)
@_common
def sync_quotes(chains: tuple[str, ...], since: datetime | None, **options: Any) -> None:
    """Read what tokens cost on markets, and keep the signals of each hour, and what became of them.

    Prices come from the provider of MARKET_PRICES_PROVIDER; without one only signals are kept.

    Of tokens that a tracked wallet bought in the last two days once a minute, of others that one holds once
    an hour, within the provider's rate. Quotes of thin markets, and prices that are far from the last one,
    are kept and counted, but make no price.
    """
    with _ready(options) as (settings, stack):
        source, paces = stack.enter_context(market_source(settings))
        unknown = [chain for chain in chains if source is not None and chain not in source.chains]
        if source is not None and unknown:
            raise click.ClickException(f"{source.name} has no prices of {', '.join(unknown)}")
        rule = QuoteRule(settings.market_price_min_liquidity_usd, settings.token_price_min_value_usd)
        least = PriceRule(settings.token_price_min_value_usd)
        outcomes = Outcomes(chains or tuple(CHAINS), least, since, options["every"])
        quoted = chains or tuple(CHAINS if source is None else source.chains)
        quotes = Quotes(source, quoted, rule, outcomes, options["every"])
        run_rounds(settings, [Work("quotes", quoted, paces, quotes.round)], **options)


@contextmanager
def _ready(options: dict[str, Any], *, repeats: bool = False) -> Iterator[tuple[Settings, ExitStack]]:
    verbose = options.pop("verbose")
    dated = repeats or options["every"] is not None
    note = partial(write_sync_note, Settings.from_environment(), dated=dated)
    with settings_with_database(notify=note) as settings, ExitStack() as stack:
        log_to_stderr(settings, stack, verbose=verbose)
        for sentence in outdated():
            log.warning("sync: %s", sentence)
        yield settings, stack

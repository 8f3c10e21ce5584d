"""`wallet-api demo`: makes a synthetic world and brings it into the ledger."""

import sys
from datetime import UTC, datetime

import click

from wallet_api import migrations
from wallet_api.cli.environment import settings_with_database
from wallet_api.database import connect
from wallet_api.demo import Loaded, load
from wallet_api.demo.options import world_options
from wallet_api.demo.world import World


@click.command()
@world_options
def demo(**size: int) -> None:
    """Make and import synthetic, repeatable data.

    The world ends now. Another call with the same options moves it up to its own now.
    """
    world = World(datetime.now(UTC), **size)
    with settings_with_database() as settings:
        url = str(settings.database_url)
        with connect(url) as connection:
            if migrations.pending(connection):
                raise click.ClickException("The tables are not up to date: run 'wallet-api migrate' first.")
        loaded = load_demo(url, world)
    click.echo(summary(loaded))


def load_demo(database_url: str, world: World) -> Loaded:
    """Load `world`, with a progress bar on standard error where that is a terminal."""
    with click.progressbar(
        length=world.trades, label="Demo trades", file=sys.stderr, hidden=not sys.stderr.isatty()
    ) as bar:
        return load(database_url, world, bar.update)


def summary(loaded: Loaded) -> str:
    """What was loaded, as one line."""
    return (
        f"Demo data: {loaded.wallets:,} wallets, {loaded.trades:,} trades, {loaded.prices:,} native prices."
    )

"""`wallet-api demo`: generate synthetic data and import it."""

from datetime import UTC, datetime

import click
from msgspec.structs import replace

from wallet_api.cli.environment import require_tables, settings_with_database
from wallet_api.cli.output import progress_bar
from wallet_api.cli.showcase import find_demo
from wallet_api.database import connect
from wallet_api.demo import load
from wallet_api.demo.options import world_options
from wallet_api.demo.world import World
from wallet_api.embedded import home_of


@click.command()
@world_options
def demo(**size: int) -> None:
    """Generate and import synthetic, repeatable data.

    Its last trades are of the current time. Running it again with the same options moves the same trades to
    the time of that run.
    """
    now = datetime.now(UTC).replace(microsecond=0)
    with settings_with_database() as settings:
        url = str(settings.database_url)
        with connect(url) as connection:
            require_tables(connection)
            home = home_of(settings)
            # `up` reads the note to distinguish demo wallets from others.
            known = find_demo(connection, home) if home.is_dir() else None
        with progress_bar("Demo trades") as show:
            if known is None:
                loaded = load(url, World(now, **size), show)
            else:
                loaded = replace(known, until=now, size=size).load(home, url, show)
    click.echo(
        f"Demo data: {loaded.wallets:,} wallets, {loaded.trades:,} trades, {loaded.prices:,} native prices."
    )

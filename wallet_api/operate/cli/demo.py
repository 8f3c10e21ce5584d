"""`wallet-api demo`: generate synthetic data and import it."""

from datetime import UTC, datetime

import click

from wallet_api.database import connect
from wallet_api.operate.cli.environment import require_tables, settings_with_database
from wallet_api.operate.cli.output import progress_bar
from wallet_api.operate.demo.loading import load_demo
from wallet_api.operate.demo.world import DAYS, SEED, TRADES, WALLETS, World

_count = click.IntRange(1)


@click.command()
@click.option("--wallets", default=WALLETS, show_default=True, type=_count, help="Number of wallets.")
@click.option("--trades", default=TRADES, show_default=True, type=_count, help="Number of all trades.")
@click.option(
    "--days", default=DAYS, show_default=True, type=click.IntRange(1, 3650), help="Number of days up to now."
)
@click.option(
    "--seed",
    default=SEED,
    show_default=True,
    type=click.IntRange(0),
    help="The same seed gives the same data.",
)
def demo(**size: int) -> None:
    """Generate and import synthetic, repeatable data.

    Its last trades are of the current time. Running it again with the same options adds the trades since. A
    database that has wallets of yours is refused.
    """
    with settings_with_database(creates=True) as settings:
        url = str(settings.database_url)
        with connect(url) as connection:
            require_tables(connection)
        with progress_bar("Demo trades") as show:
            loaded = load_demo(url, World(datetime.now(UTC), **size), show)
    click.echo(
        "Demo data: {wallets:,} wallets, {trades:,} trades, {prices:,} native prices.".format(**loaded)
    )

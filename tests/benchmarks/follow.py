"""Follow feeds for long while the ledger changes and is killed: is a change skipped, or does one come twice?

    python -m tests.benchmarks.follow [--minutes 30]

Two importers, removals of trades and of wallets, and three followers that now and then go on at another
process of the service. Sessions are ended at random, some six a second. At the end each follower has to have
the ledger's own trades, exactly. Ends with status 0 if so.
"""

import tempfile
from contextlib import ExitStack
from dataclasses import replace

import click

from tests.ledger.contended import Contended
from wallet_api import embedded, migrations
from wallet_api.app import create_app
from wallet_api.database import connect
from wallet_api.keys import create_key
from wallet_api.settings import Settings


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
def main(minutes: float) -> None:
    """Raise an AssertionError if a follower does not end with the ledger's trades."""
    with (
        tempfile.TemporaryDirectory(prefix="wallet-bench-") as home,
        embedded.running(Settings(wallet_api_home=home)) as running,
        ExitStack() as stack,
    ):
        with connect(str(running.database_url)) as connection:
            migrations.migrate(connection)
            key = create_key(connection, "follower", rate="1000000/minute")
        own = replace(running, answer_ttl_seconds=0)
        apps = [create_app(own) for _ in range(2)]
        for app in apps:
            stack.callback(app.extensions["wallet_api"].close)
        contended = Contended(str(running.database_url), apps, key)
        contended.run(minutes * 60)
        click.echo(", ".join(f"{count} {name}" for name, count in sorted(contended.done.items())))


if __name__ == "__main__":
    main()

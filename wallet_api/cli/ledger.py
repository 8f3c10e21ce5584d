"""`wallet-api migrate` and `wallet-api rebuild`: the tables, and what is derived in them."""

import sys

import click
import orjson

from wallet_api import migrations
from wallet_api.cli.environment import database, require_tables
from wallet_api.ledger.rebuild import rebuild_ledger


@click.command()
def migrate() -> None:
    """Bring the tables up to date.

    Each step lands whole or not at all: after an interruption, run it again.
    """
    with database(migrate=False) as connection:
        applied = migrations.migrate(connection, lambda name: click.echo(f"Applying {name} …"))
    click.echo("The tables are up to date." if not applied else f"Applied {', '.join(applied)}.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def rebuild(as_json: bool) -> None:
    """Work out every derived figure anew from the trades; on a healthy ledger this changes nothing.

    Safe while the service answers and imports run, and safe to stop: what is done is done, and a second run
    goes over all again.
    """
    with (
        database() as connection,
        click.progressbar(
            length=100, label="Rebuilding", file=sys.stderr, hidden=not sys.stderr.isatty()
        ) as bar,
    ):
        require_tables(connection)
        changed = rebuild_ledger(connection, lambda done, of: bar.update(100 * done // max(of, 1) - bar.pos))
    if as_json:
        click.echo(orjson.dumps(changed))
    elif any(changed.values()):
        click.echo(
            ", ".join(f"{rows} rows of {table} put right" for table, rows in changed.items() if rows) + "."
        )
    else:
        click.echo("Nothing had to be changed.")

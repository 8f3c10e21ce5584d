"""`wallet-api migrate` and `wallet-api rebuild`: the tables, and the figures derived from trades."""

import sys

import click
import orjson

from wallet_api import migrations
from wallet_api.cli.environment import database, require_tables
from wallet_api.ledger.rebuild import rebuild_ledger


@click.command()
def migrate() -> None:
    """Create or upgrade the tables.

    Each migration is one transaction: after an interruption, run the command again.
    """
    with database(migrate=False) as connection:
        applied = migrations.migrate(connection, lambda name: click.echo(f"Applying {name} …"))
    click.echo("The tables are up to date." if not applied else f"Applied {', '.join(applied)}.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def rebuild(as_json: bool) -> None:
    """Compute all derived figures from the trades again. On a correct ledger this changes nothing.

    The service and imports may run meanwhile. The command may be stopped at any time: finished parts are
    committed, and the next run starts from the beginning.
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
        corrected = ", ".join(f"{rows} rows of {table}" for table, rows in changed.items() if rows)
        click.echo(f"Corrected {corrected}.")
    else:
        click.echo("All derived figures were correct.")

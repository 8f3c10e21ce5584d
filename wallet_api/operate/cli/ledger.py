"""`wallet-api migrate` and `wallet-api rebuild`: the tables, and the figures derived from trades."""

import click

from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.operate.cli.environment import database, upgrade_tables
from wallet_api.operate.cli.output import json_option, print_json, progress_bar


@click.command()
def migrate_command() -> None:
    """Create or upgrade the tables. In a Citus cluster, place them on the workers too.

    The service may run meanwhile, and imports of this version; what an earlier version is about to import is
    refused. After an interruption, run the command again: it continues.
    """
    with database(migrate=False, creates=True) as connection:
        done = upgrade_tables(connection, click.echo, lambda name: click.echo(f"Applying {name} …"))
        if done.applied:
            click.echo(f"Applied {', '.join(done.applied)}.")
        if done.placed:
            click.echo(f"Placed on the workers: {', '.join(done.placed)}.")
        if done.filled:
            click.echo(f"Computed the figures of {done.filled:,} wallets.")
    if not (done.applied or done.placed or done.respelled or done.filled):
        click.echo("The tables are up to date.")


@click.command()
@json_option
def rebuild(as_json: bool) -> None:
    """Compute all derived figures from the trades again. On a correct ledger this changes nothing.

    The service and imports may run meanwhile. The command may be stopped at any time: finished parts are
    committed, and the next run starts from the beginning.
    """
    with database() as connection, progress_bar("Rebuilding") as progress:
        changed = rebuild_ledger(connection, progress)
    if as_json:
        print_json(changed)
    elif any(changed.values()):
        corrected = ", ".join(f"{rows} rows of {table}" for table, rows in changed.items() if rows)
        click.echo(f"Corrected {corrected}.")
    else:
        click.echo("All derived figures were correct.")

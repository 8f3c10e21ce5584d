"""`wallet-api sync forget`: forget a sync that is no longer run, so that no alert waits for it."""

import click

from wallet_api.chains import CHAINS
from wallet_api.cli.environment import database
from wallet_api.sync.heartbeats import Job, forget_heartbeats

# All of its chains are synced by one process.
_WHOLE: dict[str, Job] = {"prices": "prices", "tokens": "tokens"}


@click.command("forget")
@click.argument("name", metavar="CHAIN|prices|tokens", type=click.Choice((*CHAINS, *_WHOLE)))
def sync_forget(name: str) -> None:
    """Forget a sync that is no longer run: the trades of a chain, prices or tokens.

    Its metrics, and so its alerts, end. The ledger stays. A sync that still runs comes back.
    """
    whole = _WHOLE.get(name)
    with database() as connection, connection.transaction():
        if whole is not None:
            found = forget_heartbeats(connection, whole, None)
        else:
            found = forget_heartbeats(connection, "trades", name)
    what = f"sync of {name}" if whole else f"sync of trades on {name}"
    click.echo(f"Forgot the {what}." if found else f"There is no {what}.")

"""`wallet-api sync forget`: forget a sync that is no longer run, so that no alert waits for it."""

import click

from wallet_api.base.chains import CHAINS
from wallet_api.chain.sync import report
from wallet_api.chain.sync.finality import forget_final
from wallet_api.chain.sync.report import SyncName
from wallet_api.operate.cli.environment import database

# All of its chains are synced by one process.
_WHOLE: dict[str, SyncName] = {"prices": "prices", "tokens": "tokens", "quotes": "quotes"}


@click.command("forget")
@click.argument("name", metavar="CHAIN|prices|tokens|quotes", type=click.Choice((*CHAINS, *_WHOLE)))
def sync_forget(name: str) -> None:
    """Forget a sync that is no longer run: the trades of a chain, prices, tokens or quotes.

    Its metrics, and so its alerts, end; all blocks of the chain count as final. The ledger stays. A sync that
    still runs comes back.
    """
    whole = _WHOLE.get(name)
    with database() as connection, connection.transaction():
        found = report.forget(connection, whole or "trades", None if whole else name)
        if not whole:
            forget_final(connection, [name])
    what = f"sync of {name}" if whole else f"sync of trades on {name}"
    click.echo(f"Forgot the {what}." if found else f"There is no {what}.")

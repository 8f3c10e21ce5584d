"""`wallet-api sync accept`: take in what looks like a trade without a proof."""

import click

from wallet_api.chain.sync.left_out import accept
from wallet_api.operate.cli.environment import database


@click.command("accept")
@click.argument("transaction", metavar="TX")
@click.argument("wallet")
def sync_accept(transaction: str, wallet: str) -> None:
    """Write what a named transaction TX moved as trades of WALLET: such as an order of it.

    'wallet-api sync status' names such transactions: a token left the wallet and money came, or the
    reverse, and nothing proves that the wallet agreed. An accepted one stays until its block disappears from
    the chain or 'wallet-api remove trades' takes it out; later readings leave it as it is.
    """
    with database() as connection:
        row, changed = accept(connection, transaction, wallet)
    click.echo(
        f"Accepted {row['tx_signature']} of {row['wallet_address']} on {row['blockchain']}: {changed} trades."
    )

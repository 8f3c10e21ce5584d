"""`wallet-api export wallets|trades|prices FILE`: write the ledger to files that an import reads."""

import time
from typing import Any

import click

from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.ledger.files.exports import ExportFilters, export
from wallet_api.ledger.files.readers import is_csv
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.options import all_of, moment
from wallet_api.operate.cli.output import json_option, print_json, progress_bar, warn


def _stored_form(context: click.Context, option: click.Parameter, address: str | None) -> str | None:
    # Those of EVM chains are stored in lower case.
    return address.lower() if address is not None and address[:2] in ("0x", "0X") else address


_blockchain = click.option("--blockchain", type=click.Choice(list(CHAINS)), help="Only of this chain.")
_type = click.option("--type", type=click.Choice(WALLET_TYPES), help="Only of wallets of this type.")
_address = click.option(
    "--address", callback=_stored_form, help="Only of this wallet, on all chains or with --blockchain on one."
)
_since = click.option("--since", metavar="DATE", callback=moment, help="From this day (UTC) or time on.")
_until = click.option("--until", metavar="DATE", callback=moment, help="Until before this day (UTC) or time.")


_common = all_of(
    click.argument("file"),
    click.option("--force", is_flag=True, help="Replace FILE if it exists."),
    json_option,
)


@click.group("export")
def export_files() -> None:
    """Write wallets, trades or prices to a file that 'wallet-api import' reads.

    FILE is NDJSON (.ndjson, .jsonl, or - for standard output) or CSV (.csv), each also with .gz. It is
    created only when it is complete, and only its owner can read it. Imported into an empty database, in
    the order wallets, prices, trades, the three files give the same responses. The service may keep running.
    """


@export_files.command("wallets")
@_blockchain
@_type
@_address
@_common
def export_wallets(file: str, force: bool, as_json: bool, **filters: Any) -> None:
    """Write the tracked wallets with their profiles."""
    _run(file, ExportFilters("wallets", **filters), overwrite=force, as_json=as_json)


@export_files.command("trades")
@_blockchain
@_type
@_address
@_since
@_until
@_common
def export_trades(file: str, force: bool, as_json: bool, **filters: Any) -> None:
    """Write the trades.

    A dollar value that a native price gave is left out where the exported prices give the same one.
    """
    _run(file, ExportFilters("trades", **filters), overwrite=force, as_json=as_json)


@export_files.command("prices")
@_blockchain
@_since
@_until
@_common
def export_prices(file: str, force: bool, as_json: bool, **filters: Any) -> None:
    """Write the native prices. With --blockchain, those of its native coin."""
    _run(file, ExportFilters("prices", **filters), overwrite=force, as_json=as_json)


def _run(file: str, filters: ExportFilters, *, overwrite: bool, as_json: bool) -> None:
    if file == "-" and as_json:
        raise click.ClickException("Standard output has the rows already; write them to a file for --json.")
    started = time.monotonic()
    try:
        is_csv(file)
        with database() as connection, progress_bar(file) as show:
            exported = export(connection, filters, file, overwrite=overwrite, progress=show)
    except FileExistsError as error:
        raise click.ClickException(f"{file} {error.strerror}") from error
    seconds = time.monotonic() - started
    if exported.without_line_breaks:
        warn(
            f"{exported.without_line_breaks:,} rows had line breaks in their texts, which are spaces in CSV."
            " NDJSON keeps them."
        )
    if as_json:
        print_json(vars(exported) | {"file": file, "seconds": round(seconds, 3)})
    else:
        click.echo(f"Exported {exported.rows:,} rows to {file} in {seconds:.1f} s.", err=file == "-")

"""`wallet-api remove wallets|trades FILE`: show what would be removed, confirm, and remove it."""

import sys
import time
from collections.abc import Callable
from typing import Any

import click
import msgspec

from wallet_api.cli.environment import database, database_of
from wallet_api.cli.output import json_option, print_json, progress_bar
from wallet_api.database import Connection
from wallet_api.ledger import remove as removals
from wallet_api.ledger.identities import TradeIdentity, WalletIdentity
from wallet_api.ledger.readers import UnreadableFile, open_source
from wallet_api.ledger.rejects import rejects_of
from wallet_api.ledger.remove import Removal
from wallet_api.settings import Settings

SOME_REJECTED = 3


# Receives the rows of a file and where to put rejected ones, and returns what would be removed.
_Stage = Callable[..., Removal]
_Remove = Callable[[Connection, Removal], Removal]


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        json_option,
        click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing."),
        click.option("--yes", is_flag=True, help="Remove without confirmation. Required without a terminal."),
        click.argument("file"),
    ):
        command = option(command)
    return command


@click.group()
def remove() -> None:
    """Remove wallets or trades that a file names.

    Afterwards all figures are as if they had never been imported. FILE is NDJSON (.ndjson, .jsonl, or - for
    standard input) or CSV (.csv), each also with .gz. It may be the file that was imported: columns that do
    not identify a row are ignored. Rows that match nothing are written to FILE.rejects.ndjson with their line
    number and the reason. Exit status: 0 all rows were removed, 3 some were rejected, 1 the removal failed.
    """


@remove.command("wallets")
@_options
def remove_wallets(**options: Any) -> None:
    """Stop tracking the wallets of FILE, and remove their trades, balances and sync state.

    Columns: blockchain, wallet_address. All wallets are removed in one transaction.
    """
    _run("wallet", WalletIdentity, removals.stage_wallets, _remove_wallets, **options)


@remove.command("trades")
@_options
def remove_trades(**options: Any) -> None:
    """Remove the trades of FILE, such as those undone by a chain reorganisation.

    Columns: blockchain, wallet_address, tx_signature, mint, transaction_type, [event_index]. Each transaction
    removes up to 200,000 trades. After an interruption, run the command again: trades that are already
    removed are then rejected. A sync imports a trade again if its provider still reports it.
    """
    _run("trade", TradeIdentity, removals.stage_trades, _remove_trades, **options)


def _run(
    noun: str,
    row_type: type[msgspec.Struct],
    stage: _Stage,
    remove: _Remove,
    *,
    file: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    if not (yes or dry_run) and (file == "-" or not sys.stdin.isatty()):
        raise click.ClickException(
            "There is no terminal to confirm on. Add --yes to remove the rows, or --dry-run to count them."
        )
    try:
        with open_source(file) as source, rejects_of(file) as rejects, database() as connection:
            started = time.monotonic()
            with progress_bar("Reading", hidden=source.size is None) as show:
                records = source.records(row_type)
                matches = stage(
                    connection, records, rejects.add, lambda: show(source.position(), source.size or 0)
                )
            seconds = time.monotonic() - started
            location = database_of(Settings.from_environment())
            removed = matches
            if _count(noun, matches) and not dry_run:
                click.echo(f"This removes {_described(noun, matches)} from {location}.", err=True)
                if not (yes or click.confirm("Remove them?", err=True)):
                    raise click.ClickException("Nothing was removed.")
                started = time.monotonic()
                removed = remove(connection, matches)
                seconds += time.monotonic() - started
    except UnreadableFile as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        document: dict[str, Any] = {
            "removed": _count(noun, removed),
            "rejected": matches.rejected,
            "trades": removed.trades,
            "seconds": round(seconds, 3),
        }
        if dry_run:
            document["dry_run"] = True
        if matches.rejected:
            document["rejects"] = str(rejects.path)
        print_json(document)
    else:
        words = f"{_described(noun, removed)} from {location}; {matches.rejected:,} rejected."
        click.echo(f"This would remove {words}" if dry_run else f"Removed {words}")
        if matches.rejected:
            click.echo(f"Rejected rows, with reasons: {rejects.path}", err=True)
    if matches.rejected:
        sys.exit(SOME_REJECTED)


def _remove_wallets(connection: Connection, matches: Removal) -> Removal:
    return removals.remove_wallets(connection)


def _remove_trades(connection: Connection, matches: Removal) -> Removal:
    with progress_bar("Removing") as show:
        done = 0

        def progress(removed: int) -> None:
            nonlocal done
            done += removed
            show(done, matches.trades)

        removed = removals.remove_trades(connection, progress)
    return Removal(matches.wallets, removed.trades)


def _count(noun: str, removal: Removal) -> int:
    return removal.wallets if noun == "wallet" else removal.trades


def _described(noun: str, removal: Removal) -> str:
    wallets = f"{removal.wallets:,} wallet{'' if removal.wallets == 1 else 's'}"
    trades = f"{removal.trades:,} trade{'' if removal.trades == 1 else 's'}"
    return f"{wallets} with {trades}" if noun == "wallet" else f"{trades} of {wallets}"

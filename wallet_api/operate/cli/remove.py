"""`wallet-api remove wallets|trades`: show what would be removed, confirm, and remove it."""

import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection
from wallet_api.ledger import purge
from wallet_api.ledger import remove as removals
from wallet_api.ledger.arrivals import Purge
from wallet_api.ledger.files.readers import open_source, read_denied
from wallet_api.ledger.files.rejects import rejects_of
from wallet_api.ledger.files.rows import TradeIdentity, WalletIdentity
from wallet_api.ledger.remove import Removal
from wallet_api.ledger.tokens import Token
from wallet_api.operate.cli.environment import database, database_of
from wallet_api.operate.cli.options import all_of, file_options, moment
from wallet_api.operate.cli.output import end_if_rejected, json_option, print_json, progress_bar
from wallet_api.settings import Settings

# Counts what would be removed, and stages it in the session.
_Stage = Callable[[Connection], Removal]


class _Consent(NamedTuple):
    """Whether to remove without a question, or not at all, and in which form to report it."""

    yes: bool
    dry_run: bool
    as_json: bool


_common = all_of(
    click.option("--yes", is_flag=True, help="Remove without confirmation. Required without a terminal."),
    click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing."),
    json_option,
)


@click.group()
def remove() -> None:
    """Remove wallets or trades that a file names, or trades by time or token.

    Afterwards all figures are as if they had never been imported. FILE is in a format that
    'wallet-api import' reads, and may be the file that was imported: columns that do not identify a row are
    ignored. Rows that match nothing are written to FILE.rejects.ndjson with their line number and the
    reason. Exit status: 0 all rows were removed, 3 some were rejected, 1 the removal failed.
    """


@remove.command("wallets")
@click.argument("file")
@file_options(WalletIdentity)
@_common
def remove_wallets_command(file: str, **options: Any) -> None:
    """Stop tracking the wallets of FILE, and remove their trades, balances and sync state.

    Columns: blockchain, wallet_address. All wallets are removed in one transaction.
    """
    _run_file("wallet", WalletIdentity, removals.stage_wallets, file, options)


@remove.command("trades")
@click.argument("file", required=False)
@click.option("--before", metavar="DATE", callback=moment, help="Those before this day (UTC) or time.")
@click.option("--open", "include_open", is_flag=True, help="With --before: also of positions held then.")
@click.option("--mint", "mints", metavar="MINT", multiple=True, help="Those in this token. Can be repeated.")
@click.option("--denied", is_flag=True, help="Those in the tokens of TOKEN_DENYLIST.")
@file_options(TradeIdentity)
@_common
def remove_trades_command(
    file: str | None,
    before: datetime | None,
    include_open: bool,
    mints: tuple[str, ...],
    denied: bool,
    **options: Any,
) -> None:
    """Remove the trades of FILE, or those before a time or of some tokens.

    Columns of FILE: blockchain, wallet_address, tx_signature, mint, transaction_type, [event_index]. Each
    transaction removes up to 200,000 trades. After an interruption, run the command again: trades that are
    already removed are then rejected. A sync imports a trade again if its provider still reports it.

    Of positions that were held at DATE, --before removes nothing, so that no later sell loses its cost. With
    --open it does, and the command shows first how many sells that are.
    """
    if [file is not None, before is not None, bool(mints), denied].count(True) != 1:
        raise click.UsageError("Give one of FILE, --before, --mint and --denied.")
    blockchain = options["given"].values.get("blockchain")
    if (include_open and before is None) or (blockchain is not None and not (mints or file)):
        raise click.UsageError("--open belongs to --before, and --blockchain to FILE or --mint.")
    if file is not None:
        _run_file("trade", TradeIdentity, removals.stage_trades, file, options)
        return
    stage: _Stage
    if before is not None:
        stage = partial(purge.stage_before, before=before, include_open=include_open)
    else:
        stage = partial(purge.stage_tokens, tokens=_denied() if denied else _tokens(mints, blockchain))
    consent = _consent(options)
    _run("trade", stage, consent, purge=Purge(before))


def _denied() -> frozenset[Token]:
    name = Settings.from_environment().token_denylist
    if name is None:
        raise click.ClickException("TOKEN_DENYLIST is not set. It names a file with blockchain and mint.")
    return read_denied(name)


def _tokens(mints: tuple[str, ...], blockchain: str | None) -> set[Token]:
    """Return the tokens of these mints, on the chain or on all chains whose addresses have this form."""
    tokens: set[Token] = set()
    for mint in mints:
        chains = [CHAINS[blockchain]] if blockchain else list(CHAINS.values())
        found = {(chain.name, chain.canonical(mint)) for chain in chains if chain.is_address(mint)}
        if not found:
            raise click.ClickException(f"{mint} is no address of {blockchain or 'any chain'}.")
        tokens |= found
    return tokens


def _run_file(
    noun: str,
    row_type: type[msgspec.Struct],
    stage: Callable[..., Removal],
    file: str,
    options: Mapping[str, Any],
) -> None:
    consent = _consent(options, reads_input=file == "-")
    with open_source(file, options["delimiter"], options["given"]) as source, rejects_of(file) as rejects:

        def stage_file(connection: Connection) -> Removal:
            with progress_bar("Reading", hidden=source.size is None) as show:
                return stage(
                    connection,
                    source.records(row_type),
                    rejects.add,
                    lambda: show(source.position(), source.size or 0),
                )

        _run(noun, stage_file, consent, rejects=rejects.path)


def _consent(options: Mapping[str, Any], *, reads_input: bool = False) -> _Consent:
    """Return the options of consent, and refuse where it cannot be asked for."""
    consent = _Consent(*(options[name] for name in _Consent._fields))
    if not (consent.yes or consent.dry_run) and (reads_input or not sys.stdin.isatty()):
        raise click.ClickException(
            "There is no terminal to confirm on. Add --yes to remove the rows, or --dry-run to count them."
        )
    return consent


def _run(
    noun: str,
    stage: _Stage,
    consent: _Consent,
    *,
    purge: Purge | None = None,
    rejects: Path | None = None,
) -> None:
    with database() as connection:
        started = time.monotonic()
        matches = stage(connection)
        seconds = time.monotonic() - started
        location = database_of(Settings.from_environment())
        if matches.later_sells is not None:
            click.echo(
                f"{matches.open_positions:,} positions were held then. Without --open their trades stay.\n"
                f"{matches.later_sells:,} later sells lose their cost, in whole or in part.",
                err=True,
            )
        removed = matches
        if _count(noun, matches) and not consent.dry_run:
            click.echo(f"This removes {_described(noun, matches)} from {location}.", err=True)
            if not (consent.yes or click.confirm("Remove them?", err=True)):
                raise click.ClickException("Nothing was removed.")
            started = time.monotonic()
            if noun == "wallet":
                removed = removals.remove_wallets(connection)
            else:
                removed = _remove_trades(connection, matches, purge)
            seconds += time.monotonic() - started
    if consent.as_json:
        document = _document(noun, matches, removed, seconds, rejects)
        print_json(document | ({"dry_run": True} if consent.dry_run else {}))
    else:
        words = f"{_described(noun, removed)} from {location}"
        words += f"; {matches.rejected:,} rejected." if rejects else "."
        click.echo(f"This would remove {words}" if consent.dry_run else f"Removed {words}")
    end_if_rejected(matches.rejected, rejects, as_json=consent.as_json)


def _document(
    noun: str, matches: Removal, removed: Removal, seconds: float, rejects: Path | None
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "removed": _count(noun, removed),
        "rejected": matches.rejected,
        "trades": removed.trades,
        "seconds": round(seconds, 3),
    }
    if matches.later_sells is not None:
        document |= {"later_sells": matches.later_sells, "open_positions": matches.open_positions}
    if matches.rejected:
        document["rejects"] = str(rejects)
    return document


def _remove_trades(connection: Connection, matches: Removal, purge: Purge | None) -> Removal:
    with progress_bar("Removing") as show:
        done = 0

        def progress(removed: int) -> None:
            nonlocal done
            done += removed
            show(done, matches.trades)

        removed = removals.remove_trades(connection, progress, purge=purge)
    return Removal(matches.wallets, removed.trades)


def _count(noun: str, removal: Removal) -> int:
    return removal.wallets if noun == "wallet" else removal.trades


def _described(noun: str, removal: Removal) -> str:
    wallets = f"{removal.wallets:,} wallet{'' if removal.wallets == 1 else 's'}"
    trades = f"{removal.trades:,} trade{'' if removal.trades == 1 else 's'}"
    return f"{wallets} with {trades}" if noun == "wallet" else f"{trades} of {wallets}"

"""`wallet-api import wallets|trades|prices|quotes FILE`: import a file and report its rows."""

import time
from collections.abc import Callable, Iterator
from typing import Any, get_args

import click
import msgspec

from wallet_api.database import Connection
from wallet_api.ledger import imports
from wallet_api.ledger.files.epochs import Timestamps, with_times, with_unread_time
from wallet_api.ledger.files.lines import Record, Reject, Warn
from wallet_api.ledger.files.links import with_https_links
from wallet_api.ledger.files.readers import Source, open_source, read_denied
from wallet_api.ledger.files.rejects import rejects_of
from wallet_api.ledger.files.rows import PriceRow, QuoteRow, TradeRow, WalletRow
from wallet_api.ledger.quotes import QuoteRule
from wallet_api.ledger.quotes import import_quotes as import_quote_rows
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.options import file_options
from wallet_api.operate.cli.output import Show, end_if_rejected, json_option, print_json, progress_bar, warn
from wallet_api.operate.cli.showcase import warn_of_demo
from wallet_api.settings import Settings

_Import = Callable[[Connection, Iterator[Record[Any]], Reject, Source], imports.Summary]

_file = click.argument("file")
_timestamps = click.option(
    "--timestamps",
    type=click.Choice(get_args(Timestamps)),
    default="iso",
    show_default=True,
    help="Times are ISO 8601, or Unix times in seconds or milliseconds.",
)


@click.group("import")
def import_files() -> None:
    """Import wallets, trades, prices or quotes from a file.

    FILE is NDJSON (.ndjson, .jsonl, or - for standard input), an array of JSON (.json) or CSV (.csv), each
    also with .gz; of wallets also a list of addresses, one a line (.txt). A column that it does not have
    leaves the stored value unchanged; an empty cell (null or "" in NDJSON) clears it. Unknown columns are
    ignored with a warning. Files of other tools: docs/import.md has recipes.

    Rejected rows are written to FILE.rejects.ndjson with their line number and the reason; all other rows are
    imported. Exit status: 0 all rows were imported, 3 some were rejected, 1 the import failed.
    """


@import_files.command("wallets")
@_file
@file_options(WalletRow)
@json_option
def import_wallets_command(file: str, **options: Any) -> None:
    """Track the wallets of FILE. A wallet that is already tracked gets the type and profile in FILE."""
    _run(file, WalletRow, _import_wallets, **options)


@import_files.command("trades")
@_file
@file_options(TradeRow)
@_timestamps
@json_option
def import_trades_command(file: str, **options: Any) -> None:
    """Import the trades of FILE. A trade that is already stored is replaced if its amounts differ.

    One with dollars alone (value_usd) gets its value by the native price within an hour: import prices first.
    Trades in the tokens of TOKEN_DENYLIST are left out, and counted.
    """
    denied = read_denied(Settings.from_environment().token_denylist)
    _run(
        file,
        TradeRow,
        lambda connection, records, reject, source: imports.import_trades(
            connection, records, reject, imports.TradeOptions(denied=denied, stop=source.stop)
        ),
        **options,
    )


@import_files.command("prices")
@_file
@file_options(PriceRow)
@_timestamps
@json_option
def import_prices_command(file: str, **options: Any) -> None:
    """Import native prices, and compute the USD value of trades within an hour that have none."""
    _run(
        file,
        PriceRow,
        lambda connection, records, reject, _: imports.import_prices(connection, records, reject),
        **options,
    )


@import_files.command("quotes")
@_file
@file_options(QuoteRow)
@_timestamps
@json_option
def import_quotes_command(file: str, **options: Any) -> None:
    """Import what tokens cost on markets, in dollars, with what their markets held (liquidity_usd).

    Quotes of thin markets (MARKET_PRICE_MIN_LIQUIDITY_USD), without a native price within an hour, or far
    from the last price are kept and counted, but make no price: import trades and prices first.
    """
    settings = Settings.from_environment()
    rule = QuoteRule(settings.market_price_min_liquidity_usd, settings.token_price_min_value_usd)
    _run(
        file,
        QuoteRow,
        lambda connection, records, reject, _: import_quote_rows(connection, records, reject, rule),
        **options,
    )


def _import_wallets(
    connection: Connection, records: Iterator[Record[WalletRow]], reject: Reject, source: Source
) -> imports.Summary:
    warn_of_demo(connection)
    warnings: list[str] = []
    summary = imports.import_wallets(connection, with_https_links(records, warnings), reject)
    summary.warnings += warnings
    return summary


def _run(
    file: str,
    row_type: type[msgspec.Struct],
    import_records: _Import,
    *,
    as_json: bool,
    timestamps: Timestamps = "iso",
    **form: Any,
) -> None:
    """Import a file of the form that open_source() gets."""
    started = time.monotonic()
    warnings: list[str] = []
    with (
        open_source(file, **form) as source,
        rejects_of(file) as rejects,
        database(creates=True) as connection,
        progress_bar(source.name, hidden=source.size is None) as show,
    ):
        records = _records(source, row_type, warnings.append, timestamps)
        summary = import_records(connection, _with_progress(records, source, show), rejects.add, source)
    summary.warnings[:0] = warnings
    _report(summary, str(rejects.path), time.monotonic() - started, as_json)
    end_if_rejected(summary.rejected, rejects.path, as_json=as_json)


def _records(
    source: Source, row_type: type[msgspec.Struct], warn: Warn, timestamps: Timestamps
) -> Iterator[Record[Any]]:
    if timestamps == "iso":
        return source.records(row_type, warn)
    return with_times(source.records(with_unread_time(row_type), warn), row_type, timestamps)


def _with_progress(records: Iterator[Record[Any]], source: Source, show: Show) -> Iterator[Record[Any]]:
    for count, record in enumerate(records):
        if count % 1000 == 0:
            show(source.position(), source.size or 0)
        yield record


def _report(summary: imports.Summary, rejects: str, seconds: float, as_json: bool) -> None:
    for warning in summary.warnings:
        warn(warning)
    if as_json:
        counts = {"landed": summary.landed, "changed": summary.changed, "rejected": summary.rejected}
        others = {
            "rejects": rejects if summary.rejected else None,
            **{name: getattr(summary, name) for name in ("derived", "denied", "not_used", "warnings")},
        }
        given = {name: value for name, value in others.items() if value}
        print_json({**counts, "seconds": round(seconds, 3), **given})
        return
    unchanged = summary.landed - summary.changed
    click.echo(
        f"Imported {summary.landed} rows in {seconds:.1f} s"
        f" ({summary.changed} new or changed, {unchanged} unchanged); {summary.rejected} rejected."
    )
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(summary.not_used.items()))
    for count, sentence in (
        (summary.derived, "Computed {} values from dollars, with the native price at their time."),
        (summary.denied, "Left out {} rows of denied tokens (TOKEN_DENYLIST)."),
        (summary.not_used.total(), f"{{}} quotes make no price: {reasons}."),
    ):
        if count:
            click.echo(sentence.format(count))

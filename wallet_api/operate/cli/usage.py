"""`wallet-api usage`: what API keys are used for."""

import csv
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import click

from wallet_api.api.keys.usage import read_usage
from wallet_api.database import Row
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.options import moment
from wallet_api.operate.cli.output import json_option, print_json, print_table

_COLUMNS = ("name", "day", "operation", "requests", "credits")
_DAYS = 30


@click.command()
@click.argument("name", required=False)
@click.option("--since", metavar="DATE", callback=moment, help="From this day (UTC) on. Default: 30 days.")
@click.option("--until", metavar="DATE", callback=moment, help="Until before this day (UTC).")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
def usage(
    name: str | None, since: datetime | None, until: datetime | None, as_csv: bool, as_json: bool
) -> None:
    """Show requests and credits by key, day and operation: of NAME, or of all keys.

    Requests are counted whatever their response, days are those of UTC, operations have the names of the
    OpenAPI document. Credits of a key without a limit are what its requests would have cost. The last 10
    seconds are missing.
    """
    if as_csv and as_json:
        raise click.UsageError("Give --csv or --json.")
    with database() as connection:
        first = first_day() if since is None else since.date()
        rows = read_usage(connection, first, name, date.max if until is None else until.date())
    if as_json:
        print_json([row | {"day": row["day"].isoformat()} for row in rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows(row.values() for row in rows)
    elif not rows:
        click.echo("No key was used in this time.")
    else:
        print_table([tuple(column.upper() for column in _COLUMNS), *(_line(row) for row in rows)])


def first_day() -> date:
    """Return the first of the last 30 days, today included."""
    return (datetime.now(UTC) - timedelta(days=_DAYS - 1)).date()


def by_operation(usage: Sequence[Row]) -> list[Row]:
    """Return the requests and credits of each operation, the most requested one first."""
    sums: dict[str, Row] = {}
    for row in usage:
        one = sums.setdefault(row["operation"], {"operation": row["operation"], "requests": 0, "credits": 0})
        one["requests"] += row["requests"]
        one["credits"] += row["credits"]
    return sorted(sums.values(), key=lambda one: (-one["requests"], one["operation"]))


def _line(row: Row) -> tuple[str, ...]:
    numbers = (f"{row[name]:,}" for name in ("requests", "credits"))
    return (row["name"], row["day"].isoformat(), row["operation"], *numbers)

"""`wallet-api keys` and `usage`: manage API keys, and see what they are used for."""

import csv
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import click

from wallet_api.api import keys as api_keys
from wallet_api.api.keys.usage import EXPIRES_SOON, read_usage
from wallet_api.api.keys.usage import list_keys as read_keys
from wallet_api.base.times import read_span, shown_time
from wallet_api.database import Row
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.key_files import given_options, import_keys, key_options
from wallet_api.operate.cli.options import moment
from wallet_api.operate.cli.output import json_option, print_json, print_table, typed, warn

_COLUMNS = ("NAME", "CREDITS", "RATE", "STATE", "CREATED", "LAST USED", "REQUESTS", "CHARGED")
_USAGE = ("name", "day", "operation", "requests", "credits")
# Today included.
_DAYS = 30
_TIMES = ("expires_at", "revoked_at", "created_at", "previous_until", "last_used_at")


def _overlap(context: click.Context, option: click.Parameter, text: str) -> timedelta:
    overlap = timedelta() if text in ("0", "0s") else read_span(text)
    if overlap is None:
        raise click.BadParameter(f"{text!r} is no such time as 24h, 7d, 30m or 0.", context, option)
    return overlap


@click.group()
def keys() -> None:
    """Create, list, change, rotate, revoke and top up API keys."""


@keys.command()
@click.argument("name")
@key_options
@json_option
def create(name: str, as_json: bool, **values: Any) -> None:
    """Create a key and print it. Only its hash is stored, so it cannot be shown again.

    It has no limit of credits unless --credits or --monthly gives it some, and --monthly alone begins with N.
    A key that is bound gets a 403 for all else. The name of a revoked key can be given again.
    """
    with database(creates=True) as connection:
        key = api_keys.create_key(connection, name, **given_options(values))
    _show_secret(name, key, {}, as_json=as_json)


keys.add_command(import_keys)


@keys.command("list")
@json_option
def list_keys_command(as_json: bool) -> None:
    """List all keys with their credits, rates, states and use.

    REQUESTS and CHARGED are those of today (UTC) and of the last 30 days. They lack the last 10 seconds.
    """
    with database() as connection:
        rows = read_keys(connection)
    if as_json:
        print_json([_plain(row) for row in rows])
    elif not rows:
        click.echo(f"There are no keys. Create one: {typed('keys create NAME')}")
    else:
        print_table([_COLUMNS, *(_line(row, datetime.now(UTC)) for row in rows)])
    _warn_of_expiry(rows)


@keys.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show a key, its use today and in the last 30 days, and the operations that it used then."""
    with database() as connection:
        rows = [row for row in read_keys(connection) if row["name"] == name]
        used = read_usage(connection, _first_day(), name)
    operations = _by_operation(used)
    if as_json:
        print_json([_plain(row) for row in rows][-1] | {"operations_30_days": operations})
    else:
        for label, cell in zip(_COLUMNS, _line(rows[-1], datetime.now(UTC)), strict=True):
            click.echo(f"{label.capitalize():10} {cell}")
        if operations:
            click.echo()
            print_table(
                [
                    ("OPERATION", "REQUESTS", "CHARGED"),
                    *(
                        (one["operation"], f"{one['requests']:,}", f"{one['credits']:,}")
                        for one in operations
                    ),
                ]
            )
    _warn_of_expiry(rows[-1:])


@keys.command("set")
@click.argument("name")
@key_options
def set_key_command(name: str, **values: Any) -> None:
    """Change what a key may do, at once or after KEY_CACHE_SECONDS at most.

    With --monthly the balance becomes N at once, and again with the first charge of each month (UTC),
    whatever was left or added; with --credits too, that is the balance until then. --chain, --type and
    --operation replace those of before, and any takes them away.
    """
    changes = given_options(values)
    if not changes:
        raise click.UsageError(
            "Give --rate, --expires, --credits or --monthly, or --chain, --type or --operation."
        )
    with database() as connection:
        row = api_keys.set_key(connection, name, **changes)
    expiry = "does not expire" if row["expires_at"] is None else f"expires {shown_time(row['expires_at'])}"
    click.echo(
        f"{name} has {_credits(row)} credits, the rate {row['rate'] or 'default'}, and {expiry}{_scope(row)}."
    )


@keys.command()
@click.argument("name")
@click.option(
    "--overlap",
    default="24h",
    show_default=True,
    metavar="24h|7d|30m",
    callback=_overlap,
    help="How long the secret before it is still accepted.",
)
@json_option
def rotate(name: str, overlap: timedelta, as_json: bool) -> None:
    """Give a key another secret, and print it.

    Until the end of --overlap the secret before it is accepted too; both have the same credits and rate. A
    second rotation ends the overlap of the first.
    """
    with database() as connection:
        key, until = api_keys.rotate_key(connection, name, overlap)
    _show_secret(name, key, {"previous_until": shown_time(until)}, as_json=as_json)
    if not as_json:
        click.echo(f"The key before it is accepted until {shown_time(until)}.", err=True)


@keys.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Revoke without confirmation, which is for terminals alone.")
def revoke(name: str, yes: bool) -> None:
    """Revoke a key permanently. Workers refuse it after KEY_CACHE_SECONDS at most."""
    if not yes and sys.stdin.isatty() and not click.confirm(f"Revoke {name} permanently?", err=True):
        raise click.ClickException("Nothing was revoked.")
    with database() as connection:
        revoked_at = api_keys.revoke_key(connection, name)
    click.echo(f"{name} was revoked at {shown_time(revoked_at)}.")


@keys.command("top-up")
@click.argument("name")
@click.argument("credits", type=int, metavar="N")
def top_up(name: str, credits: int) -> None:
    """Add N credits to a key."""
    with database() as connection:
        balance = api_keys.top_up_key(connection, name, credits)
    click.echo(f"{name} has {balance} credits.")


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
        first = _first_day() if since is None else since.date()
        rows = read_usage(connection, first, name, date.max if until is None else until.date())
    if as_json:
        print_json([row | {"day": row["day"].isoformat()} for row in rows])
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(_USAGE)
        writer.writerows(row.values() for row in rows)
    elif not rows:
        click.echo("No key was used in this time.")
    else:
        print_table([tuple(column.upper() for column in _USAGE), *(_used(row) for row in rows)])


def _show_secret(name: str, key: str, more: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "key": key} | more)
    else:
        click.echo(f"The key of {name}. It is shown only once:", err=True)
        click.echo(key)


def _plain(row: Row) -> dict[str, Any]:
    times = {name: row[name] and shown_time(row[name]) for name in _TIMES}
    return {name: value for name, value in row.items() if name != "key_id"} | times


def _warn_of_expiry(rows: Sequence[Row]) -> None:
    now = datetime.now(UTC)
    soon = [
        f"{row['name']} ({shown_time(row['expires_at'])})"
        for row in rows
        if row["revoked_at"] is None and row["expires_at"] and now < row["expires_at"] < now + EXPIRES_SOON
    ]
    if soon:
        warn(f"expires within {EXPIRES_SOON.days} days: {', '.join(soon)}")


def _line(row: Row, now: datetime) -> tuple[str, ...]:
    return (
        row["name"],
        _credits(row),
        row["rate"] or "default",
        _state(row, now),
        shown_time(row["created_at"]),
        "never" if row["last_used_at"] is None else shown_time(row["last_used_at"]),
        f"{row['requests_today']:,} / {row['requests_30_days']:,}",
        f"{row['credits_today']:,} / {row['credits_30_days']:,}",
    )


def _credits(row: Row) -> str:
    monthly = "" if row["monthly"] is None else f" ({row['monthly']} a month)"
    return "unlimited" if row["credits"] is None else f"{row['credits']}{monthly}"


def _scope(row: Row) -> str:
    bounds = [", ".join(row[name]) for name in api_keys.BOUNDS if row[name]]
    return f"; it is bound to {'; '.join(bounds)}" if bounds else ""


def _state(row: Row, now: datetime) -> str:
    if row["revoked_at"] is not None:
        return f"revoked {shown_time(row['revoked_at'])}"
    state = "valid"
    if row["expires_at"] is not None:
        state = f"{'expired' if row['expires_at'] <= now else 'expires'} {shown_time(row['expires_at'])}"
    if row["previous_until"] is not None and row["previous_until"] > now:
        state += f", rotated, both until {shown_time(row['previous_until'])}"
    return state + _scope(row)


def _first_day() -> date:
    """Return the first of the last 30 days, today included."""
    return (datetime.now(UTC) - timedelta(days=_DAYS - 1)).date()


def _by_operation(rows: Sequence[Row]) -> list[Row]:
    """Return the requests and credits of each operation, the most requested one first."""
    sums: dict[str, Row] = {}
    for row in rows:
        one = sums.setdefault(row["operation"], {"operation": row["operation"], "requests": 0, "credits": 0})
        one["requests"] += row["requests"]
        one["credits"] += row["credits"]
    return sorted(sums.values(), key=lambda one: (-one["requests"], one["operation"]))


def _used(row: Row) -> tuple[str, ...]:
    numbers = (f"{row[name]:,}" for name in ("requests", "credits"))
    return (row["name"], row["day"].isoformat(), row["operation"], *numbers)

"""`wallet-api keys`: manage API keys."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from wallet_api import keys as api_keys
from wallet_api.cli.environment import database
from wallet_api.cli.options import moment, span
from wallet_api.cli.output import json_option, print_json, print_table, typed
from wallet_api.cli.usage import by_operation, first_day
from wallet_api.database import Connection, Row
from wallet_api.keys.usage import EXPIRES_SOON, read_usage
from wallet_api.keys.usage import list_keys as read_keys
from wallet_api.times import shown_time

_COLUMNS = ("NAME", "CREDITS", "RATE", "STATE", "CREATED", "LAST USED", "REQUESTS", "CHARGED")
# Of more the service has no use.
MAX_DIGITS = 18
_TIMES = ("expires_at", "revoked_at", "created_at", "previous_until", "last_used_at")


def _overlap(context: click.Context, option: click.Parameter, text: str) -> timedelta:
    overlap = timedelta() if text in ("0", "0s") else span(text)
    if overlap is None:
        raise click.BadParameter(f"{text!r} is no such time as 24h, 7d, 30m or 0.", context, option)
    return overlap


def _moment_or_never(
    context: click.Context, option: click.Parameter, text: str | None
) -> datetime | str | None:
    return text if text == "never" else moment(context, option, text)


def _number_or(word: str) -> Callable[[click.Context, click.Parameter, str | None], int | str | None]:
    def read(context: click.Context, option: click.Parameter, text: str | None) -> int | str | None:
        if text is None or text == word:
            return text
        if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
            raise click.BadParameter(f"{text[:40]!r} is neither a whole number nor {word}.", context, option)
        return int(text)

    return read


@click.group()
def keys() -> None:
    """Create, list, change, rotate, revoke and top up API keys."""


@keys.command()
@click.argument("name")
@click.option("--credits", type=int, help="Credits of the key. Default: unlimited.")
@click.option(
    "--rate", help="Rate limit per second, minute, hour or day, such as 300/minute. Default: DEFAULT_RATE."
)
@click.option("--expires", metavar="DATE", callback=moment, help="Day (UTC) or time when the key expires.")
@json_option
def create(name: str, credits: int | None, rate: str | None, expires: datetime | None, as_json: bool) -> None:
    """Create a key and print it. Only its hash is stored, so it cannot be shown again.

    The name of a revoked key can be given again.
    """
    with _keys(creates=True) as connection:
        key = api_keys.create_key(connection, name, credits=credits, rate=rate, expires_at=expires)
    _show_secret(name, key, {}, as_json=as_json)


@keys.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """List all keys with their credits, rates, states and use.

    REQUESTS and CHARGED are those of today (UTC) and of the last 30 days. They lack the last 10 seconds.
    """
    with _keys() as connection:
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
    with _keys() as connection:
        rows = [row for row in read_keys(connection) if row["name"] == name]
        usage = read_usage(connection, first_day(), name)
    operations = by_operation(usage)
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
@click.option("--rate", help="Rate limit, such as 600/minute, or default for DEFAULT_RATE.")
@click.option(
    "--expires", metavar="DATE", callback=_moment_or_never, help="Day (UTC) or time of expiry, or never."
)
@click.option("--credits", metavar="N|unlimited", callback=_number_or("unlimited"), help="The balance.")
@click.option("--monthly", metavar="N|none", callback=_number_or("none"), help="The balance of each month.")
def set_key(
    name: str,
    rate: str | None,
    expires: datetime | str | None,
    credits: int | str | None,
    monthly: int | str | None,
) -> None:
    """Change the rate, the expiry or the credits of a key, at once or after KEY_CACHE_SECONDS at most.

    With --monthly the balance becomes N at once, and again with the first charge of each month (UTC),
    whatever was left or added; with --credits too, that is the balance until then.
    """
    changes: api_keys.KeyChanges = {}
    if rate is not None:
        changes["rate"] = None if rate == "default" else rate
    if expires is not None:
        changes["expires_at"] = expires if isinstance(expires, datetime) else None
    if credits is not None:
        changes["credits"] = credits if isinstance(credits, int) else None
    if monthly is not None:
        changes["monthly"] = monthly if isinstance(monthly, int) else None
    if not changes:
        raise click.UsageError("Give --rate, --expires, --credits or --monthly.")
    with _keys() as connection:
        row = api_keys.set_key(connection, name, **changes)
    expiry = "does not expire" if row["expires_at"] is None else f"expires {shown_time(row['expires_at'])}"
    click.echo(f"{name} has {_credits(row)} credits, the rate {row['rate'] or 'default'}, and {expiry}.")


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
    with _keys() as connection:
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
    with _keys() as connection:
        revoked_at = api_keys.revoke_key(connection, name)
    click.echo(f"{name} was revoked at {shown_time(revoked_at)}.")


@keys.command("top-up")
@click.argument("name")
@click.argument("credits", type=int, metavar="N")
def top_up(name: str, credits: int) -> None:
    """Add N credits to a key."""
    with _keys() as connection:
        balance = api_keys.top_up_key(connection, name, credits)
    click.echo(f"{name} has {balance} credits.")


@contextmanager
def _keys(*, creates: bool = False) -> Iterator[Connection]:
    try:
        with database(creates=creates) as connection:
            yield connection
    except api_keys.KeyRequestError as error:
        raise click.ClickException(f"{error}.") from error


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
        click.echo(f"Warning: expires within {EXPIRES_SOON.days} days: {', '.join(soon)}", err=True)


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


def _state(row: Row, now: datetime) -> str:
    if row["revoked_at"] is not None:
        return f"revoked {shown_time(row['revoked_at'])}"
    state = "valid"
    if row["expires_at"] is not None:
        state = f"{'expired' if row['expires_at'] <= now else 'expires'} {shown_time(row['expires_at'])}"
    if row["previous_until"] is not None and row["previous_until"] > now:
        state += f", rotated, both until {shown_time(row['previous_until'])}"
    return state

"""`wallet-api keys create|list|revoke|top-up`: manage API keys."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from wallet_api import keys as api_keys
from wallet_api.cli.environment import database
from wallet_api.cli.options import moment
from wallet_api.cli.output import json_option, print_json, print_table
from wallet_api.database import Connection, Row
from wallet_api.keys import shown_time

_COLUMNS = ("NAME", "CREDITS", "RATE", "STATE", "CREATED")


@click.group()
def keys() -> None:
    """Create, list, revoke and top up API keys."""


@keys.command()
@click.argument("name")
@click.option("--credits", type=int, help="Credits of the key. Default: unlimited.")
@click.option(
    "--rate", help="Rate limit per second, minute, hour or day, such as 300/minute. Default: DEFAULT_RATE."
)
@click.option("--expires", metavar="DATE", callback=moment, help="Day (UTC) or time when the key expires.")
@json_option
def create(name: str, credits: int | None, rate: str | None, expires: datetime | None, as_json: bool) -> None:
    """Create a key and print it. Only its hash is stored, so it cannot be shown again."""
    with _keys() as connection:
        key = api_keys.create_key(connection, name, credits=credits, rate=rate, expires_at=expires)
    if as_json:
        print_json({"name": name, "key": key})
    else:
        click.echo(f"The key of {name}. It is shown only once:", err=True)
        click.echo(key)


@keys.command("list")
@json_option
def list_keys(as_json: bool) -> None:
    """List the names, credits, rates and states of all keys."""
    with _keys() as connection:
        rows = api_keys.list_keys(connection)
    if as_json:
        print_json([_plain(row) for row in rows])
    elif not rows:
        click.echo("There are no keys. Create one: wallet-api keys create NAME")
    else:
        print_table([_COLUMNS, *(_line(row, datetime.now(UTC)) for row in rows)])


@keys.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke a key permanently. Workers refuse it after KEY_CACHE_SECONDS at most."""
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
def _keys() -> Iterator[Connection]:
    try:
        with database() as connection:
            yield connection
    except api_keys.KeyRequestError as error:
        raise click.ClickException(f"{error}.") from error


def _plain(row: Row) -> dict[str, Any]:
    times = {name: row[name] and shown_time(row[name]) for name in ("expires_at", "revoked_at", "created_at")}
    return {"name": row["name"], "credits": row["credits"], "rate": row["rate"]} | times


def _line(row: Row, now: datetime) -> tuple[str, ...]:
    credits = row["credits"]
    if row["revoked_at"] is not None:
        state = f"revoked {shown_time(row['revoked_at'])}"
    elif row["expires_at"] is None:
        state = "valid"
    else:
        state = f"{'expired' if row['expires_at'] <= now else 'expires'} {shown_time(row['expires_at'])}"
    return (
        row["name"],
        "unlimited" if credits is None else str(credits),
        row["rate"] or "default",
        state,
        shown_time(row["created_at"]),
    )

"""Demo data of a version before the first release, whose tables cannot be upgraded."""

import json
from pathlib import Path

import click

from wallet_api import embedded, migrations
from wallet_api.database import Connection

# The note of such a version about the demo that it had loaded, and the defaults of its sizes.
_NOTE = "demo.json"
_SIZE = {"wallets": 320, "trades": 200_000}

_COUNT = "SELECT (SELECT count(*) FROM wallets) AS wallets, (SELECT count(*) FROM trades) AS trades"


class OldDemo(Exception):
    """The home has tables of a version before the first release, and demo data alone."""


def check_for_old_demo(connection: Connection, home: Path) -> None:
    """Raise OldDemo if this is the database of such a home."""
    if not migrations.inspect(connection).is_unreleased or not (home / _NOTE).exists():
        return
    note = json.loads((home / _NOTE).read_bytes())
    size = _SIZE | note.get("size", {})
    row = connection.execute(_COUNT).fetchone()
    assert row is not None
    if row["wallets"] <= size["wallets"] and row["trades"] <= max(size["trades"], note.get("most_trades", 0)):
        raise OldDemo


def set_aside(home: Path) -> None:
    """Rename the home, for `up` to start afresh."""
    aside = home.with_name(f"{home.name}.old")
    if aside.exists():
        raise click.ClickException(
            f"The demo data in {home} is of a version before the first release, which cannot be upgraded, "
            f"and {aside} exists already. Remove one of the two, and try again."
        )
    with embedded.explained(home):
        home.rename(aside)
    click.echo(
        f"The demo data in {home} is of a version before the first release. Moved it to {aside}, "
        "which may be removed."
    )

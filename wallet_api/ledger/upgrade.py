"""The upgrade of a database: its tables, and what an earlier version stored in another form."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from wallet_api.database import Connection, load_statements, migrations
from wallet_api.database.migrations.placement import place_tables
from wallet_api.ledger import arrivals, merge, staging
from wallet_api.ledger.rebuild import Progress, fill_wallets, no_progress

# In a transaction, which blocks imports of these wallets.
_POSITIONS = 500

_RESPELLED = load_statements(__package__, "respelled")


@dataclass
class Upgrade:
    """The applied migrations, the tables that were placed on the workers of a Citus cluster, and the rest.

    `respelled` signatures got another form, `merged` trades were the same then, and `filled` wallets got the
    figures that a migration added.
    """

    applied: list[str]
    placed: list[str]
    respelled: int = 0
    merged: int = 0
    filled: int = 0


def upgrade(
    connection: Connection,
    progress: Callable[[str], None] = lambda name: None,
    filling: Progress = no_progress,
) -> Upgrade:
    """Apply the pending migrations, merge trades that were stored under several spellings of one hash, and
    compute the figures that a migration added.

    An interrupted upgrade continues when it is run again. Raises SchemaError.
    """
    done = Upgrade(migrations.migrate(connection, progress), place_tables(connection))
    while positions := connection.execute(_RESPELLED["positions"], {"limit": _POSITIONS}).fetchall():
        parameters = {f"{name}s": [row[name] for row in positions] for name in ("wallet_id", "token_id")}
        staging.prepare(connection)
        with arrivals.change(connection):
            merge.lock_wallets(connection, parameters["wallet_ids"])
            connection.execute(_RESPELLED["affected"], parameters)
            done.respelled += connection.execute(_RESPELLED["respelled"]).rowcount
            connection.execute(_RESPELLED["merged"])
            done.merged += merge.merge_affected(connection, datetime.now(UTC))
            connection.execute(_RESPELLED["done"], parameters)
    done.filled = fill_wallets(connection, filling)
    return done

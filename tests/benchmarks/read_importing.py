"""Ask for histories while an import runs: in each, the lifetime figures are the sums of its token overview.

    python -m tests.benchmarks.read_importing [--trades 1000000]

The importer is the command, in a process of its own; the histories are requested one after the other, of
forty wallets and the heavy one, until it ends.
"""

import subprocess
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import click

from tests.benchmarks import ledger_world
from tests.integration.test_ledger_under_way import assert_whole
from tests.ledger.alone import ledger_alone
from tests.ledger.in_process import exact
from wallet_api.api.schemas.history import HistorySchema
from wallet_api.database import Connection, connect
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.history import wallet_history

_WANTED = "SELECT address FROM wallets WHERE blockchain = %s AND type = %s ORDER BY address LIMIT 40"


@click.command()
@click.option("--trades", default=1_000_000, show_default=True, help="How many are imported meanwhile.")
def main(trades: int) -> None:
    """Ends with an AssertionError at the first history that is not whole."""
    with ledger_alone() as settings, connect(str(settings.database_url)) as connection:
        folder = Path(settings.wallet_api_home)
        ledger_world.write(folder, trades)
        for name in ("wallets", "prices"):
            with ledger_world.importing(settings, folder, name):
                pass
        with ledger_world.importing(settings, folder, "trades") as importer:
            line = _read_during(importer, connection)
        click.echo(line)


def _read_during(importer: "subprocess.Popen[str]", connection: Connection) -> str:
    group = tuple(ledger_world.GROUP.values())
    wallets: list[dict[str, Any]] = connection.execute(_WANTED, group).fetchall()
    wallets.append({"address": ledger_world.HEAVY})
    read = 0
    states: set[tuple[str, int]] = set()
    for wallet in cycle(wallets):
        if importer.poll() is not None:
            break
        place = (group[0], wallet["address"])
        record = exact(
            HistorySchema(),
            wallet_history(connection, find_wallet(connection, *place), datetime.now(UTC), {"limit": 5}),
        )
        assert_whole(record)
        states.add((wallet["address"], record["lifetime_stats"]["total_tx_count"]))
        read += 1
    return f"{read:,} histories, each whole, of {len(wallets)} wallets in {len(states):,} states."


if __name__ == "__main__":
    main()

"""Follow feeds for long while the ledger changes and is killed: is a change skipped, or does one come twice?

    python -m tests.benchmarks.follow [--minutes 30] [--citus]

Four importers, removals of trades and of wallets, and three followers that now and then go on at another
process of the service. Sessions are ended at random, some six a second. Each minute it says what was done so
far. At the end each follower has to have the ledger's own trades, exactly. After half of the time a backup is
made and restored elsewhere, where a follower of before it goes on. Ends with status 0 if all is so. With
--citus the ledger is on a cluster of the programs in CITUS_BIN, and there is no backup.
"""

import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import click
from flask import Flask

from tests.ledger.alone import ledger_alone
from tests.ledger.caller import Caller
from tests.ledger.contended import Contended
from tests.ledger.follower import Follower, stored, trades_of
from tests.ledger.rows import GROUP
from tests.lib.cluster import programs, running_cluster
from wallet_api.api.keys import create_key
from wallet_api.app import create_app
from wallet_api.base.recurring import Recurring
from wallet_api.database import connect
from wallet_api.database.migrations.placement import place_tables
from wallet_api.operate import embedded
from wallet_api.operate.backup.dump import back_up
from wallet_api.operate.backup.restore import restore_ledger
from wallet_api.settings import Settings


@click.command()
@click.option("--minutes", default=30.0, show_default=True)
@click.option("--citus", is_flag=True, help="Use a Citus cluster of the programs in CITUS_BIN.")
def main(minutes: float, citus: bool) -> None:
    """Raise an AssertionError if a follower does not end with the ledger's trades."""
    with ExitStack() as stack:
        url = stack.enter_context(running_cluster(programs())).create("bench") if citus else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-bench-")))
        own = stack.enter_context(ledger_alone(folder, url))
        with connect(str(own.database_url)) as connection:
            place_tables(connection)
            key = create_key(connection, "follower", rate="1000000/minute")
        with _app(own) as one, _app(own) as other, ThreadPoolExecutor(1) as pool:
            contended = Contended(str(own.database_url), [one, other], key, importers=4)
            progress = Recurring(
                "progress", lambda: click.echo(f"{_said(contended)} …", err=True), 60, ends_with_success=False
            )
            progress.start()
            stack.callback(progress.close)
            if not citus:
                restored = pool.submit(_restored, own, folder, Caller(one.test_client(), key), minutes * 30)
            contended.run(minutes * 60)
            if not citus:
                contended.done["changes of the restored ledger"] = restored.result()
        click.echo(_said(contended))


def _said(contended: Contended) -> str:
    # A copy, since threads add names meanwhile.
    return ", ".join(f"{count} {name}" for name, count in sorted(contended.done.copy().items()))


@contextmanager
def _app(settings: Settings) -> Iterator[Flask]:
    app = create_app(replace(settings, answer_ttl_seconds=0))
    with closing(app.extensions["wallet_api"]):
        yield app


def _restored(own: Settings, folder: Path, caller: Caller, seconds: float) -> int:
    """Make a backup, and follow on where it is restored; return how many changes came in all."""
    threading.Event().wait(seconds)
    follower, file = Follower(caller, **GROUP), folder / "ledger.dump"
    follower.read()
    # With a name of its own, its session is not ended.
    with connect(str(own.database_url), application_name="backup") as connection:
        back_up(connection, str(own.database_url), file, overwrite=False, progress=click.echo)
    with embedded.running(Settings(wallet_api_home=str(folder / "restored"))) as there:
        with connect(str(there.database_url)) as connection:
            restore_ledger(connection, file, replace=False, progress=click.echo)
        with _app(there) as app:
            follower = follower.resumed(replace(caller, client=app.test_client()))
            follower.read()
            assert stored(follower.trades) == trades_of(follower.caller, **GROUP)
    return len(follower.changes)


if __name__ == "__main__":
    main()

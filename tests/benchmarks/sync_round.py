"""How long a first round of `wallet-api sync trades` takes, against what the provider's limit allows.

    python -m tests.benchmarks.sync_round [--wallets 2000] [--swaps 100] [--rate 20]

A stub on loopback plays the provider. DATABASE_URL names an empty database of its own to work in; without
it a server of its own is started. Takes about wallets * pages / rate seconds.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import click

from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.sync.operator import Operator
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.demo.forms import seeded, solana_address
from wallet_api.settings import Settings

NATIVE = "So11111111111111111111111111111111111111112"


@click.command()
@click.option("--wallets", default=2000, show_default=True)
@click.option("--swaps", default=100, show_default=True, help="Of each wallet; a page holds a hundred.")
@click.option("--rate", default=20.0, show_default=True, help="Requests a second that the provider allows.")
@click.option("--threads", default=8, show_default=True)
@click.option("--delay", default=0.1, show_default=True, help="Seconds the provider takes for a page.")
def main(wallets: int, swaps: int, rate: float, threads: int, delay: float) -> None:
    """Run one round, then a second one, and compare."""
    with tempfile.TemporaryDirectory(prefix="wallet-api-sync-") as home:
        own = replace(Settings.from_environment(), wallet_api_home=home)
        with embedded.running(own) as settings, closing(Stub()) as stub:
            with connect(str(settings.database_url)) as connection:
                migrations.migrate(connection)
            operator = Operator(stub, str(settings.database_url))
            _fill(stub, operator, wallets, swaps)
            stub.scenarios["moralis"] = lambda: time.sleep(delay)  # type: ignore[func-returns-value]
            options = {"SYNC_REQUESTS_PER_SECOND": str(rate), "SYNC_THREADS": str(threads)}
            for name in ("first", "second"):
                stub.calls.clear()
                began = time.monotonic()
                process = operator.start("trades", "--json", **options)
                output, errors = process.communicate()
                seconds = time.monotonic() - began
                if process.returncode:
                    sys.exit(errors.decode())
                summary = json.loads(output)
                calls = [call.moment for call in stub.calls if call.name.endswith("/swaps")]
                _report(name, summary, calls, seconds, rate)
            (count,) = operator.fetch("SELECT count(*) AS trades FROM trades")
            click.echo(f"ledger: {count['trades']} trades of {wallets * swaps}")
            if count["trades"] != wallets * swaps:
                sys.exit(1)


def _fill(stub: Stub, operator: Operator, wallets: int, swaps: int) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    random = seeded("sync round")
    mints = [solana_address(random) for _ in range(50)]
    owners = [solana_address(random) for _ in range(wallets)]
    operator.track(*(("solana", owner) for owner in owners))
    for owner in owners:
        rows = [
            swap(
                f"{owner}{number}",
                now - timedelta(days=20) + timedelta(minutes=number * 20),
                leg(mints[number % 50], "1000", "Token"),
                leg(NATIVE, "0.5", "Wrapped SOL"),
                75.25,
                walletAddress=owner,
            )
            for number in range(swaps)
        ]
        stub.swaps.add("solana", owner, *rows)


def _busiest_second(moments: Sequence[float]) -> int:
    """The most requests that fell into any one second."""
    ordered = sorted(moments)
    start = most = 0
    for end, moment in enumerate(ordered):
        while moment - ordered[start] >= 1:
            start += 1
        most = max(most, end - start + 1)
    return most


def _report(name: str, summary: dict[str, object], calls: list[float], seconds: float, rate: float) -> None:
    allowed = len(calls) / rate
    click.echo(f"{name} round: {summary['synced']} wallets synced, {summary['changed']} trades changed")
    most = _busiest_second(calls)
    click.echo(
        f"  {len(calls)} requests ({summary['requests']} counted), at most {most} in a second of {rate:g}"
    )
    click.echo(f"  {seconds:.1f} s, {seconds / allowed:.2f} x the {allowed:.1f} s that the limit allows")


if __name__ == "__main__":
    main()

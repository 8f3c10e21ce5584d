"""`wallet-api up`: run the whole service on this machine, with its servers and demo data."""

import errno
import fcntl
import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import click

from wallet_api import demo as demo_data
from wallet_api import embedded, migrations
from wallet_api.chains import CHAINS
from wallet_api.cli.old_demo import OldDemo, check_for_old_demo, set_aside
from wallet_api.cli.output import progress_bar
from wallet_api.cli.showcase import OWN_DATA_GUIDE, demo_guide
from wallet_api.cli.supervision import SERVER_STOP_SECONDS, Supervisor, end_leftovers
from wallet_api.database import connect
from wallet_api.demo import provider
from wallet_api.demo.balances import demo_portfolio
from wallet_api.embedded.signals import Terminated
from wallet_api.errors import ServiceUnavailable
from wallet_api.settings import Settings
from wallet_api.sync.sources import supplied_chains

_RESPONSE_SECONDS = 60.0
_TRIM_SECONDS = 60.0
_POLL_SECONDS = 0.25
_DEMO_SECONDS = 15.0
_PRICES_SECONDS = 60.0
_TOKENS_SECONDS = 60.0


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. Default: PORT, or 8000.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all networks."
)
@click.option("--demo/--no-demo", default=True, help="Whether to load demo data into an empty database.")
def up(port: int | None, host: str, demo: bool) -> None:
    """Run the whole service until Ctrl-C.

    This starts PostgreSQL, Valkey and the API, and loads demo data into an empty database. If DATABASE_URL or
    VALKEY_URL is set, that server is used instead of an embedded one. A process that exits is started again;
    if that does not help, the command ends with the reason.
    """
    own = Settings.from_environment()
    if _syncs(own):
        # Report a missing setting here, and not in the log of a child process.
        supplied_chains(own)
    try:
        _start(own, host, port or own.port, demo)
    except OldDemo:
        set_aside(embedded.home_of(own))
        _start(own, host, port or own.port, demo)
    click.echo("Stopped.")


def _start(own: Settings, host: str, port: int, demo_wanted: bool) -> None:
    with ExitStack() as stack:
        try:
            _run(stack, own, host, port, demo_wanted)
        except (KeyboardInterrupt, Terminated):
            click.echo("\nStopping …")


def _run(stack: ExitStack, own: Settings, host: str, port: int, demo_wanted: bool) -> None:
    home = embedded.home_folder(own)
    stack.enter_context(_only_one(home))
    end_leftovers(home)
    listener = stack.enter_context(_reserved(host, port))
    click.echo(f"Starting in {home} …")
    settings, servers = stack.enter_context(
        embedded.supervised(own, valkey=True, stop_seconds=SERVER_STOP_SECONDS)
    )
    url = str(settings.database_url)
    environment = _environment(settings)
    with connect(url) as connection:
        if own.database_url is None:
            check_for_old_demo(connection, home)
        migrations.migrate(connection)
        is_demo = demo_wanted and not demo_data.has_own(connection)
    if is_demo:
        click.echo("Loading demo trades up to now …")
        with progress_bar("Loading") as show:
            demo_data.keep_current(url, show)
        if settings.moralis_api_key is None:
            environment |= _stand_in(stack.enter_context(provider.running(partial(demo_portfolio, url))))
    supervisor = stack.enter_context(Supervisor(home, servers))
    # The listener stays open while gunicorn is started again, so that requests wait. On exit it is closed
    # first, since nothing would accept them.
    stack.callback(listener.close)
    gunicorn = (
        *(sys.executable, "-m", "gunicorn", "--config", "python:wallet_api.serving.settings"),
        *("--bind", f"fd://{listener.fileno()}", "--access-logfile", str(home / "log" / "access.log")),
        "wallet_api.app:create_app()",
    )
    supervisor.start("gunicorn", gunicorn, environment, listeners=[listener.fileno()])
    for job, every in ({} if is_demo else _sync_jobs(settings)).items():
        command = (sys.executable, "-m", "wallet_api", "sync", job, "--every", f"{every:g}", "--wait")
        supervisor.start(f"sync {job}", command, environment, log=f"sync-{job}.log")
    own_host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104
    _await_response(supervisor, own_host, port)
    address = f"http://{f'[{own_host}]' if ':' in own_host else own_host}:{port}"
    click.echo(f"\nThe Wallet Intelligence API is at {address}")
    click.echo(f"Its reference, with a console to try requests, is at {address}/docs\n")
    if is_demo:
        with connect(url) as connection:
            click.echo(demo_guide(connection, home, address))
    else:
        click.echo(OWN_DATA_GUIDE)
    if host not in ("127.0.0.1", "::1", "localhost"):
        click.echo(
            "\nIt listens on other addresses than the loopback: put nginx in front of it "
            "(docs/production.md), since a slow caller holds a thread."
        )
    click.echo("\nCtrl-C stops everything.")
    _watch(supervisor, settings, is_demo=is_demo)


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    with embedded.explained(home):
        lock = (home / "lock" / "up").open("a+")
    with lock:
        try:
            _retry(lambda: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            raise click.ClickException(
                f"wallet-api up is already running in {home}. Stop it first, or set WALLET_API_HOME."
            ) from None
        yield


@contextmanager
def _reserved(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a bound socket that does not listen yet, so that a port in use is reported first."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _retry(lambda: listener.bind((host, port)))
        except OSError as error:
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"is not available: {error.strerror}"
            raise click.ClickException(
                f"Port {port} of {host} {reason}. Choose another one: wallet-api up --port {port % 65535 + 1}"
            ) from error
        yield listener


def _retry(take: Callable[[], None]) -> None:
    """Call `take` until it succeeds, for a second: an `up` that was just killed may still hold its files."""
    deadline = time.monotonic() + 1.0
    while True:
        try:
            return take()
        except OSError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _environment(settings: Settings) -> dict[str, str]:
    """Return the environment of gunicorn: this one, with the addresses of the servers in use."""
    servers = {"DATABASE_URL": str(settings.database_url), "VALKEY_URL": str(settings.valkey_url)}
    # Requests to this machine must not go through a proxy.
    direct = {
        name: ",".join(filter(None, (os.environ.get(name), "127.0.0.1"))) for name in ("NO_PROXY", "no_proxy")
    }
    return {name: value for name, value in os.environ.items() if value} | servers | direct


def _stand_in(url: str) -> dict[str, str]:
    """Return the settings with which the demo's provider at `url` replaces Moralis."""
    return {"MORALIS_API_KEY": "demo", "MORALIS_EVM_URL": f"{url}/api/v2.2", "MORALIS_SOLANA_URL": url}


def _sync_jobs(settings: Settings) -> dict[str, float]:
    """Return the syncs that are configured, each with the seconds between its rounds."""
    jobs: dict[str, float] = {}
    if _syncs(settings):
        jobs |= {"prices": _PRICES_SECONDS, "trades": settings.sync_trades_seconds}
    if any(settings.rpc_url(chain) for chain in CHAINS):
        jobs["tokens"] = _TOKENS_SECONDS
    return jobs


def _syncs(settings: Settings) -> bool:
    """Return whether a provider of trades is configured."""
    return settings.moralis_api_key is not None or any(
        settings.trades_provider(chain) == "rpc" for chain in CHAINS
    )


def _await_response(supervisor: Supervisor, host: str, port: int) -> None:
    deadline = time.monotonic() + _RESPONSE_SECONDS
    while time.monotonic() < deadline:
        supervisor.check()
        connection = http.client.HTTPConnection(host, port, timeout=_RESPONSE_SECONDS)
        try:
            connection.request("GET", "/healthz")
            # Any response shows that a worker serves requests.
            connection.getresponse()
        except OSError:
            time.sleep(_POLL_SECONDS)
        else:
            return
        finally:
            connection.close()
    raise click.ClickException(f"The service did not respond within {_RESPONSE_SECONDS:.0f} seconds.")


def _watch(supervisor: Supervisor, settings: Settings, *, is_demo: bool) -> None:
    trimmed = continued = time.monotonic()
    while True:
        supervisor.look()
        if time.monotonic() - trimmed > _TRIM_SECONDS:
            embedded.trim_logs(settings)
            trimmed = time.monotonic()
        if is_demo and time.monotonic() - continued > _DEMO_SECONDS:
            with suppress(ServiceUnavailable):
                demo_data.keep_current(str(settings.database_url))
            continued = time.monotonic()
        time.sleep(_POLL_SECONDS)

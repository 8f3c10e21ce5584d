"""`wallet-api up`: run the whole service on this machine, with its servers and demo data."""

import errno
import fcntl
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import NoReturn

import click

from wallet_api.base.chains import CHAINS
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.chain.sync.sources import supplied_chains
from wallet_api.database import connect
from wallet_api.operate import embedded
from wallet_api.operate.cli.environment import upgrade_tables
from wallet_api.operate.cli.output import Show, is_shown, progress_bar, typed
from wallet_api.operate.cli.showcase import demo_key_file, guide
from wallet_api.operate.cli.supervision import POSTGRES_STOP_SECONDS, Supervisor, end_leftovers
from wallet_api.operate.demo import has_own, provider
from wallet_api.operate.demo.loading import keep_current
from wallet_api.operate.embedded import valkey
from wallet_api.operate.embedded.place import place_of
from wallet_api.operate.embedded.server import ENVIRONMENT
from wallet_api.settings import Settings

_HOST = "127.0.0.1"
_RESPONSE_SECONDS = 60.0
_REQUEST_SECONDS = 1.0
_TRIM_SECONDS = 60.0
_POLL_SECONDS = 0.25
_DEMO_SECONDS = 15.0
# Of the syncs that do not follow a chain.
_EACH_MINUTE = ["--every", "60"]


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. Default: PORT, or 8000.")
@click.option(
    "--host", default=_HOST, show_default=True, help="Address to listen on; 0.0.0.0 for all networks."
)
@click.option("--demo/--no-demo", default=True, help="Whether to load demo data into an empty database.")
@click.option(
    "--rules",
    type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
    help="Also send webhooks, by this TOML file of rules.",
)
def up(port: int | None, host: str, demo: bool, rules: Path | None) -> None:
    """Run the whole service until Ctrl-C.

    This starts PostgreSQL, Valkey and the API, and loads demo data into an empty database. If DATABASE_URL or
    VALKEY_URL is set, that server is used instead of an embedded one. A process that exits is started again;
    if that does not help, the command ends with the reason.
    """
    own = Settings.from_environment()
    if _syncs(own):
        # Report a missing setting here, and not in the log of a child process.
        supplied_chains(own)
    with ExitStack() as stack:
        try:
            _run(stack, own, (host, port or own.port), demo, rules)
        except (KeyboardInterrupt, SystemExit):
            click.echo("\nStopping …")
    click.echo("Stopped.")


def _in_quarters() -> Show:
    """Return what prints each quarter of the progress, where no bar is seen."""
    told = [0]

    def show(done: int, of: int, note: str | None = None) -> None:
        quarter = 4 * done // max(of, 1)
        if quarter > told[0]:
            told[0] = quarter
            click.echo(f"  {25 * quarter} %")

    return show


def _run(
    stack: ExitStack, own: Settings, place: tuple[str, int], demo_wanted: bool, rules: Path | None
) -> None:
    host, port = place
    home = embedded.home_folder(own)
    stack.enter_context(_only_one(home))
    end_leftovers(home)
    listener = stack.enter_context(_reserved(host, port, demo=demo_wanted))
    click.echo(f"Starting in {home} …")
    settings, supervisor = _with_servers(stack, own, home)
    url = str(settings.database_url)
    with connect(url) as connection:
        upgrade_tables(connection, click.echo)
        is_demo = demo_wanted and not has_own(connection)
    environment = _environment(settings)
    if is_demo:
        click.echo("Loading demo trades up to now: at the first start in about a minute …")
        with progress_bar("Loading") as show:
            keep_current(url, show if is_shown() else _in_quarters())
        if settings.moralis_api_key is None:
            environment |= stack.enter_context(provider.serving_balances(url))
    # The listener stays open while gunicorn is started again, so that requests wait.
    gunicorn = (
        *(sys.executable, "-m", "gunicorn", "--config", "python:wallet_api.serving.settings"),
        *("--bind", f"fd://{listener.fileno()}", "--access-logfile", str(home / "log" / "access.log")),
        f"wallet_api.app:create_app({f'demo_key_file={str(demo_key_file(home))!r}' if is_demo else ''})",
    )
    click.echo("Starting the service …")
    supervisor.start("gunicorn", gunicorn, environment, pass_fds=[listener.fileno()])
    for job, options in ({} if is_demo else _sync_jobs(settings)).items():
        command = (sys.executable, "-m", "wallet_api", "sync", job, *options, "--wait")
        supervisor.start(f"sync {job}", command, environment, log=f"sync-{job}.log")
    if rules is not None:
        command = (sys.executable, "-m", "wallet_api", "notify", "--rules", str(rules))
        supervisor.start("notify", command, environment, log="notify.log")
    own_host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104
    _await_response(supervisor, own_host, port)
    address = f"http://{f'[{own_host}]' if ':' in own_host else own_host}:{port}"
    with connect(url) as connection:
        demo_home = home if is_demo else None
        click.echo(guide(connection, address, demo_home, has_page=own.page, is_synced=_syncs(settings)))
    if host not in ("127.0.0.1", "::1", "localhost"):
        click.echo(
            "\nIt listens on other addresses than the loopback: put nginx in front of it "
            "(docs/production.md), since a slow caller holds a thread."
        )
    click.echo("\nCtrl-C stops everything.")
    _watch(supervisor, home, url if is_demo else None)


def _with_servers(stack: ExitStack, own: Settings, home: Path) -> tuple[Settings, Supervisor]:
    """Start the servers whose addresses are unset; return the settings with their addresses."""
    postgres = None
    if own.database_url is None:
        postgres = stack.enter_context(embedded.running_in(home, stop_seconds=POSTGRES_STOP_SECONDS))
        own = replace(own, database_url=postgres.url)
    supervisor = stack.enter_context(Supervisor(home, postgres))
    if own.valkey_url is None:
        place = place_of(home)
        user = place.account.popen_options()
        supervisor.start("Valkey", valkey.command(place), ENVIRONMENT, log="valkey.log", **user)
        own = replace(own, valkey_url=valkey.socket_url(place))
    return own, supervisor


@contextmanager
def _only_one(home: Path) -> Iterator[None]:
    with embedded.explained(home):
        lock = (home / "lock" / "up").open("a+")
    with lock:
        try:
            _retry(lambda: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            raise click.ClickException(
                f"'wallet-api up' is already running in {home}. Stop it first, or set WALLET_API_HOME."
            ) from None
        yield


@contextmanager
def _reserved(host: str, port: int, *, demo: bool) -> Iterator[socket.socket]:
    """Yield a listening socket, so that a port in use is reported first, and no other `up` gets the port."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _retry(lambda: listener.bind((host, port)))
            listener.listen()
        except OSError as error:
            reason = "is in use" if error.errno == errno.EADDRINUSE else f"is not available: {error.strerror}"
            options = "" if host == _HOST else f" --host {host}"
            options += "" if demo else " --no-demo"
            command = typed(f"up{options} --port {port % 65535 + 1}")
            raise click.ClickException(
                f"Port {port} of {host} {reason}. Choose another one: {command}"
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
    direct = {name: f"{os.environ.get(name, '')},127.0.0.1".strip(",") for name in ("NO_PROXY", "no_proxy")}
    return os.environ | servers | direct


def _sync_jobs(settings: Settings) -> dict[str, list[str]]:
    """Return the syncs that are configured, each with its options."""
    jobs: dict[str, list[str]] = {}
    if _syncs(settings):
        jobs["prices"] = _EACH_MINUTE
        # A chain without a node is read every SYNC_TRADES_SECONDS.
        jobs["trades"] = ["--follow"]
    if any(settings.chain(chain).rpc_url for chain in CHAINS):
        jobs["tokens"] = _EACH_MINUTE
    # Without a provider of market prices it keeps the signals of each hour alone.
    if _syncs(settings) or settings.market_prices_provider is not None:
        jobs["quotes"] = _EACH_MINUTE
    return jobs


def _syncs(settings: Settings) -> bool:
    """Return whether a provider of trades is configured."""
    return settings.moralis_api_key is not None or any(
        settings.chain(chain).trades_provider == "rpc" for chain in CHAINS
    )


def _await_response(supervisor: Supervisor, host: str, port: int) -> None:
    deadline = time.monotonic() + _RESPONSE_SECONDS
    while time.monotonic() < deadline:
        supervisor.check()
        # Without a worker a request waits at the socket, and the supervisor must check meanwhile.
        with suppress(OSError), closing(HTTPConnection(host, port, timeout=_REQUEST_SECONDS)) as service:
            service.request("GET", "/healthz")
            # Any response shows that a worker serves requests.
            service.getresponse()
            return
        time.sleep(_POLL_SECONDS)
    raise click.ClickException(f"The service did not respond within {_RESPONSE_SECONDS:.0f} seconds.")


def _watch(supervisor: Supervisor, home: Path, demo_url: str | None) -> NoReturn:
    """Keep the processes running and the logs short, and keep the demo of the database `demo_url` current."""
    trimmed = continued = time.monotonic()
    while True:
        supervisor.check()
        if time.monotonic() - trimmed > _TRIM_SECONDS:
            embedded.trim_logs(home)
            trimmed = time.monotonic()
        if demo_url and time.monotonic() - continued > _DEMO_SECONDS:
            with suppress(ServiceUnavailable):
                keep_current(demo_url)
            continued = time.monotonic()
        time.sleep(_POLL_SECONDS)

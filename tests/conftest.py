"""Fixtures of all tests: PostgreSQL with a database for each test, Valkey, applications; no network.

With --citus the databases are those of a Citus cluster, and the ledger is sharded: see tests/lib/cluster.py.
"""

import faulthandler
import gc
import os
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import click
import hypothesis
import psutil
import psycopg
import pytest
import requests
import valkey
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck
from psycopg.sql import SQL, Composed, Identifier
from psycopg_pool import ConnectionPool

from tests.lib.cluster import Cluster, programs, running_cluster
from tests.lib.demo_service import DemoService, demo_service
from tests.lib.folders import server_folder
from tests.lib.network import allow_loopback_only
from tests.lib.processes import END_SECONDS, Gunicorn, StartGunicorn, running_valkey, start_gunicorn
from tests.lib.serving import Shared, served
from tests.stub.server import Stub
from wallet_api.app import create_app
from wallet_api.database import Connection, Database, connect, migrations
from wallet_api.database.migrations.placement import place_tables
from wallet_api.operate import embedded
from wallet_api.settings import Settings

# A busy machine draws and runs examples slowly, which says nothing of the code.
hypothesis.settings.register_profile("calm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.settings.load_profile("calm")

NewDatabase = Callable[[], AbstractContextManager[str]]

STDERR = pytest.StashKey[int]()
TERMINATED = pytest.StashKey[bool]()

# The files that take longest, and start first, so that no worker is left with one at the end.
LONG = (
    *("ledger_properties", "process", "follow_solana", "faults", "up", "backup", "strangers", "evm_rpc"),
    *("paging", "solana_rpc", "page", "changes", "credits", "remove", "schemathesis", "error_table"),
    *("large_responses", "embedded", "roles", "trades", "docs_page", "import_of_other_forms"),
    *("solana_history", "makefile", "follow_blocks", "wheel", "discover_evm", "moving", "following"),
    *("attacks", "nginx", "evm_forgery", "worked_example", "mcp_client", "exports", "examples", "serving"),
    *("keys", "imports", "bulkhead", "standby", "secrets", "smoke", "under_up", "alerts", "large"),
    *("following_under_way", "ledger_under_way"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that replaces PostgreSQL by a cluster."""
    parser.addoption("--citus", action="store_true", help="use a Citus cluster of the programs in CITUS_BIN")


def pytest_configure(config: pytest.Config) -> None:
    """Block the network before any test module is imported, and let signals reach what tests start.

    A shell starts background jobs with SIGINT ignored, and `nohup` ignores SIGHUP: children inherit both.
    """
    # While a test runs, pytest writes the standard error into a file that ends with this process.
    config.stash[STDERR] = os.dup(sys.__stderr__.fileno())
    sys.addaudithook(allow_loopback_only)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, partial(_terminate, config))


def pytest_unconfigure(config: pytest.Config) -> None:
    """End a worker after SIGTERM, when its servers have ended: it would wait for what started it."""
    if config.stash.get(TERMINATED, False) and hasattr(config, "workerinput"):
        os._exit(128 + signal.SIGTERM)


def _terminate(config: pytest.Config, number: int, frame: FrameType | None) -> None:
    """End the run with the ends of all fixtures, as Ctrl-C does; the workers of pytest-xdist first."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    config.stash[TERMINATED] = True
    if config.pluginmanager.has_plugin("dsession"):
        workers = psutil.Process().children()
        for worker in workers:
            worker.terminate()
        # pytest-xdist would kill them after ten seconds.
        psutil.wait_procs(workers, timeout=END_SECONDS)
    pytest.exit("SIGTERM", returncode=128 + number)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files by LONG; the Makefile keeps pytest-xdist from reordering them by number of tests."""
    place = {f"test_{name}.py": number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from what is collected, which lives until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """End this process if a test outlasts its limit where no signal interrupts it, as while it closes a pipe.

    After the limit itself, pytest-timeout raises an exception in the test.
    """
    marker = item.get_closest_marker("timeout")
    seconds = float(marker.args[0] if marker else item.config.getini("timeout"))
    faulthandler.dump_traceback_later(seconds + 2 * END_SECONDS, exit=True, file=item.config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster | None]:
    """The cluster that the option --citus requires; None without it."""
    if not request.config.getoption("--citus"):
        yield None
        return
    try:
        folder = programs()
    except click.UsageError as error:
        pytest.skip(error.message)
    with running_cluster(folder) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def servers(cluster: Cluster | None) -> Iterator[Settings]:
    """Settings with a database server (that of DATABASE_URL if it is set) and an embedded Valkey."""
    with ExitStack() as stack:
        home = stack.enter_context(server_folder())
        url = cluster.coordinator.url() if cluster else os.environ.get("DATABASE_URL") or None
        own = Settings(wallet_api_home=home, database_url=url)
        running = stack.enter_context(embedded.running(own))
        running = replace(running, valkey_url=stack.enter_context(running_valkey(Path(home))))
        if own.database_url is None:
            with connect(str(running.database_url)) as connection:
                # Faster; the data of tests need not survive a crash of the machine.
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        yield running


@pytest.fixture(scope="session")
def administrators(servers: Settings, cluster: Cluster | None) -> Iterator[list[ConnectionPool]]:
    """A connection to each server, to create and drop databases; replaced if a test restarts the server."""
    urls = [node.url() for node in cluster.nodes] if cluster else [str(servers.database_url)]
    own = {"check": ConnectionPool.check_connection, "kwargs": {"autocommit": True}}
    with ExitStack() as stack:
        yield [stack.enter_context(ConnectionPool(url, min_size=1, max_size=1, **own)) for url in urls]


@pytest.fixture(scope="session")
def template(
    servers: Settings, administrators: list[ConnectionPool], cluster: Cluster | None
) -> Iterator[str]:
    """The name of a database with all tables and no rows."""
    with _fresh_database(administrators, "template0") as name:
        if cluster:
            cluster.join(name)
        with connect(_url(servers, name)) as connection:
            migrations.migrate(connection)
            place_tables(connection)
        if cluster:
            cluster.freeze(name)
        yield name


@pytest.fixture(scope="session")
def new_database(servers: Settings, administrators: list[ConnectionPool], template: str) -> NewDatabase:
    """A function that creates a database with all tables for a block, and yields its URL."""

    @contextmanager
    def create() -> Iterator[str]:
        with _fresh_database(administrators, template) as name:
            yield _url(servers, name)

    return create


@pytest.fixture(scope="session")
def demo(servers: Settings, new_database: NewDatabase) -> Iterator[DemoService]:
    """A service with demo data, which the tests of a session share: what a test changes there it undoes."""
    with new_database() as url, tempfile.TemporaryDirectory() as home:
        settings = Settings(
            database_url=url, valkey_url=servers.valkey_url, wallet_api_home=home, web_threads=4
        )
        with demo_service(settings) as demo:
            yield demo


@pytest.fixture(scope="session")
def server(demo: DemoService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """A running gunicorn with the demo data."""
    log = tmp_path_factory.mktemp("server") / "gunicorn.log"
    server = start_gunicorn(demo.settings, log, workers=1, threads=4)
    yield server
    server.stop()


@pytest.fixture
def database_url(new_database: NewDatabase) -> Iterator[str]:
    """The URL of a database with all tables, for this test alone."""
    with new_database() as url:
        yield url


@pytest.fixture
def empty_database_url(
    servers: Settings, administrators: list[ConnectionPool], cluster: Cluster | None
) -> Iterator[str]:
    """The URL of a database without tables, for this test alone."""
    with _fresh_database(administrators, "template0") as name:
        if cluster:
            cluster.join(name)
        yield _url(servers, name)


@pytest.fixture
def valkey_url(servers: Settings) -> str:
    """The URL of an empty Valkey."""
    url = str(servers.valkey_url)
    with valkey.Valkey(unix_socket_path=urlsplit(url).path) as client:
        client.flushall()
    return url


@pytest.fixture
def settings(database_url: str, valkey_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """Settings with the database of this test and an empty Valkey; the mark `settings` changes them."""
    return _marked(request, database_url, valkey_url, tmp_path)


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A connection in autocommit to the database of this test."""
    with connect(database_url) as connection:
        yield connection


@pytest.fixture
def reader(settings: Settings) -> Iterator[Connection]:
    """A connection to the database of this test as requests read from it."""
    with closing(Database(settings)) as database, database.read() as connection:
        yield connection


@pytest.fixture
def make_app() -> Iterator[Callable[[Settings], Flask]]:
    """A function that creates applications; they are closed after the test."""
    with ExitStack() as stack:

        def make(settings: Settings) -> Flask:
            app = create_app(settings)
            stack.callback(app.extensions["wallet_api"].close)
            return app

        yield make


@pytest.fixture
def app(settings: Settings, make_app: Callable[[Settings], Flask]) -> Flask:
    """The application with the database and Valkey of this test."""
    return make_app(settings)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A client of the application, without a server."""
    return app.test_client()


@pytest.fixture(scope="module")
def shared(
    servers: Settings,
    new_database: NewDatabase,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Shared]:
    """A service for all tests of a module that leave its ledger as it is."""
    home = tmp_path_factory.mktemp("shared")
    with new_database() as url, connect(url) as connection:
        app = create_app(_marked(request, url, str(servers.valkey_url), home))
        with closing(app.extensions["wallet_api"]):
            yield Shared(url, app, connection)


@pytest.fixture
def url(app: Flask) -> Iterator[str]:
    """Where the application of this test responds, in the process of the test, without a trailing slash."""
    with served(app) as url:
        yield url


@pytest.fixture
def stub() -> Iterator[Stub]:
    """All providers on loopback, which know nothing yet."""
    with closing(Stub()) as stub:
        yield stub


@pytest.fixture
def gunicorn(settings: Settings, tmp_path: Path) -> Iterator[StartGunicorn]:
    """A function that starts gunicorn for the test: `gunicorn(settings, workers=2, threads=4)`."""
    started: list[Gunicorn] = []

    def start(own: Settings = settings, *, workers: int = 2, threads: int = 4) -> Gunicorn:
        log_file = tmp_path / f"gunicorn-{len(started)}.log"
        server = start_gunicorn(own, log_file, workers=workers, threads=threads)
        started.append(server)
        try:
            requests.get(f"{server.url}/healthz", timeout=60)
        except requests.RequestException as error:
            pytest.fail(f"gunicorn does not respond ({error}):\n{server.log}")
        return server

    yield start
    # All at once, since each takes a second.
    for server in started:
        server.process.terminate()
    for server in started:
        server.stop()


@contextmanager
def _fresh_database(administrators: list[ConnectionPool], template: str) -> Iterator[str]:
    name = f"wallet_api_test_{secrets.token_hex(6)}"
    # With fsync off, copying files is much faster than writing them to the log.
    create = SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
        Identifier(name), Identifier(template)
    )
    drop = SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name))
    with ExitStack() as stack:
        for administrator in administrators:
            _execute(administrator, create)
            stack.callback(_drop, administrator, drop)
        yield name


def _drop(administrator: ConnectionPool, statement: Composed) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            return _execute(administrator, statement)
        # Citus may just connect again, to look after its databases.
        except psycopg.errors.ObjectInUse:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def _execute(administrator: ConnectionPool, statement: Composed) -> None:
    with administrator.connection() as connection:
        connection.execute(statement)


def _marked(request: pytest.FixtureRequest, database_url: str, valkey_url: str, folder: Path) -> Settings:
    """Return settings as the mark `settings` of a test, or of a module, changes them."""
    mark = request.node.get_closest_marker("settings")
    own = {"web_threads": 4} | (mark.kwargs if mark else {})
    return Settings(
        database_url=database_url, valkey_url=valkey_url, wallet_api_home=str(folder / "home"), **own
    )


def _url(servers: Settings, name: str) -> str:
    return urlsplit(str(servers.database_url))._replace(path=f"/{name}").geturl()

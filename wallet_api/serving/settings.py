"""The settings of gunicorn, in production and under `wallet-api up`.

gunicorn reads the names of its settings from this module: https://docs.gunicorn.org/en/stable/settings.html
"""

import atexit
import ctypes
import fcntl
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from gunicorn.arbiter import Arbiter
from gunicorn.workers.gthread import ThreadWorker
from prometheus_client import values

# Loaded here, before the fork, the code is read once and its memory is shared by all workers.
import wallet_api.app  # noqa: F401
from wallet_api.api.responses.counters import SHARED_FOLDER
from wallet_api.base.errors import ServiceUnavailable
from wallet_api.chain.providers.balances import missing_settings
from wallet_api.database import connect, migrations
from wallet_api.settings import Settings, SettingsError

# As in __main__, also for workers: the system takes back their memory, without a search for garbage.
atexit.register(gc.freeze)

_COUNTS = "wallet-api-metrics-"
_FRESH_SECONDS = 60.0
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# https://man7.org/linux/man-pages/man3/mallopt.3.html; other C libraries have no such function.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_MMAP_BYTES = 64 * 1024
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)


def _load_settings() -> Settings:
    try:
        return Settings.from_environment()
    except SettingsError as error:
        # gunicorn would print any other exception with its traceback.
        raise SystemExit(f"Error: {error}") from None


_settings = _load_settings()

worker_class = "gthread"
workers = _settings.web_concurrency
threads = _settings.web_threads
# Each connection is an open file; the other half is for servers and providers.
worker_connections = min(1000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
bind = f"127.0.0.1:{_settings.port}"
timeout = 30
graceful_timeout = 20
# Longer than the reverse proxy keeps idle connections, so that none is closed while a request arrives.
keepalive = 75
limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190
control_socket_disable = True
# The heartbeat files stay off the disk, whose delays would look like a stuck worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108
accesslog = "-"
errorlog = "-"
loglevel = _settings.log_level
logger_class = "wallet_api.serving.logs.GunicornLogger"


def on_starting(server: Arbiter) -> None:
    """Refuse tables of another version, and make the folder for the metrics of all workers."""
    os.register_at_fork(after_in_parent=_take_signals)
    for warning in filter(None, (_address_warning(server), _providers_warning())):
        if server.log is not None:
            server.log.warning(warning)
    _check_tables(server)
    _clear_counts()
    folder = os.environ[SHARED_FOLDER] = tempfile.mkdtemp(prefix=_COUNTS, dir=worker_tmp_dir)
    # Never closed, so that it is locked until the last process of this gunicorn has ended.
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)


def _address_warning(server: Arbiter) -> str | None:
    hosts = {address[0] for address in server.cfg.address if isinstance(address, tuple)}
    if hosts <= _LOOPBACK:
        return None
    return (
        "gunicorn listens on other addresses than the loopback. Let only nginx and Prometheus reach it: "
        "a slow caller holds a thread. See docs/production.md"
    )


def _providers_warning() -> str | None:
    missing = missing_settings(_settings)
    if not missing:
        return None
    chains = {unset: [chain for chain in missing if missing[chain] == unset] for unset in missing.values()}
    problems = "; ".join(f"{', '.join(chains[unset])}: {unset} is not set" for unset in chains)
    return f"No balances can be fetched, and holdings are 503, on these chains: {problems}"


def _check_tables(server: Arbiter) -> None:
    """Refuse to start on tables of a later version, or of one that cannot be upgraded in place.

    A database that is away does not prevent the start, nor do missing tables: /readyz reports them.
    """
    if _settings.database_url is None:
        return
    try:
        with connect(_settings.database_url) as connection:
            schema = migrations.inspect(connection)
            schema.check()
            if schema.is_filling and not schema.pending:
                raise migrations.SchemaError(
                    "'wallet-api migrate' has not computed all figures of these tables yet. Start again when"
                    " it has ended."
                )
    except ServiceUnavailable as error:
        if server.log is not None:
            server.log.warning("The tables were not checked: %s", error.message)
    except migrations.SchemaError as error:
        raise SystemExit(f"Error: {error}") from None


def _clear_counts() -> None:
    """Remove the folders of gunicorns that were killed: no process has a lock on them."""
    for folder in Path(worker_tmp_dir or tempfile.gettempdir()).glob(f"{_COUNTS}*"):
        # It may belong to another user, or be removed by another gunicorn that starts.
        with suppress(OSError):
            # One that was made just now may not be locked yet.
            if time.time() - folder.stat().st_mtime < _FRESH_SECONDS:
                continue
            holder = os.open(folder, os.O_RDONLY)
            try:
                fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(holder)


def on_exit(server: Arbiter) -> None:
    """Remove the folder of the metrics."""
    shutil.rmtree(os.environ[SHARED_FOLDER], ignore_errors=True)


def pre_fork(server: Arbiter, worker: ThreadWorker) -> None:
    """Hold back signals until the worker has its own handlers: gunicorn's, which it has before, lose them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    # The collector of a worker would write to all objects of before the fork, and so copy their memory.
    gc.freeze()


def _take_signals() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)


def post_worker_init(worker: ThreadWorker) -> None:
    """Take the signals that have come while the worker started."""
    _take_signals()


def post_fork(server: Arbiter, worker: ThreadWorker) -> None:
    """Write the metrics of this worker to files in that folder, and let its threads share memory."""
    # With an arena for each thread, glibc retains the memory of a large response once for each thread. By
    # itself it raises the size from which it returns memory to the system, until no response is large.
    with suppress(AttributeError):
        for option, value in ((_M_ARENA_MAX, 1), (_M_MMAP_THRESHOLD, _MMAP_BYTES)):
            ctypes.CDLL(None).mallopt(option, value)
    # The library chose its class by the variable when it was loaded, before the folder existed.
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]


def worker_exit(server: Arbiter, worker: ThreadWorker) -> None:
    """Close the services of the worker, whose threads would otherwise delay its exit."""
    # It has no application if that could not be loaded.
    app = getattr(worker, "wsgi", None)
    services = getattr(app, "extensions", {}).get("wallet_api")
    if services is not None:
        services.close()


def on_reload(server: Arbiter) -> None:
    """Import all code again, so that new workers run what is on the disk."""
    gc.unfreeze()
    for name in [name for name in sys.modules if name.partition(".")[0] == "wallet_api"]:
        del sys.modules[name]
    # Before the next fork keeps what is there, the code of before as well.
    gc.collect()

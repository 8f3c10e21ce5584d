"""A Citus cluster on the loopback: a coordinator and two workers, of the programs in CITUS_BIN."""

import os
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.lib.processes import kill, run_program
from wallet_api.database import connect
from wallet_api.operate.embedded.place import ServerUser, account_of, give_folder, runnable
from wallet_api.operate.embedded.server import ENVIRONMENT, USER, Server

WORKERS = 2
_HOST = "127.0.0.1"
_SETTINGS = {
    "shared_preload_libraries": "citus",
    "listen_addresses": _HOST,
    "unix_socket_directories": "",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    "random_page_cost": "1.1",
    "shared_buffers": "128MB",
    "max_wal_size": "4GB",
    # The data of tests need not survive a crash of the machine.
    "fsync": "off",
    # A shard is moved by logical replication.
    "wal_level": "logical",
    "max_connections": "300",
    "max_prepared_transactions": "300",
    # Two for each worker: a database for each test is many files even so.
    "citus.shard_count": "4",
    "citus.node_conninfo": "sslmode=disable",
    "citus.local_hostname": _HOST,
    "citus.enable_statistics_collection": "off",
    "citus.recover_2pc_interval": "5s",
}


@dataclass(frozen=True)
class Node:
    """A server of the cluster."""

    server: Server

    @property
    def port(self) -> int:
        """The port of the server."""
        return self.server.port

    def url(self, name: str = "postgres") -> str:
        """Return the URL of a database on this server."""
        return f"postgresql://{USER}@{_HOST}:{self.port}/{name}"

    def kill(self) -> None:
        """Kill all processes of the server at once."""
        kill(self.server.processes())


@dataclass(frozen=True)
class Cluster:
    """The servers of a cluster. The databases of a name on all of them belong together."""

    coordinator: Node
    workers: tuple[Node, ...]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All servers."""
        return (self.coordinator, *self.workers)

    def create(self, name: str, ports: Sequence[int] | None = None) -> str:
        """Create the databases of this name, which form a cluster; return the URL of the coordinator's."""
        for node in self.nodes:
            with connect(node.url()) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
        self.join(name, ports)
        return self.coordinator.url(name)

    def join(self, name: str, ports: Sequence[int] | None = None) -> None:
        """Let the databases of this name form a cluster, whose workers have their own or these ports."""
        for node in self.nodes:
            with connect(node.url(name)) as connection:
                connection.execute("CREATE EXTENSION citus")
        with connect(self.coordinator.url(name)) as connection:
            connection.execute("SELECT citus_set_coordinator_host(%s, %s)", [_HOST, self.coordinator.port])
            for port in ports or [worker.port for worker in self.workers]:
                connection.execute("SELECT citus_add_node(%s, %s)", [_HOST, port])

    def freeze(self, name: str) -> None:
        """Admit nobody to these databases any more, so that they can be copied."""
        for node in self.nodes:
            with connect(node.url()) as connection:
                connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", [name]
                )


def programs() -> Path:
    """Return the folder CITUS_BIN. Raises UsageError if it is not set."""
    folder = os.environ.get("CITUS_BIN")
    if not folder:
        raise click.UsageError("CITUS_BIN is not set: the folder of the programs of a PostgreSQL with Citus")
    return Path(folder)


@contextmanager
def running_cluster(programs: Path) -> Iterator[Cluster]:
    """Run a cluster with empty databases."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="wallet-api-citus-")))
        account = account_of(home)
        programs = runnable(programs.parent, f"{programs.name}/postgres", account).parent
        home.chmod(0o711)
        nodes = [_prepare(programs, home / f"node-{number}", account) for number in range(1 + WORKERS)]
        for node in nodes:
            stack.callback(node.server.stop)
            node.server.start()
        yield Cluster(nodes[0], tuple(nodes[1:]))


def _prepare(programs: Path, folder: Path, account: ServerUser) -> Node:
    give_folder(folder, account)
    run_program(
        [
            *(str(programs / "initdb"), "-D", str(folder), "-U", USER),
            *("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd=folder,
        **account.popen_options(),
    )
    with socket.socket() as listener:
        listener.bind((_HOST, 0))
        port = listener.getsockname()[1]
    log = folder.with_suffix(".log")
    return Node(Server(programs, folder, log, account, _HOST, _SETTINGS, port))

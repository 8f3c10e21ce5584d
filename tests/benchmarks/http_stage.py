"""Where a checkout is measured: a PostgreSQL and a Valkey of its own with the same world, and its servers."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.http_keys import Keys
from tests.benchmarks.http_servers import ROOT, Server, behind_nginx, gunicorn, uvicorn
from tests.benchmarks.http_world import fill
from tests.lib.processes import running_valkey
from wallet_api import embedded
from wallet_api.settings import Settings

_FLASK = "tests.benchmarks.peers.bare_flask:app"
_PEER = "tests.benchmarks.peers.fastapi_gated:app"
_SERVICE = "wsgi:app"


@dataclass(frozen=True)
class Stage:
    """A checkout, the environment of its processes, and the stores that they use."""

    tree: Path
    folder: Path
    environment: Mapping[str, str]
    stores: Mapping[str, list[psutil.Process]]

    @property
    def database_url(self) -> str:
        """The address of its database."""
        return self.environment["DATABASE_URL"]

    @contextmanager
    def servers(self, wanted: set[str], *, nginx: bool = False) -> Iterator[dict[str, Server]]:
        """Run these servers, by name; with `nginx`, one of those in front of each."""
        with ExitStack() as stack:
            running = {name: stack.enter_context(self._server(name)) for name in sorted(wanted)}
            if nginx:
                running = {
                    name: stack.enter_context(behind_nginx(server, self.folder))
                    for name, server in running.items()
                }
            yield running

    @contextmanager
    def _server(self, name: str) -> Iterator[Server]:
        folder, own = self.folder, self.environment
        servers = {
            "flask": lambda: gunicorn(name, _FLASK, folder, own),
            "service": lambda: gunicorn(name, _SERVICE, folder, own, tree=self.tree),
            "peer": lambda: uvicorn(name, _PEER, folder, own),
        }
        with servers[name]() as server:
            yield server


@contextmanager
def staged(
    folder: Path, files: Path, keys: Keys, tree: Path = ROOT, *, nginx: bool = False
) -> Iterator[Stage]:
    """Run the stores of a checkout in `folder`, with the world of `files` and the keys in them."""
    own = Settings(wallet_api_home=str(folder))
    with embedded.running(own) as settings, running_valkey(folder) as valkey_url:
        environment = {
            "DATABASE_URL": str(settings.database_url),
            "VALKEY_URL": valkey_url,
            "WALLET_API_HOME": str(folder),
            "DEFAULT_RATE": "300/minute",
            # The snapshots of this database are as old as it is, and there is no provider.
            "HOLDINGS_TTL_SECONDS": "86400",
            "PROXY_HOPS": "1" if nginx else "0",
        }
        fill(tree, environment, files)
        keys.save(environment["DATABASE_URL"])
        yield Stage(tree, folder, environment, stores(folder))


def stores(folder: Path) -> dict[str, list[psutil.Process]]:
    """Return the first processes of both stores; PostgreSQL's are the ancestors of its backends."""
    names = {"postgres": "postgres", "valkey-server": "valkey"}
    found: dict[str, list[psutil.Process]] = {"postgres": [], "valkey": []}
    # A process that has ended meanwhile has no command line.
    for process in psutil.process_iter(["name", "cmdline"]):
        name = names.get(process.info["name"])
        # A backend has another title, so that only the postmaster's command line has the folder.
        if name and any(part.startswith(str(folder)) for part in process.info["cmdline"] or ()):
            found[name].append(process)
    return found

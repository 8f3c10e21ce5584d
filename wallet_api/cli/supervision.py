"""How `wallet-api up` starts again what has exited."""

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

import click

from wallet_api.cli.children import Children
from wallet_api.embedded import EmbeddedServer

MOST_RESTARTS = 5
WITHIN_SECONDS = 60.0
# Looking for the processes of the servers takes a few milliseconds.
_SERVERS_SECONDS = 1.0


class Supervisor:
    """Starts servers and child processes again, each at most MOST_RESTARTS times in WITHIN_SECONDS."""

    def __init__(self, servers: Sequence[EmbeddedServer], children: Children, logs: Path) -> None:
        self._servers = servers
        self._children = children
        self._logs = logs
        self._restarts: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=MOST_RESTARTS))
        self._looked_at = time.monotonic()

    def look(self) -> None:
        """Start again what has exited. To be called in a loop.

        Raises ClickException if it exits too often, or EmbeddedError if it cannot be started.
        """
        for child in self._children.exited():
            self._announce(child.name, f" with status {child.exit_status()}")
            self._children.restart(child)
        if time.monotonic() - self._looked_at < _SERVERS_SECONDS:
            return
        for server in self._servers:
            if not server.is_running():
                self._announce(server.title)
                server.restart()
        self._looked_at = time.monotonic()

    def _announce(self, name: str, status: str = "") -> None:
        now = time.monotonic()
        restarts = self._restarts[name]
        if len(restarts) == MOST_RESTARTS and now - restarts[0] < WITHIN_SECONDS:
            raise click.ClickException(
                f"{name} exited{status}, and {MOST_RESTARTS} restarts in {WITHIN_SECONDS:.0f} seconds did "
                f"not help. The reason is in the lines above or in {self._logs}. Correct it, and run "
                "'wallet-api up' again."
            )
        restarts.append(now)
        click.echo(f"{name} exited{status} and is started again.", err=True)

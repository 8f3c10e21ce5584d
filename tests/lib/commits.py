"""A proxy before a worker of a Citus cluster, which delays or cuts the second phase of its commits."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

_HOST = "127.0.0.1"
_COMMIT = b"COMMIT PREPARED"
_BYTES = 65_536


@dataclass
class Commits:
    """What becomes of the next commits: each is late by so many seconds, and so many connections are cut."""

    port: int
    delay_seconds: float = 0.0
    cuts: int = 0
    seen: int = 0

    def permits(self) -> bool:
        """Wait, and return whether the next commit may reach the worker."""
        self.seen += 1
        time.sleep(self.delay_seconds)
        if self.cuts:
            self.cuts -= 1
            return False
        return True


@contextmanager
def late_commits(worker_port: int) -> Iterator[Commits]:
    """Run a proxy before the worker at this port."""
    with socket.create_server((_HOST, 0), backlog=200) as listener:
        commits = Commits(listener.getsockname()[1])
        threads: list[threading.Thread] = []

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    threads.append(threading.Thread(target=_serve, args=(client, worker_port, commits)))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield commits
        finally:
            # To close it does not wake accept().
            listener.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join(30)


def _serve(client: socket.socket, worker_port: int, commits: Commits) -> None:
    with client, suppress(OSError), socket.create_connection((_HOST, worker_port)) as server:
        back = threading.Thread(target=_forward, args=(server, client, None))
        back.start()
        _forward(client, server, commits)
        back.join()


def _forward(source: socket.socket, target: socket.socket, commits: Commits | None) -> None:
    with suppress(OSError):
        while data := source.recv(_BYTES):
            if commits is not None and _COMMIT in data and not commits.permits():
                break
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

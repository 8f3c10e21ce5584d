"""The servers that are measured: gunicorn and uvicorn, each on a free port, behind nginx if wanted."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from tests.lib.nginx import nginx, running_nginx

WORKERS = 2
THREADS = 8
ROOT = Path(__file__).parents[2]
# nginx as operators get it, but for its limits per address: all requests come from one.
_NGINX_CHANGES = {
    "    limit_req zone=wallet_api_requests burst=200 nodelay;\n": "",
    "    limit_conn wallet_api_connections 100;\n": "",
}


class MeasurementError(Exception):
    """A server did not start, or did not respond to every request with a 200."""


@dataclass(frozen=True)
class Server:
    """A running server: its address without a slash at the end, and its first process.

    `front` is the first process of the nginx in front of it.
    """

    name: str
    url: str
    process: psutil.Process
    log: Path
    front: psutil.Process | None = None

    def workers(self) -> list[psutil.Process]:
        """Return the processes that respond."""
        return self.process.children(recursive=True)


@contextmanager
def gunicorn(
    name: str,
    target: str,
    folder: Path,
    environment: Mapping[str, str],
    tree: Path = ROOT,
) -> Iterator[Server]:
    """Run gunicorn with the production settings of the checkout `tree`, from which the code is imported."""
    logs = ("--access-logfile", str(folder / "access.log"))
    settings = ("--config", str(tree / "config" / "gunicorn.conf.py"), *logs)
    command = ["-m", "gunicorn", "--bind", "127.0.0.1:{port}", *settings, target]
    own = {"WEB_CONCURRENCY": str(WORKERS), "WEB_THREADS": str(THREADS), **environment}
    with _running(name, command, folder, own, tree) as server:
        yield server


@contextmanager
def uvicorn(name: str, target: str, folder: Path, environment: Mapping[str, str]) -> Iterator[Server]:
    """Run uvicorn with as many workers, its fast loop and parser, and its access log, as gunicorn has one."""
    options = ("--port", "{port}", "--workers", str(WORKERS), "--log-level", "info", "--access-log")
    fast = ("--loop", "uvloop", "--http", "httptools")
    with _running(name, ["-m", "uvicorn", *options, *fast, target], folder, environment, ROOT) as server:
        yield server


@contextmanager
def behind_nginx(server: Server, folder: Path) -> Iterator[Server]:
    """Put an nginx with config/nginx.conf in front of the server."""
    if nginx() is None:
        raise MeasurementError("nginx is not installed: apt-get install nginx")
    own = folder / f"nginx-{server.name}"
    own.mkdir()
    with running_nginx(own, [server.url], _NGINX_CHANGES) as front:
        yield replace(server, url=front.url, front=psutil.Process(front.process.pid))


@contextmanager
def _running(
    name: str, command: list[str], folder: Path, environment: Mapping[str, str], tree: Path
) -> Iterator[Server]:
    log = folder / f"{name}.log"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *(part.format(port=port) for part in command)],
            env=environment_of(tree, environment),
            cwd=tree,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _await_response(url, process, log)
        yield Server(name, url, psutil.Process(process.pid), log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def environment_of(tree: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which Python imports wallet_api from the checkout `tree`."""
    return {**os.environ, "PYTHONPATH": str(tree), **environment}


def _await_response(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/", timeout=60):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
    raise MeasurementError(f"A server did not start:\n{log.read_text()[-2000:]}")

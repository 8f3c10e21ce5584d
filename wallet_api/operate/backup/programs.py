"""PostgreSQL's own programs: which fit a server, and how they run."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from wallet_api.base.errors import CommandError
from wallet_api.database import Connection
from wallet_api.operate.embedded import postgres as embedded_postgres
from wallet_api.operate.embedded.place import EmbeddedError
from wallet_api.operate.embedded.signals import deferred, undisturbed
from wallet_api.settings import Settings

# Called each second with the latest message of a program.
Note = Callable[[str], None]

_DEBIAN = Path("/usr/lib/postgresql")
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
# Without other DETAIL and CONTEXT, which may contain rows of a table.
_ERROR = re.compile(r"^pg_\w+: error: +(.+)(?:\nDETAIL: +(.+ depends on .+))?", re.MULTILINE)
# All users of the machine can read the arguments of a program. Only the password has an environment variable.
_SECRETS = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")


class BackupError(CommandError):
    """A backup or restore failed; the message says why and what to do next."""


def installed(*, tls: bool = False) -> dict[int, Path]:
    """Return the folders of PostgreSQL's programs on this machine, by major version.

    With `tls`, without those of the embedded server, which cannot encrypt a connection.
    """
    folders = list(_DEBIAN.glob("*/bin"))
    with suppress(EmbeddedError):
        folders[:0] = [] if tls else [embedded_postgres.programs()]
    if on_path := shutil.which("pg_dump"):
        # Debian's is a script, in a folder without programs.
        folders.append(Path(on_path).resolve().parent)
    return {major: folder for folder in folders if (major := _major(folder)) is not None}


def newest(name: str) -> Path:
    """Return the newest of these programs, which reads the files of older ones. Raises BackupError."""
    found = installed()
    if not found:
        raise BackupError(f"{name} is needed. Install it (on Debian and Ubuntu: postgresql-client).")
    return found[max(found)] / name


def program(name: str, connection: Connection) -> Path:
    """Return the oldest program of this name that is not older than the server. Raises BackupError."""
    server = connection.info.server_version // 10_000
    found = installed(tls=connection.pgconn.ssl_in_use)
    fitting = [major for major in found if server <= major]
    if not fitting:
        tls = " with TLS (the embedded ones have none)" if connection.pgconn.ssl_in_use else ""
        raise BackupError(
            f"{name} of PostgreSQL {server} or newer{tls} is needed; "
            f"found: {', '.join(f'{major} in {folder}' for major, folder in found.items()) or 'none'}. "
            f"Install it (on Debian and Ubuntu: postgresql-client-{server}), or put its folder on the PATH."
        )
    return found[min(fitting)] / name


def plain_environment() -> dict[str, str]:
    """Return the environment of this process without the settings of the service, which contain secrets."""
    own = {name: value for name, value in os.environ.items() if name not in Settings.variables()}
    # The messages of the programs are parsed, so they must be in English.
    return own | {"LC_ALL": "C"}


@contextmanager
def running_program(
    command: Sequence[str], environment: Mapping[str, str], **options: Any
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program in this block; stop it at the end of the block, if it still runs."""
    process: subprocess.Popen[bytes] | None = None
    try:
        with deferred():
            process = subprocess.Popen(command, env=environment, stdin=DEVNULL, **options)
        yield process
    finally:
        if process is not None and process.poll() is None:
            with undisturbed():
                # It cancels its statement on the server.
                process.terminate()
                process.wait()


def run_program(path: Path, url: str, arguments: Sequence[str], progress: Note) -> None:
    """Run a program on the database at `url`; stop it on an exception. Raises BackupError.

    Its messages come through a pipe: if this process is killed, the next message ends the program, and the
    server rolls its transaction back.
    """
    parameters = conninfo_to_dict(url, application_name=f"wallet-api {path.name}")
    password, *_ = [parameters.pop(name, None) for name in _SECRETS]
    environment = plain_environment() | ({"PGPASSWORD": str(password)} if password else {})
    conninfo = make_conninfo("", **parameters)
    command = [str(path), "--verbose", "--no-password", f"--dbname={conninfo}", *arguments]
    messages = b""
    with running_program(command, environment, stdout=DEVNULL, stderr=PIPE) as process:
        while process.returncode is None:
            try:
                _, messages = process.communicate(timeout=1.0)
            except subprocess.TimeoutExpired as error:
                *_, latest = [b"", *(error.stderr or b"").splitlines()]
                progress(latest.decode(errors="replace").partition(": ")[2])
    if process.returncode:
        found = _ERROR.search(messages.decode(errors="replace"))
        reason = ": ".join(filter(None, found.groups())) if found else f"exit status {process.returncode}"
        raise BackupError(f"{path.name} failed: {reason}")


def _major(folder: Path) -> int | None:
    with suppress(OSError):
        output = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, check=False).stdout
        if found := _VERSION.search(output.decode()):
            return int(found[1])
    return None

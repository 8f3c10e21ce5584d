"""nginx for tests, with config/nginx.conf moved to free ports and a folder."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.lib.network import free_port
from tests.lib.processes import Process, run_program

CONFIGURATION = Path(__file__).parents[2] / "config" / "nginx.conf"

# Others come from one address here, as many of them as this machine lets.
UNLIMITED = {"rate=100r/s": "rate=100000r/s", "burst=200": "burst=100000"}

_MAIN = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/main.log info;
worker_processes 2;
events {{ worker_connections 512; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/wallet-api.conf;
}}
"""


def nginx() -> str | None:
    """Return the path of the program, or None. Debian installs it outside an ordinary user's PATH."""
    return shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


@dataclass(frozen=True)
class Nginx:
    """A running nginx: its URLs, its certificate, and the folder with its logs."""

    url: str
    plain_url: str
    certificate: Path
    folder: Path
    process: Process[bytes]

    @property
    def logs(self) -> str:
        """The contents of all log files."""
        return "".join(file.read_text(errors="replace") for file in sorted(self.folder.glob("*.log")))


def write_configuration(folder: Path, nodes: Sequence[str], changes: dict[str, str]) -> tuple[Path, int, int]:
    """Write the configuration with these changes; return its file, its TLS port and its plain port."""
    plain_port, tls_port = free_port(), free_port()
    certificate(folder)
    text = CONFIGURATION.read_text()
    servers = "\n".join(f"    server {urlsplit(node).netloc} max_fails=3 fail_timeout=5s;" for node in nodes)
    changes = {
        "    server 127.0.0.1:8000 max_fails=3 fail_timeout=5s;": servers,
        "listen 80;": f"listen 127.0.0.1:{plain_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{tls_port} ssl;",
        "    listen [::]:80;\n": "",
        "    listen [::]:443 ssl;\n": "",
        "api.example.com": "localhost",
        "/var/log/nginx": str(folder),
        "/etc/ssl/wallet-api": str(folder),
    } | changes
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in {CONFIGURATION}"
        text = text.replace(old, new)
    (folder / "wallet-api.conf").write_text(text)
    main = folder / "nginx.conf"
    main.write_text(_MAIN.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""))
    return main, tls_port, plain_port


@contextmanager
def running_nginx(
    folder: Path, nodes: Sequence[str], changes: dict[str, str] | None = None
) -> Iterator[Nginx]:
    """Run nginx in front of gunicorns."""
    main, tls_port, plain_port = write_configuration(folder, nodes, changes or {})
    with (folder / "output.log").open("wb") as output:
        process: Process[bytes] = Process(
            [str(nginx()), "-c", str(main), "-p", str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _await_port(tls_port, process, folder)
        yield Nginx(
            f"https://localhost:{tls_port}",
            f"http://localhost:{plain_port}",
            folder / "fullchain.pem",
            folder,
            process,
        )
    finally:
        process.terminate()
        process.wait(timeout=60)


def certificate(folder: Path) -> None:
    """Create a self-signed certificate for localhost, and its key."""
    run_program(
        [
            *("openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")),
        ],
        check=True,
        capture_output=True,
    )


def _await_port(port: int, process: Process[bytes], folder: Path) -> None:
    # nginx does not report when it listens, so try to connect.
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            assert process.poll() is None, (folder / "main.log").read_text()
            time.sleep(0.05)
        else:
            return
    raise AssertionError("nginx does not listen")

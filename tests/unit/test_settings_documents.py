"""Every setting is in example.env with its default, and in the README's table."""

import os
import re
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from wallet_api.settings import Settings

ROOT = Path(__file__).parent.parent.parent
# Depends on the machine, so no default can be written down.
BY_MACHINE = {"WEB_CONCURRENCY"}


def _example() -> dict[str, str]:
    text = (ROOT / "config" / "example.env").read_text()
    return dict(re.findall(r"^#([A-Z][A-Z0-9_]*)=(.*)$", text, re.MULTILINE))


def test_every_setting_is_in_example_env_and_nothing_else() -> None:
    assert list(_example()) == list(Settings.variables())


@pytest.mark.parametrize("name", Settings.variables())
def test_the_default_in_example_env_is_the_default(name: str) -> None:
    (setting,) = [setting for setting in fields(Settings) if setting.metadata["variable"] == name]
    value = _example()[name]
    if name in BY_MACHINE or not value:
        assert name in BY_MACHINE or setting.default is None
    else:
        assert getattr(Settings.from_environment({name: value}), setting.name) == setting.default


def test_what_systemd_and_a_shell_read_from_example_env_is_the_defaults() -> None:
    text = (ROOT / "config" / "example.env").read_text()
    assert all(re.fullmatch(r"#.*|[A-Z0-9_]+=\S*|", line) for line in text.splitlines())
    uncommented = re.sub(r"^#(?=[A-Z][A-Z0-9_]*=)", "", text, flags=re.MULTILINE)
    shell = subprocess.run(
        ["/bin/sh", "-c", f"set -a\n{uncommented}\nenv"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    read = dict(line.partition("=")[::2] for line in shell.stdout.splitlines())
    assert Settings.from_environment(read) == Settings()


def test_every_setting_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    missing = [name for name in Settings.variables() if f"`{name}`" not in readme]
    assert missing == []

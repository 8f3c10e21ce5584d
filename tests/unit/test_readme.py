"""What the README names is there."""

import re
from pathlib import Path

import pytest

from wallet_api.cli import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
LINKS = re.findall(r"\]\((?!http)([^)#]+)\)", README)


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"`wallet-api {command}" in README


@pytest.mark.parametrize("target", sorted(set(LINKS)))
def test_every_link_of_the_readme_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()

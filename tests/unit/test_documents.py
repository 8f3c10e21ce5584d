"""Commands, files, headings, layers and words that the documents name exist."""

import re
from configparser import ConfigParser
from pathlib import Path

import pytest
from click import Context

from wallet_api.cli import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINKS = [
    (str(document.relative_to(ROOT)), target)
    for document in DOCUMENTS
    for target in sorted(set(re.findall(r"\]\((?!http)([^)]+)\)", document.read_text())))
]


GLOSSARY = (ROOT / "docs" / "development.md").read_text().partition("## Glossary")[2]
WORDS = [word for row in re.findall(r"^\| (.+?) \|", GLOSSARY, re.MULTILINE)[1:] for word in row.split(", ")]


def _anchors(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("command", cli.list_commands(Context(cli)))
def test_every_command_is_in_the_readme(command: str) -> None:
    assert f"`wallet-api {command}" in README


@pytest.mark.parametrize(("document", "target"), LINKS)
def test_every_link_of_a_document_leads_somewhere(document: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    found = (ROOT / document).parent / path if path else ROOT / document
    assert found.exists()
    if anchor and found.suffix == ".md":
        assert anchor in _anchors(found)


@pytest.mark.parametrize("document", sorted(ROOT.glob("docs/*.md")), ids=lambda document: document.name)
def test_every_document_is_linked_from_the_readme(document: Path) -> None:
    assert f"](docs/{document.name}" in README


def test_the_layers_of_the_development_document_are_those_of_the_contract() -> None:
    contract = ConfigParser()
    contract.read(ROOT / "setup.cfg")
    layers = contract["importlinter:contract:layers"]["layers"].split("\n")
    shown = (ROOT / "docs" / "development.md").read_text().partition("## Layers")[2].split("```")[1]
    assert [line.split("  ")[0] for line in shown.splitlines()[1:]] == [line for line in layers if line]


def test_the_glossary_has_at_most_65_words_each_of_which_the_code_uses() -> None:
    code = "\n".join(
        path.read_text() for path in ROOT.glob("wallet_api/**/*") if path.suffix in (".py", ".sql")
    )
    assert 1 < len(WORDS) <= 65
    assert [word for word in WORDS if not re.search(rf"\b{word}", code, re.IGNORECASE)] == []

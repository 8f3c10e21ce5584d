"""Commands, files, headings, layers and words that the documents name exist."""

import re
from configparser import ConfigParser
from functools import cache
from pathlib import Path

from click import Context

from wallet_api.operate.cli import cli

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINKS = [
    (document, target)
    for document in DOCUMENTS
    for target in sorted(set(re.findall(r"\]\((?!http)([^)]+)\)", document.read_text())))
]

GLOSSARY = (ROOT / "docs" / "development.md").read_text().partition("## Glossary")[2]
WORDS = [word for item in re.findall(r"^- (.+?): ", GLOSSARY, re.MULTILINE) for word in item.split(", ")]


@cache
def _anchors(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub names them."""
    text = re.sub(r"^```.*?^```", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_command_and_every_document_is_in_the_readme() -> None:
    assert [name for name in cli.list_commands(Context(cli)) if f"`wallet-api {name}" not in README] == []
    assert [path.name for path in ROOT.glob("docs/*.md") if f"](docs/{path.name}" not in README] == []


def test_every_link_of_a_document_leads_somewhere() -> None:
    assert len(LINKS) > 100
    assert [(str(document), target) for document, target in LINKS if not _leads(document, target)] == []


def test_every_path_of_the_checkout_that_a_document_names_exists() -> None:
    named = {
        path
        for document in DOCUMENTS
        for path in re.findall(
            r"(?<![\w/.-])(?:wallet_api|tests|config|docs)/[\w./-]*\w", document.read_text()
        )
    }
    assert len(named) > 60
    # The form of the names of migrations.
    made_up = {"wallet_api/database/migrations/NNNN_name.sql"}
    assert {path for path in named if not (ROOT / path).exists()} == made_up


def _leads(document: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    found = document.parent / path if path else document
    return found.exists() and (not anchor or found.suffix != ".md" or anchor in _anchors(found))


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

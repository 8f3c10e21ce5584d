"""Write the generated parts of docs/reference.md and docs/webhooks.md: `make reference`."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flask import Flask
from marshmallow import Schema

from tests.documents.fields import OBJECTS, Lists
from tests.documents.samples import sample
from wallet_api.api.blueprints import all_blueprints
from wallet_api.api.openapi import document, operations
from wallet_api.api.responses.operation import Operation, is_alias
from wallet_api.base.chains import CHAINS, TYPE_WORDS
from wallet_api.notify.events import MessageType

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "reference.md"
WEBHOOKS = DOCS / "webhooks.md"
# In the section of an operation, what follows is written by hand.
NOTES = "<!-- notes -->"
_SECTION = re.compile(r"^## GET (\S+)\n(.*?)(?=^## |^<!-- end )", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Replace the generated parts of the files; what is written by hand stays."""
    for file, write in WRITERS.items():
        file.write_text(write(file.read_text(encoding="utf-8")), encoding="utf-8")


def written(text: str) -> str:
    """Return the document with its generated parts as they should be.

    The order of its sections stays; those of new operations are added at the end.
    """
    notes = {path: body.partition(NOTES)[2].strip() for path, body in _SECTION.findall(text)}
    order = list(notes)
    found = {path: (sentences, operation) for path, sentences, operation in _operations()}
    paths = sorted(found, key=lambda path: order.index(path) if path in order else len(order))
    described = [operation for _, operation in found.values()]
    lists = Lists([one.arguments for one in described], [one.data for one in described])
    shown: dict[str, Any] = {}
    parts = {
        "groups": _groups(),
        "arguments": lists.glossary("arguments"),
        "fields": lists.glossary("fields"),
        "operations": "\n\n".join(
            _section(path, *found[path], notes.get(path, ""), lists, shown) for path in paths
        ),
        "objects": "\n\n".join(
            _object(title, schema, lists, shown.get(title)) for title, schema in OBJECTS.items()
        ),
    }
    for name, part in parts.items():
        text = _replaced(text, name, part)
    return text


def written_types(text: str) -> str:
    """Return the document about webhooks with the types of messages as they are."""
    return _replaced(text, "types", "\n".join(f"- `{type}`: {type.meaning}" for type in MessageType))


def _replaced(text: str, name: str, part: str) -> str:
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n\n{part}\n\n{end}{rest.partition(end)[2]}"


def _groups() -> str:
    """Return what the types of wallets are, and the chains with their coins and types."""
    types = ", ".join(f"`{type}` ({words})" for type, words in TYPE_WORDS.items())
    sentence = (
        f"A **group** is all tracked wallets of one `blockchain` and one `type`: {types};"
        " with `all`, of every type."
    )
    rows = (
        f"- `{chain.name}` ({chain.currency}): {', '.join(f'`{type}`' for type in chain.types)}"
        for chain in CHAINS.values()
    )
    return "\n".join([sentence, "", *rows])


def _operations() -> Iterator[tuple[str, str, Operation]]:
    """Yield path, description and operation of all that need a key, in the order of the OpenAPI document.

    When to use which operation, by names that only tools have, is left out: the README has it as questions.
    """
    app = Flask("wallet_api", static_folder=None)
    for blueprint in all_blueprints():
        app.register_blueprint(blueprint)
    described = document(app)["paths"]
    aliases = {rule.endpoint: rule.rule for rule in app.url_map.iter_rules() if is_alias(rule)}
    for rule, operation in operations(app):
        if operation.access != "keyless":
            alias = aliases.get(f"{rule.endpoint}_alias")
            sentence = f" Alias: `{alias}`." if alias else ""
            description = described[rule.rule]["get"]["description"].removesuffix(f" {operation.use}")
            yield rule.rule, description + sentence, operation


def _section(
    path: str, sentences: str, operation: Operation, notes: str, lists: Lists, shown: dict[str, Any]
) -> str:
    return "\n\n".join(
        [
            f"## GET {path}",
            sentences,
            lists.of_arguments(operation.arguments),
            sample(path, operation, shown),
            lists.of_fields(
                operation.data, operation.arguments.fields, next(iter(operation.shown_examples.values()))
            ),
            *([NOTES, notes] if notes else []),
        ]
    )


def _object(title: str, schema: type[Schema], lists: Lists, shown: Any) -> str:
    sentences = " ".join(str(inspect.getdoc(schema)).split())
    return "\n\n".join([f"### {title}", sentences, lists.of_fields(schema(), sample=shown)])


WRITERS = {FILE: written, WEBHOOKS: written_types}

if __name__ == "__main__":
    main()

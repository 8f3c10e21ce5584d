"""What each figure of the page is, in a sentence: the descriptions of the fields that it shows."""

import re
from collections.abc import Iterator

from flask import Flask
from marshmallow import Schema, fields

from wallet_api.api.openapi import operations

_SENTENCE = re.compile(r".+?[.;](?= |$)")
# A field has the words of the first of these operations that has it, and then of any.
_FIRST = ("get_leaderboard", "get_history", "list_wallet_tokens", "get_token_stats", "list_signals")


def sentences(app: Flask) -> dict[str, str]:
    """Return the first sentence about each field of a response, by its name."""
    every = [operation for _, operation in operations(app)]
    every.sort(key=lambda each: _FIRST.index(each.name) if each.name in _FIRST else len(_FIRST))
    found: dict[str, str] = {}
    for operation in every:
        for name, description in _described(operation.data):
            found.setdefault(name, description)
    return found


def _described(schema: Schema) -> Iterator[tuple[str, str]]:
    for name, field in schema.fields.items():
        if isinstance(field, fields.Nested):
            yield from _described(field.schema)
        if sentence := _SENTENCE.match(field.metadata.get("description", "")):
            yield name, sentence[0].rstrip(";.") + "."

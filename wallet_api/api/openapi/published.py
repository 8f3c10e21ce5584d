"""What is published of the OpenAPI document: itself, and what is made of it."""

import orjson
from flask import Flask

from wallet_api.api.openapi import document
from wallet_api.api.openapi.llms import SKILL, llms_text
from wallet_api.api.openapi.tools import instructions, tools

_EXTENSION = "wallet_api.documents"


def published(app: Flask) -> dict[str, bytes]:
    """Return the texts that are made of the document, once for an app."""
    made = _made(app)
    if "llms" not in made:
        described = document(app)
        llms = llms_text(described)
        made |= {
            "llms": llms.encode(),
            "skill": (SKILL + llms).encode(),
            "tools": orjson.dumps(tools(described)),
            "instructions": orjson.dumps(instructions(described)),
        }
    return made


def published_document(app: Flask, amounts: str, *, tables: bool) -> bytes:
    """Return the document, made once for an app and these arguments."""
    name, made = f"{amounts} {tables}", _made(app)
    if name not in made:
        made[name] = orjson.dumps(document(app, amounts, tables=tables))
    return made[name]


def _made(app: Flask) -> dict[str, bytes]:
    made: dict[str, bytes] = app.extensions.setdefault(_EXTENSION, {})
    return made

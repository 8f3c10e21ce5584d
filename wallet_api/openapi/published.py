"""What is published of the OpenAPI document: itself, and what is made of it."""

import orjson
from flask import Flask

from wallet_api.openapi import document
from wallet_api.openapi.llms import llms_text, skill_text
from wallet_api.openapi.tools import instructions, tools

_EXTENSION = "wallet_api.documents"


def published(app: Flask) -> dict[str, bytes]:
    """Return what is made once for an app: `number` and `string`, the document by `amounts`, and texts."""
    if _EXTENSION not in app.extensions:
        described = document(app)
        app.extensions[_EXTENSION] = {
            "number": orjson.dumps(described),
            "string": orjson.dumps(document(app, "string")),
            "llms": llms_text(described).encode(),
            "skill": skill_text(described).encode(),
            "tools": orjson.dumps(tools(described)),
            "instructions": orjson.dumps(instructions(described)),
        }
    made: dict[str, bytes] = app.extensions[_EXTENSION]
    return made

"""What requests need beside the OpenAPI document: the types of a chain, and what the ledger contains.

Loaded by schemathesis. FUZZ_VALUES is a JSON file, of valid requests: by chain, its types, addresses, mints.
"""

import json
import os
from pathlib import Path
from typing import Any

import schemathesis

_FILE = os.environ.get("FUZZ_VALUES")
_VALUES: dict[str, dict[str, list[str]]] = json.loads(Path(_FILE).read_text()) if _FILE else {}
# Parameters, and the values that they are chosen from.
_KNOWN = {"type": "types", "address": "addresses", "mint": "mints"}


@schemathesis.hook
def before_load_schema(context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Take the format of counts away: it is for generators, and a larger number is accepted."""
    for item in raw_schema["paths"].values():
        for parameter in item["get"]["parameters"]:
            if parameter["name"].startswith("min_"):
                parameter["schema"].pop("format", None)


@schemathesis.hook
def map_query(context: schemathesis.HookContext, query: dict[str, Any] | None) -> dict[str, Any] | None:
    """Replace what would be refused, and keep all else as it was generated."""
    known = _VALUES.get(str((query or {}).get("blockchain")))
    if query is None or known is None:
        return query
    # The same call for the same seed.
    number = len(json.dumps(query, default=str)) + sum(map(len, map(str, query.values())))
    for name, values in _KNOWN.items():
        if name in query and known[values]:
            query[name] = known[values][number % len(known[values])]
    query.pop("cursor", None)
    return query

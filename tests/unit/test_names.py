"""The names of the package: each means one thing."""

import ast
from collections import defaultdict
from pathlib import Path

import wallet_api

ROOT = Path(wallet_api.__file__).parent


def public_names(path: Path) -> set[str]:
    """The classes and types that a module defines."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name):
                names.add(name)
            # Not of functions.
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=kind))):
                names |= {name} if kind != "Callable" else set()
    return {name for name in names if name[0].isupper() and not name.isupper()}


def test_no_two_public_classes_or_types_have_one_name() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for name in public_names(path):
            found[name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}

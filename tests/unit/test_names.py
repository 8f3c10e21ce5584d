"""The names of the package: each means one thing."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import wallet_api

ROOT = Path(wallet_api.__file__).parent


@cache
def modules() -> dict[Path, ast.Module]:
    """All modules of the package, read once."""
    return {path: ast.parse(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}


def public_names(path: Path, module: ast.Module) -> dict[str, str]:
    """The classes and types that a module defines, with what distinguishes them from others of one name."""
    names = {}
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                names[name] = str(path)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id="Callable"))):
                # Functions of one kind may be named where they are called.
                names[name] = ast.unparse(node.value)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() | ast.BinOp() | ast.Name()):
                names[name] = str(path)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="TypeVar"))):
                names[name] = "TypeVar"
    return {name: kind for name, kind in names.items() if name[0].isupper() and not name.isupper()}


def test_no_two_public_classes_or_types_have_one_name() -> None:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path, module in modules().items():
        for name, kind in public_names(path, module).items():
            found[name][kind].append(str(path.relative_to(ROOT)))
    assert len(found) > 400
    assert {name: dict(kinds) for name, kinds in found.items() if len(kinds) > 1} == {}


def test_no_two_public_functions_have_one_name_and_none_is_a_preposition() -> None:
    functions: dict[str, list[str]] = defaultdict(list)
    methods = set()
    for path, module in modules().items():
        for node in module.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                functions[node.name].append(str(path.relative_to(ROOT)))
            elif isinstance(node, ast.ClassDef):
                methods |= {method.name for method in node.body if isinstance(method, ast.FunctionDef)}
    assert len(functions) > 600
    # Flask's name for what connects a part to an application.
    assert {name for name, each in functions.items() if len(each) > 1} == {"init_app"}
    assert not (functions.keys() | methods) & {
        "at",
        "before",
        "by",
        "for",
        "of",
        "since",
        "to",
        "what",
        "without",
    }


def test_no_function_is_longer_than_a_screen() -> None:
    lines = {}
    for path, module in modules().items():
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno is not None
                lines[f"{path.relative_to(ROOT)} {node.name}"] = node.end_lineno - node.lineno + 1
    # Most of a command are its options.
    del lines["operate/cli/discover.py discover"]
    assert {name: count for name, count in lines.items() if count > 50} == {}

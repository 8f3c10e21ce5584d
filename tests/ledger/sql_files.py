"""The .sql files of the package, and which of them are parts of others."""

import re
from pathlib import Path

import wallet_api

PACKAGE = Path(wallet_api.__file__).parent


def included_files() -> set[Path]:
    """Return the files that others include, which are no statements by themselves."""
    return {
        file.with_name(f"{name}.sql")
        for file in PACKAGE.rglob("*.sql")
        for name in re.findall(r"^ *\{(\w+)\}", file.read_text(), re.MULTILINE)
    }


def package_of(file: Path) -> str:
    """Return the package that a file lies in."""
    return ".".join(file.parent.relative_to(PACKAGE.parent).parts)

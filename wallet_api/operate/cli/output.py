"""What several commands print: JSON summaries, a progress bar, and the location of an error."""

import shlex
import shutil
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click
import orjson

# The exit status of a command that rejected some rows of its file.
_SOME_REJECTED = 3

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


class Show(Protocol):
    """Moves a progress bar to `done` of `of`, and shows a text behind it."""

    def __call__(self, done: int, of: int, note: str | None = None, /) -> None:
        """Move the bar."""


def is_shown() -> bool:
    """Return whether a progress bar is visible: only on a terminal."""
    return sys.stderr.isatty()


@contextmanager
def progress_bar(label: str, *, hidden: bool = False) -> Iterator[Show]:
    """Yield a function that moves a progress bar on standard error. Without a terminal nothing is shown."""
    with click.progressbar(
        length=100,
        label=label,
        file=sys.stderr,
        hidden=hidden or not is_shown(),
        item_show_func=lambda note: note,
    ) as bar:
        yield lambda done, of, note=None: bar.update(max(0, 100 * done // max(of, 1) - bar.pos), note)


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of equal length in columns, the headings first."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def warn(text: str) -> None:
    """Write a warning to standard error."""
    click.echo(f"Warning: {text}", err=True)


def end_if_rejected(count: int, rejects: Path | None, *, as_json: bool) -> None:
    """Say where the rejected rows of a file are, if there are any, and exit with the status for these."""
    if count:
        if not as_json:
            click.echo(f"Rejected rows, with reasons: {rejects}", err=True)
        sys.exit(_SOME_REJECTED)


def typed(arguments: str) -> str:
    """Return a command of `wallet-api` as a shell in this folder runs it: by its path, unless PATH has it."""
    program = Path(sys.argv[0]).absolute()
    found = shutil.which("wallet-api")
    if program.name != "wallet-api" or (found and Path(found).samefile(program)):
        return f"wallet-api {arguments}"
    folder = Path.cwd()
    path = program.relative_to(folder) if program.is_relative_to(folder) else program
    return f"{shlex.quote(str(path))} {arguments}"


def raised_at(error: BaseException) -> str:
    """Return the file and line that raised an error. Its message may contain a password of the settings."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(frame.filename).name}:{frame.lineno}"


def print_json(document: Any) -> None:
    """Print a document on one line."""
    click.echo(orjson.dumps(document))

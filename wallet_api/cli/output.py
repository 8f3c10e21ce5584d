"""What several commands print: JSON summaries, and a progress bar."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import click
import orjson

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


def print_json(document: Any) -> None:
    """Print a document on one line."""
    click.echo(orjson.dumps(document))

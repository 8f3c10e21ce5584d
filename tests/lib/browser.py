"""A headless browser for tests: one interface, which Chromium and Firefox have."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

ANSWER_SECONDS = 200.0

Message = dict[str, Any]


class Page(ABC):
    """A browser with a tab. `problems` are the errors on its console, and what its policy forbids."""

    problems: list[str]

    @abstractmethod
    def open_tab(self) -> None:
        """Open a tab, and close the one before."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Open a page. Wait for it with await_true()."""

    @abstractmethod
    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""

    @abstractmethod
    def press(self, key: str) -> None:
        """Press a key: Tab, Enter, Escape or /."""

    @abstractmethod
    def type(self, text: str) -> None:
        """Type a text into what has the focus."""

    @abstractmethod
    def resize(self, width: int, height: int = 900) -> None:
        """Give the page this size; one below 500 pixels is that of a phone."""

    def await_true(self, expression: str) -> None:
        """Wait until the expression is true. It is evaluated every 50 ms."""
        found = self.value(
            f"""new Promise((resolve) => {{
                const end = performance.now() + 150000;
                const look = () => {{
                    let there = false;
                    try {{ there = Boolean({expression}); }} catch (error) {{ there = false; }}
                    if (there || performance.now() > end) resolve(there);
                    else setTimeout(look, 50);
                }};
                look();
            }})"""
        )
        assert found, f"never true: {expression}; problems: {self.problems}"


@contextmanager
def running(command: list[str], log: Path, **options: Any) -> Iterator[None]:
    """Run a browser, and wait for its end, to which its driver leads it; else end it with its processes."""
    with log.open("wb") as output:
        process = psutil.Popen(command, stdout=output, stderr=output, start_new_session=True, **options)
    try:
        yield
        process.wait(timeout=60)
    finally:
        if process.is_running():
            for each in [*process.children(recursive=True), process]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)

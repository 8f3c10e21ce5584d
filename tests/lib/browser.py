"""A headless Chromium for tests, controlled over DevTools: https://chromedevtools.github.io/devtools-protocol/"""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

import pytest

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1280,1600"),
)
_ANSWER_SECONDS = 200.0

Message = dict[str, Any]


def chromium() -> str | None:
    """Return the path of the program, or None."""
    return shutil.which("chromium") or shutil.which("google-chrome")


needs_chromium = pytest.mark.skipif(chromium() is None, reason="needs chromium: apt-get install chromium")


class Page:
    """A browser with a tab. `problems` are the errors on its console, and what its policy forbids.

    `events` are the notices of DevTools about traces.
    """

    def __init__(self, sent: IO[bytes], received: IO[bytes]) -> None:
        self._sent = sent
        self._answers: Queue[Message] = Queue()
        self._number = 0
        self._session: str | None = None
        self._target: str | None = None
        self.problems: list[str] = []
        self.events: list[tuple[str, Message]] = []
        threading.Thread(target=self._read, args=(received,), daemon=True).start()
        self.open_tab()

    def open_tab(self) -> None:
        """Open a tab, and close the one before."""
        before, self._session, self.problems = self._target, None, []
        self._target = self.command("Target.createTarget", url="about:blank")["targetId"]
        if before:
            self.command("Target.closeTarget", targetId=before)
        self._session = self.command("Target.attachToTarget", targetId=self._target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")

    def open(self, url: str) -> None:
        """Open a page. Wait for it with await_true()."""
        self.command("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        reply = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def await_true(self, expression: str) -> None:
        """Wait until the expression is true. It is evaluated in each animation frame."""
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

    def press(self, key: str, code: int) -> None:
        """Press a key, such as Tab (9) or Enter (13)."""
        for kind in ("keyDown", "keyUp"):
            self.command(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text="\r" if key == "Enter" and kind == "keyDown" else "",
            )

    def command(self, method: str, **parameters: Any) -> Message:
        """Run a DevTools command and return its result."""
        self._number += 1
        command: Message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        self._sent.write(json.dumps(command).encode() + b"\0")
        self._sent.flush()
        while True:
            try:
                answer = self._answers.get(timeout=_ANSWER_SECONDS)
            except Empty:
                raise AssertionError(f"the browser does not respond to {method}") from None
            if answer["id"] == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: Message = answer["result"]
                return result

    def _read(self, received: IO[bytes]) -> None:
        buffer = b""
        while chunk := received.read1(65536):  # type: ignore[attr-defined]
            *messages, buffer = (buffer + chunk).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message:
                    self._answers.put(message)
                else:
                    self._note(message["method"], message["params"])

    def _note(self, event: str, parameters: Message) -> None:
        if event.startswith("Tracing."):
            self.events.append((event, parameters))
        if event == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        if event == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        if event == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.problems.append(str(parameters["args"]))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Run a new browser with one page and its profile in `folder`."""
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()
    # Chromium reads commands from descriptor 3 and writes to 4.
    shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
    command = [str(chromium()), *_FLAGS, f"--user-data-dir={folder}"]
    with ExitStack() as stack:
        log = stack.enter_context((folder.parent / "chromium.log").open("wb"))
        process = subprocess.Popen(
            ["/bin/bash", "-c", shell, "browser", *command],
            pass_fds=[to_browser, from_browser],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        sent = stack.enter_context(os.fdopen(from_us, "wb"))
        received = stack.enter_context(os.fdopen(to_us, "rb"))
        try:
            page = Page(sent, received)
            yield page
            page.command("Browser.close")
        finally:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()

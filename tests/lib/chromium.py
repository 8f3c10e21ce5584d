"""A headless Chromium, controlled over DevTools: https://chromedevtools.github.io/devtools-protocol/"""

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

import pytest

from tests.lib.browser import ANSWER_SECONDS, Message, Page, running

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1280,1600"),
)
_CODES = {"Tab": 9, "Enter": 13, "Escape": 27, "/": 191}

# The first has no window that it would draw beside the page.
_PROGRAM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
)
needs_chromium = pytest.mark.skipif(
    _PROGRAM is None, reason="needs chromium: apt-get install chromium-headless-shell"
)


class Chromium(Page):
    """A page in Chromium."""

    def __init__(self, sent: IO[bytes], received: IO[bytes]) -> None:
        self._sent = sent
        self._answers: Queue[Message] = Queue()
        self._number = 0
        self._session: str | None = None
        self._target: str | None = None
        self.problems = []
        threading.Thread(target=self._read, args=(received,), daemon=True).start()
        self.open_tab()

    def open_tab(self) -> None:
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
        self.command("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        reply = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.command(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=_CODES[key],
                text="\r" if key == "Enter" and kind == "keyDown" else "",
            )

    def type(self, text: str) -> None:
        self.command("Input.insertText", text=text)

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.command("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, colors: str) -> None:
        """Let the system prefer colors, `light` or `dark`."""
        preferred = [{"name": "prefers-color-scheme", "value": colors}]
        self.command("Emulation.setEmulatedMedia", features=preferred)

    def change_line(self, latency: int = 0, *, is_lost: bool = False) -> None:
        """Give the line a latency in milliseconds, or take it away."""
        rates = {"downloadThroughput": -1, "uploadThroughput": -1}
        self.command("Network.emulateNetworkConditions", offline=is_lost, latency=latency, **rates)

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
                answer = self._answers.get(timeout=ANSWER_SECONDS)
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
        if event == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        if event == "Runtime.exceptionThrown":
            self.problems.append(str(parameters["exceptionDetails"]))
        if event == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.problems.append(str(parameters["args"]))


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """Run a new browser with one page and its profile in `folder`."""
    to_browser, from_us = os.pipe()
    to_us, from_browser = os.pipe()
    # Chromium reads commands from descriptor 3 and writes to 4.
    shell = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
    command = ["/bin/bash", "-c", shell, "browser", str(_PROGRAM), *_FLAGS, f"--user-data-dir={folder}"]
    with ExitStack() as stack:
        sent = stack.enter_context(os.fdopen(from_us, "wb"))
        received = stack.enter_context(os.fdopen(to_us, "rb"))
        log = folder.parent / "chromium.log"
        stack.enter_context(running(command, log, pass_fds=[to_browser, from_browser]))
        os.close(to_browser)
        os.close(from_browser)
        page = Chromium(sent, received)
        yield page
        page.command("Browser.close")

"""A headless Firefox, controlled over WebDriver BiDi: https://www.w3.org/TR/webdriver-bidi/"""

import json
import math
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.lib.browser import ANSWER_SECONDS, Message, Page, running
from tests.lib.waiting import eventually

# No requests but those of the page, and nothing that a first start shows.
_PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
_KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c"}

_PROGRAM = shutil.which("firefox-esr") or shutil.which("firefox")
needs_firefox = pytest.mark.skipif(_PROGRAM is None, reason="needs firefox: apt-get install firefox-esr")


class Firefox(Page):
    """A page in Firefox."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self._context: str | None = None
        self.problems = []
        self._command("session.new", capabilities={})
        self._command("session.subscribe", events=["log.entryAdded"])
        self.open_tab()

    def open_tab(self) -> None:
        before, self._context = self._context, self._command("browsingContext.create", type="tab")["context"]
        if before:
            self._command("browsingContext.close", context=before)
        self.problems = []

    def open(self, url: str) -> None:
        self._command("browsingContext.navigate", context=self._context, url=url, wait="interactive")

    def value(self, expression: str) -> Any:
        target = {"context": self._context}
        reply = self._command("script.evaluate", expression=expression, target=target, awaitPromise=True)
        assert reply["type"] == "success", reply["exceptionDetails"]
        return _python(reply["result"])

    def press(self, key: str) -> None:
        self.type(_KEYS.get(key, key))

    def type(self, text: str) -> None:
        strokes = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": strokes}
        self._command("input.performActions", context=self._context, actions=[source])

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height}
        self._command("browsingContext.setViewport", context=self._context, viewport=size)

    def close(self) -> None:
        """End the browser."""
        self._command("browser.close")

    def _command(self, method: str, **parameters: Any) -> Message:
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=ANSWER_SECONDS))
            if message["type"] == "event" and message["params"]["level"] == "error":
                self.problems.append(str(message["params"]["text"]))
            if message.get("id") == self._number:
                assert message["type"] == "success", (method, message)
                result: Message = message["result"]
                return result


def _python(remote: Message) -> Any:
    """Return a value that is serialized in JSON, with its type."""
    kind, value = remote["type"], remote.get("value")
    if kind == "array":
        return [_python(each) for each in value or ()]
    if kind == "object":
        return {name: _python(each) for name, each in value or ()}
    return math.nan if value == "NaN" and kind == "number" else value


@contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """Run a new browser with one page and its profile in `folder`."""
    folder.mkdir()
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    (folder / "user.js").write_text("".join(lines))
    where = folder / "WebDriverBiDiServer.json"
    command = [str(_PROGRAM), "--headless", "--no-remote", "--profile", str(folder)]
    with ExitStack() as stack:
        log = folder.parent / "firefox.log"
        stack.enter_context(running([*command, "--remote-debugging-port", "0"], log))
        assert eventually(lambda: where.exists() and where.read_text().endswith("}"), seconds=60)
        place = json.loads(where.read_text())
        url = f"ws://{place['ws_host']}:{place['ws_port']}/session"
        page = Firefox(stack.enter_context(connect(url, max_size=None)))
        yield page
        page.close()

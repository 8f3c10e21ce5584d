"""Log formatters: text or JSON, with the request id and without API keys."""

import logging
import math
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from wallet_api.settings import Settings

log = logging.getLogger(__name__)

# API keys, and values that were sent as one.
_KEYS = re.compile(r"wk_[\w-]{4,}|(?<=api_key=)[^&\s\"']+|(?<=[Bb]earer )[^\s\"']+")

# A failure to write that comes later is a new one, and reported again.
_SAME_SECONDS = 60.0
# The priorities of sd-daemon(3), by the lowest level that has them; below these it is 7.
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))


class _Formatter(logging.Formatter):
    """Lines of text or of JSON, without keys; with a priority for journald, which stores it in its place."""

    def __init__(self, *, is_json: bool, has_priority: bool, request_id: Callable[[], str | None]) -> None:
        super().__init__()
        self._line = self._json if is_json else self._text
        self._has_priority = has_priority
        self._request_id = request_id

    def format(self, record: logging.LogRecord) -> str:
        more = record.__dict__.get("more")
        request_id = self._request_id() if more is None else more.get("request_id")
        line = _without_keys(self._line(record, request_id, more or {}))
        if not self._has_priority:
            return line
        priority = next((number for level, number in _PRIORITIES if record.levelno >= level), 7)
        return "\n".join(f"<{priority}>{part}" for part in line.split("\n"))

    def _text(self, record: logging.LogRecord, request_id: str | None, more: Mapping[str, Any]) -> str:
        """Return `time [process] LEVEL request_id message`; a traceback follows on indented lines.

        Control characters are escaped, so no line can be forged.
        """
        about = f"{record.levelname}{f' {request_id}' if request_id else ''}"
        line = f"{_time(record)} [{record.process}] {about} {_visible(record.getMessage())}"
        if record.exc_info:
            traceback = self.formatException(record.exc_info)
            line += "".join(f"\n    {_visible(part)}" for part in traceback.splitlines())
        return line

    def _json(self, record: logging.LogRecord, request_id: str | None, more: Mapping[str, Any]) -> str:
        """Return one object: time, level, logger, process, message; request_id, exception, more if any."""
        document = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            "request_id": request_id,
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
            **more,
        }
        present = {name: _utf8(value) for name, value in document.items() if value is not None}
        return orjson.dumps(present, default=str).decode()


def formatter(settings: Settings, request_id: Callable[[], str | None] = lambda: None) -> logging.Formatter:
    """Return the formatter that LOG_FORMAT selects; under systemd its lines have their priority.

    `request_id` returns that of the current request.
    """
    is_json = settings.log_format == "json"
    return _Formatter(is_json=is_json, has_priority=_writes_to_journal(), request_id=request_id)


def drop_unwritable(handler: logging.Handler) -> None:
    """Let a handler drop the lines that it cannot write, as on a full disk, and log that once.

    By default logging prints a traceback for each of them, so that most is logged when least can be written.
    """
    failed_at = -math.inf

    def drop(record: logging.LogRecord) -> None:
        nonlocal failed_at
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            logging.Handler.handleError(handler, record)
            return
        is_new, failed_at = time.monotonic() - failed_at > _SAME_SECONDS, time.monotonic()
        if is_new:
            name = getattr(getattr(handler, "stream", None), "name", handler)
            log.error("Log lines are dropped until they can be written to %s: %s", name, error.strerror)

    handler.handleError = drop  # type: ignore[method-assign]


def _writes_to_journal() -> bool:
    # systemd names the journal's socket, which a redirection inside the unit would replace: systemd.exec(5).
    journal = os.environ.get("JOURNAL_STREAM")
    if not journal:
        return False
    files = [os.fstat(descriptor) for descriptor in (1, 2)]
    return all(f"{file.st_dev}:{file.st_ino}" == journal for file in files)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def _utf8(value: Any) -> Any:
    # Invalid UTF-8 of a caller arrives as lone surrogates, which JSON cannot contain.
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _without_keys(line: str) -> str:
    # The search for these words is faster than the expression, and few lines contain any.
    if "wk_" in line or "api_key=" in line or "earer " in line:
        return _KEYS.sub("…", line)
    return line

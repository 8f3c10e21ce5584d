"""Log formatters: text or JSON, with the request id and without API keys."""

import logging
import math
import os
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from wallet_api.settings import Settings

log = logging.getLogger(__name__)

# API keys, and values that were sent as one.
_KEYS = re.compile(r"wk_[\w-]{4,}|(?<=api_key=)[^&\s\"']+|(?<=[Bb]earer )[^\s\"']+")

# The priorities of sd-daemon(3), by the lowest level that has them; below these it is 7.
# A failure to write that comes later is a new one, and reported again.
_SAME_SECONDS = 60.0
_PRIORITIES = ((logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6))


class _Formatter(logging.Formatter):
    """A formatter with the request id: `request_id` returns that of the current request."""

    def __init__(self, request_id: Callable[[], str | None] = lambda: None) -> None:
        super().__init__()
        self._request = request_id

    def _request_id(self, record: logging.LogRecord) -> str | None:
        if "more" in record.__dict__:
            request_id: str | None = record.__dict__["more"].get("request_id")
            return request_id
        return self._request()


class _TextFormatter(_Formatter):
    """`time [process] LEVEL request_id message`; control characters are escaped, so no line can be forged."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback follows on indented lines."""
        request_id = self._request_id(record)
        head = (
            f"{_time(record)} [{record.process}] {record.levelname}{f' {request_id}' if request_id else ''}"
        )
        line = f"{head} {_visible(record.getMessage())}"
        if record.exc_info:
            traceback = self.formatException(record.exc_info)
            line += "".join(f"\n    {_visible(part)}" for part in traceback.splitlines())
        return _without_keys(line)


class _JsonFormatter(_Formatter):
    """One JSON object: time, level, logger, process, message; request_id, exception and more if present."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the object on one line."""
        document = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            "request_id": self._request_id(record),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        } | getattr(record, "more", {})
        present = {name: _utf8(value) for name, value in document.items() if value is not None}
        return _without_keys(orjson.dumps(present, default=str).decode())


class _JournalFormatter(logging.Formatter):
    """The lines of another formatter, each with the priority that journald stores in place of this prefix."""

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        priority = next((number for level, number in _PRIORITIES if record.levelno >= level), 7)
        return "\n".join(f"<{priority}>{line}" for line in self._inner.format(record).split("\n"))


def formatter(settings: Settings, request_id: Callable[[], str | None] = lambda: None) -> logging.Formatter:
    """Return the formatter that LOG_FORMAT selects; under systemd its lines have their priority."""
    chosen = (_JsonFormatter if settings.log_format == "json" else _TextFormatter)(request_id)
    return _JournalFormatter(chosen) if _writes_to_journal() else chosen


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

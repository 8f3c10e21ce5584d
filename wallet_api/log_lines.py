"""Log lines, as text or as JSON, with their request, never with a key."""

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import orjson

from wallet_api.settings import Settings

# Whatever a caller or a library puts into a message: the key itself, and what is given as one.
_KEYS = re.compile(r"wk_[\w-]{4,}|(?<=api_key=)[^&\s\"']+|(?<=[Bb]earer )[^\s\"']+")


class _Formatter(logging.Formatter):
    """`request_id` tells the request of now, where there is one."""

    def __init__(self, request_id: Callable[[], str | None] = lambda: None) -> None:
        super().__init__()
        self._request = request_id

    def _request_id(self, record: logging.LogRecord) -> str | None:
        if "more" in record.__dict__:
            told: str | None = record.__dict__["more"].get("request_id")
            return told
        return self._request()


class TextFormatter(_Formatter):
    """`time [process] LEVEL request_id message`; no text of a caller's can begin a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end; a traceback follows it on indented lines."""
        request_id = self._request_id(record)
        head = (
            f"{_time(record)} [{record.process}] {record.levelname}{f' {request_id}' if request_id else ''}"
        )
        line = f"{head} {_visible(record.getMessage())}"
        if record.exc_info:
            traceback = self.formatException(record.exc_info)
            line += "".join(f"\n    {_visible(part)}" for part in traceback.splitlines())
        return _without_keys(line)


class JsonFormatter(_Formatter):
    """One JSON object: time, level, logger, process, message; request_id, exception and more where known."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, on one line."""
        document = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            "request_id": self._request_id(record),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        } | getattr(record, "more", {})
        told = {name: _utf8(value) for name, value in document.items() if value is not None}
        return _without_keys(orjson.dumps(told, default=str).decode())


def formatter(settings: Settings, request_id: Callable[[], str | None] = lambda: None) -> logging.Formatter:
    """The one that LOG_FORMAT names."""
    return (JsonFormatter if settings.log_format == "json" else TextFormatter)(request_id)


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
    # Bytes of a caller's that are not UTF-8 arrive as lone surrogates, which have no place in JSON.
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _without_keys(line: str) -> str:
    # Nearly no line needs the expression, and to look for its words takes a tenth of the time.
    if "wk_" in line or "api_key=" in line or "earer " in line:
        return _KEYS.sub("…", line)
    return line

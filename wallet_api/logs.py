"""Log lines of the service and of syncs: as text or JSON, with their request, never with a key."""

import logging
import os
import re
import sys
import time
from collections.abc import MutableMapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

import orjson
from flask import g, has_request_context
from gunicorn.config import Config
from gunicorn.glogging import Logger

from wallet_api.settings import Settings

# Whatever a caller or a library puts into a message: the key itself, and what is given as one.
_KEYS = re.compile(r"wk_[\w-]{4,}|(?<=api_key=)[^&\s\"']+|(?<=[Bb]earer )[^\s\"']+")

FLUSH_SECONDS = 0.1


class TextFormatter(logging.Formatter):
    """`time [process] LEVEL request_id message`; no text of a caller's can begin a line of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end; a traceback follows it on indented lines."""
        request_id = _request_id(record)
        head = (
            f"{_time(record)} [{record.process}] {record.levelname}{f' {request_id}' if request_id else ''}"
        )
        line = f"{head} {_visible(record.getMessage())}"
        if record.exc_info:
            traceback = self.formatException(record.exc_info)
            line += "".join(f"\n    {_visible(part)}" for part in traceback.splitlines())
        return _without_keys(line)


class JsonFormatter(logging.Formatter):
    """One JSON object: time, level, logger, process, message; request_id, exception and more where known."""

    def format(self, record: logging.LogRecord) -> str:
        """The object, on one line."""
        document = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
            "request_id": _request_id(record),
            "exception": self.formatException(record.exc_info) if record.exc_info else None,
        } | getattr(record, "more", {})
        told = {name: _utf8(value) for name, value in document.items() if value is not None}
        return _without_keys(orjson.dumps(told, default=str).decode())


def formatter(settings: Settings) -> logging.Formatter:
    """The one that LOG_FORMAT names."""
    return JsonFormatter() if settings.log_format == "json" else TextFormatter()


class GunicornLogger(Logger):
    """gunicorn's lines and ours in one form, LOG_FORMAT; of other libraries only warnings."""

    def setup(self, cfg: Config) -> None:
        """Open the logs; called again for each reload."""
        super().setup(cfg)
        chosen = formatter(Settings.from_environment())
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                handler.setFormatter(chosen)
        for handler in self.access_log.handlers:
            _Flusher(handler)
        root = logging.getLogger()
        for handler in [handler for handler in root.handlers if isinstance(handler, _OwnHandler)]:
            root.removeHandler(handler)
        own = _OwnHandler(sys.stderr)
        own.setFormatter(chosen)
        root.addHandler(own)
        logging.getLogger("wallet_api").setLevel(self.loglevel)

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """gunicorn's own, without their details: some repeat the bytes that a caller sent."""
        super().debug(str(msg).replace("%s", "…"), **kwargs)

    def access(self, resp: Any, req: Any, environ: MutableMapping[str, Any], request_time: timedelta) -> None:
        """One line for an answered request: its path without the query string, in which keys travel."""
        if not self.access_log_enabled:
            return
        method, path = environ.get("REQUEST_METHOD", "-"), environ.get("PATH_INFO", "-")
        status = int(str(resp.status).split(None, 1)[0])
        milliseconds = round(request_time.total_seconds() * 1000, 1)
        request_id = next((value for name, value in resp.headers if name == "X-Request-ID"), None)
        caller = environ.get("REMOTE_ADDR") or "-"
        more = {
            "request_id": request_id,
            "remote_address": caller,
            "method": method,
            "path": path,
            "status": status,
            "bytes": resp.sent,
            "milliseconds": milliseconds,
        }
        self.access_log.info(
            '%s "%s %s %s" %d %d %sms',
            *(caller, method, path, environ.get("SERVER_PROTOCOL", "-"), status, resp.sent, milliseconds),
            extra={"more": more},
        )


class _Flusher:
    """Flushes a handler a moment after a line was written, for all lines of that moment together.

    To flush each line takes longer than most answers do. When a process is killed, what it wrote in the last
    FLUSH_SECONDS is lost.
    """

    def __init__(self, handler: logging.Handler) -> None:
        self._flush = handler.flush
        self._wanted = Event()
        self._process: int | None = None
        handler.flush = self._flush_soon  # type: ignore[method-assign]

    def _flush_soon(self) -> None:
        if not self._wanted.is_set():
            self._wanted.set()
            # Threads do not survive a fork.
            if self._process != os.getpid():
                self._process = os.getpid()
                try:
                    Thread(target=self._run, name="access log", daemon=True).start()
                except RuntimeError:
                    # The process is ending, and starts no more threads.
                    self._flush()

    def _run(self) -> None:
        while self._wanted.wait():
            time.sleep(FLUSH_SECONDS)
            self._wanted.clear()
            # A file that is being closed, or a full disk: the next line tries again.
            with suppress(OSError, ValueError):
                self._flush()


class _OwnHandler(logging.StreamHandler[Any]):
    """Ours on the root logger, which a second setup replaces."""


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _request_id(record: logging.LogRecord) -> str | None:
    if "more" in record.__dict__:
        told: str | None = record.__dict__["more"].get("request_id")
        return told
    return g.get("request_id") if has_request_context() else None


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

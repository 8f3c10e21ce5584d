"""The logs of the service under gunicorn."""

import logging
import sys
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from flask import has_request_context
from gunicorn.config import Config
from gunicorn.glogging import Logger

from wallet_api.api.access.current import KEY_NAME, REQUEST_ID, current_request
from wallet_api.api.keys import may_contain_key
from wallet_api.operate.log_lines import drop_unwritable, formatter
from wallet_api.settings import Settings

_MAX_ARGUMENTS = 1000


class GunicornLogger(Logger):
    """Formats the lines of gunicorn and of the service by LOG_FORMAT; of other libraries only warnings."""

    def setup(self, cfg: Config) -> None:
        """Configure the logs; called again for each reload."""
        super().setup(cfg)
        chosen = formatter(Settings.from_environment(), _request_id)
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                handler.setFormatter(chosen)
                drop_unwritable(handler)
        root = logging.getLogger()
        for handler in [handler for handler in root.handlers if isinstance(handler, _RootHandler)]:
            root.removeHandler(handler)
        root_handler = _RootHandler(sys.stderr)
        root_handler.setFormatter(chosen)
        drop_unwritable(root_handler)
        root.addHandler(root_handler)
        logging.getLogger("wallet_api").setLevel(self.loglevel)

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log a message of gunicorn without its details, which may repeat bytes that a caller sent."""
        super().debug(str(msg).replace("%s", "…"), **kwargs)

    def warning(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log a warning of gunicorn; of an invalid request without the bytes that a caller sent."""
        text = str(msg)
        is_of_caller = text.startswith("Invalid request from")
        super().warning(text.partition(": ")[0] if is_of_caller else msg, *args, **kwargs)

    def exception(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log an exception of gunicorn without the URL of the request, which may contain a key."""
        super().exception(str(msg).replace("%s", "…"), **kwargs)

    def access(self, resp: Any, req: Any, environ: MutableMapping[str, Any], request_time: timedelta) -> None:
        """Log one line for a request: its arguments without the key, and the name of the key."""
        if not self.access_log_enabled:
            return
        method, path = environ.get("REQUEST_METHOD", "-"), environ.get("PATH_INFO", "-")
        arguments, key_name = _arguments(environ.get("QUERY_STRING", "")), environ.get(KEY_NAME)
        status = int(str(resp.status).split(None, 1)[0])
        milliseconds = round(request_time.total_seconds() * 1000, 1)
        caller = environ.get("REMOTE_ADDR") or "-"
        more = {
            "request_id": environ.get(REQUEST_ID),
            "remote_address": caller,
            "method": method,
            "path": path,
            "arguments": arguments or None,
            "key": key_name,
            "status": status,
            "bytes": resp.sent,
            "milliseconds": milliseconds,
        }
        self.access_log.info(
            '%s "%s %s%s %s" %d %d %sms %s',
            *(caller, method, path, f"?{arguments}" if arguments else ""),
            *(environ.get("SERVER_PROTOCOL", "-"), status, resp.sent, milliseconds, key_name or "-"),
            extra={"more": more},
        )


class _RootHandler(logging.StreamHandler[Any]):
    """The handler on the root logger that a second setup replaces."""


def _arguments(query: str) -> str:
    """Return a query string without the parameter api_key, in whatever way it is encoded."""
    # Parsing takes longer than the rest of the line, and few requests need it.
    if not may_contain_key(query.encode("latin-1")):
        return query[:_MAX_ARGUMENTS]
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode([pair for pair in pairs if pair[0] != "api_key"])[:_MAX_ARGUMENTS]


def _request_id() -> str | None:
    return current_request().request_id if has_request_context() else None

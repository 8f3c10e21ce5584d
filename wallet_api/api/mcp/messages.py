"""Messages of JSON-RPC 2.0 as MCP sends them: what is in the body of a POST, or what is wrong with it."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import msgspec

LATEST = "2026-07-28"
# Those that begin with `initialize`, newest first.
EARLIER = ("2025-11-25", "2025-06-18", "2025-03-26")
SUPPORTED = [LATEST, *EARLIER]

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_BASE64 = re.compile(r"=\?base64\?(.*)\?=")

_WRONG = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

Value = TypeVar("Value")
# Returns the value of a header; None if it is absent.
Header = Callable[[str], str | None]


class Fault(Exception):
    """A message is refused: the error of JSON-RPC, and the status of HTTP."""

    def __init__(self, code: int, message: str, *, status: int = 400, **data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data
        # As it was sent; null if it cannot be read.
        self.id = msgspec.Raw(b"null")


@dataclass(frozen=True)
class Message:
    """A request, or a notification, which has no id. `version` is the revision that the client speaks."""

    id: msgspec.Raw | None
    method: str
    params: Mapping[str, msgspec.Raw]
    version: str

    @property
    def is_latest(self) -> bool:
        """Return whether it is of the latest revision, not of those with `initialize`."""
        return self.version == LATEST

    @property
    def is_call(self) -> bool:
        """Return whether it is the call of a tool."""
        return self.id is not None and self.method == "tools/call"

    def param(self, name: str, kind: type[Value], default: Value | None = None) -> Value:
        """Return a parameter; without a default it is required. Raises Fault."""
        if name not in self.params and default is not None:
            return default
        return self.decoded(name, self.params.get(name, msgspec.Raw(b"null")), kind)

    def decoded(self, name: str, value: msgspec.Raw, kind: type[Value]) -> Value:
        """Return the value of what is called `name`. Raises Fault if it is not of this kind."""
        try:
            return msgspec.json.decode(value, type=kind)
        except _WRONG as error:
            raise self.fault(-32602, f"{name}: {error}") from None

    def fault(self, code: int, message: str, **data: Any) -> Fault:
        """Return the refusal of this request; earlier revisions have no status for it but 200."""
        status = (404 if code == -32601 else 400) if self.is_latest else 200
        fault = Fault(code, message, status=status, **data)
        fault.id = self.id or fault.id
        return fault


class _Body(msgspec.Struct):
    jsonrpc: Literal["2.0"]
    method: str
    id: msgspec.Raw = msgspec.Raw()
    params: dict[str, msgspec.Raw] = {}


def parse(body: bytes, header: Header) -> Message:
    """Return the one message in the body. Raises Fault if it, or what the headers say of it, is wrong."""
    try:
        read = msgspec.json.decode(body, type=_Body)
        if bytes(read.id):
            msgspec.json.decode(read.id, type=int | str)
        elif not read.method.startswith("notifications/"):
            raise msgspec.ValidationError("a request needs an id")
    except msgspec.ValidationError as error:
        raise Fault(-32600, f"The body is not one request or notification of JSON-RPC 2.0: {error}") from None
    except _WRONG as error:
        raise Fault(-32700, f"The body is not JSON: {error}") from None
    version = header("MCP-Protocol-Version")
    meta = _meta(read)
    # Clients of the first revision send no header.
    spoken = LATEST if _VERSION in meta else version if version in SUPPORTED else EARLIER[-1]
    message = Message(read.id if bytes(read.id) else None, read.method, read.params, spoken)
    if message.id is not None and message.is_latest:
        _check(message, meta, header)
    elif version not in (None, *SUPPORTED):
        raise _unsupported(message, version)
    return message


def _meta(read: _Body) -> Mapping[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(read.params.get("_meta", b"{}"), type=dict[str, msgspec.Raw])
    except _WRONG:
        return {}


def _check(message: Message, meta: Mapping[str, msgspec.Raw], header: Header) -> None:
    missing = [name for name in (_VERSION, _CAPABILITIES) if name not in meta]
    if missing:
        raise message.fault(-32602, f"params._meta lacks {', '.join(missing)}.")
    said = {
        "MCP-Protocol-Version": message.decoded(_VERSION, meta[_VERSION], str),
        "Mcp-Method": message.method,
    }
    if message.method == "tools/call":
        said["Mcp-Name"] = message.param("name", str)
    for name, value in said.items():
        if _decoded(header(name)) != value:
            raise message.fault(-32020, f"The header {name} does not match the body.")
    if said["MCP-Protocol-Version"] != LATEST:
        raise _unsupported(message, said["MCP-Protocol-Version"])


def _decoded(value: str | None) -> str | None:
    """Return the value of a header; None if it is absent, or its base64 is wrong."""
    encoded = _BASE64.fullmatch(value or "")
    if encoded is None:
        return value
    try:
        return base64.b64decode(encoded[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _unsupported(message: Message, version: str | None) -> Fault:
    fault = message.fault(-32022, "Unsupported protocol version", supported=SUPPORTED, requested=version)
    fault.status = 400
    return fault

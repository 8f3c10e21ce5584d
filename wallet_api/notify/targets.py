"""The targets of webhooks, as the file of rules has them: where messages are sent, and how."""

import base64
import json
import re
import ssl
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields, validates, validates_schema
from marshmallow.validate import Length, OneOf, Range

from wallet_api.api.schemas.arguments import AMOUNTS
from wallet_api.base import http
from wallet_api.notify.formats import FORMATS, Format
from wallet_api.notify.words import NAMES, filled, quoted

_PREFIX = "whsec_"
_PORTS = {"https": 443, "http": 80}
# Printable ASCII: what else an address may have is escaped in it.
_URL = re.compile(r"[!-~]+")
# Values that anybody may have written, and none: between the quotes of a JSON text all of them are JSON.
_SAMPLES = ("", "1", "a", '"', "\\", "\n", '"}, "admin": "', "${type}")


@dataclass(frozen=True)
class Target:
    """Where messages are sent, and the secrets that sign them, of which there are two during a rotation.

    With a `format` the body is that of a chat, and the template is its text.
    """

    name: str
    url: str
    secrets: Sequence[bytes] = ()
    # It verifies the certificate.
    trust: ssl.SSLContext = field(default_factory=http.trust)
    per_minute: int = 60
    template: string.Template | None = None
    amounts: str = AMOUNTS[0]
    format: Format | None = None
    chat_id: str | int | None = None

    @property
    def port(self) -> int:
        """Its port."""
        parts = urlsplit(self.url)
        return parts.port or _PORTS[parts.scheme]


class _Secret(fields.String):
    """A secret of Standard Webhooks, loaded as its key."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        text = str(super()._deserialize(value, *arguments, **options))
        try:
            key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
        except ValueError:
            key = b""
        if not text.startswith(_PREFIX) or not 24 <= len(key) <= 64:
            raise ValidationError(f"must be {_PREFIX} and 24 to 64 bytes in base64")
        return key


class _Template(fields.String):
    """A text with words of a message in it."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        template = string.Template(str(super()._deserialize(value, *arguments, **options)))
        if not template.is_valid() or set(template.get_identifiers()) - set(NAMES):
            raise ValidationError(f"may have ${{name}} of these: {', '.join(NAMES)}")
        return template


class _Trust(fields.String):
    """A file of certificates, loaded as what verifies by them."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return http.trust(str(super()._deserialize(value, *arguments, **options)))
        except OSError as error:
            # Those of OpenSSL have no text of the system.
            raise ValidationError(f"has no certificates: {error.strerror or 'they are not PEM'}") from None


class _ChatId(fields.Field[Any]):
    """The number of a chat of Telegram, or its name."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise ValidationError("must be a whole number, or a text")
        return value


class TargetSchema(Schema):
    """A target of the file. Its address may have one of some schemes."""

    url = fields.String(required=True)
    secrets = fields.List(_Secret(), validate=Length(min=1, max=2))
    per_minute = fields.Integer(strict=True, validate=Range(min=1, max=6000))
    template = _Template()
    amounts = fields.String(validate=OneOf(AMOUNTS))
    trust = _Trust(data_key="ca_file")
    format = fields.String(validate=OneOf(tuple(FORMATS)))
    chat_id = _ChatId()

    def __init__(self, schemes: tuple[str, ...]) -> None:
        super().__init__()
        self._schemes = schemes

    @validates("url")
    def _is_url(self, url: str, **options: Any) -> None:
        try:
            parts = urlsplit(url)
            # A port that is no number raises.
            host = (parts.hostname or "").strip(".")
            is_right = parts.scheme in self._schemes and bool(host) and parts.port != 0
        except ValueError:
            is_right = False
        if not is_right or "@" in parts.netloc or not _URL.fullmatch(url):
            raise ValidationError("must be an HTTPS address without a user; HTTP only with --allow-private")

    @validates_schema
    def _is_whole(self, data: dict[str, Any], **options: Any) -> None:
        has_format = "format" in data
        if not has_format and "secrets" not in data:
            raise ValidationError("is required without a format", "secrets")
        if (data.get("format") == "telegram") != ("chat_id" in data):
            raise ValidationError("is required with the format telegram, and of no use otherwise", "chat_id")
        if not has_format and "template" in data and not _makes_json(data["template"]):
            raise ValidationError('must be JSON, with each ${name} within quotes: "${value}"', "template")


def target_of(name: str, loaded: dict[str, Any]) -> Target:
    """Return the target of a name, of what the schema has loaded."""
    format = loaded.pop("format", None)
    return Target(name, format=format and FORMATS[format], **loaded)


def _makes_json(template: string.Template) -> bool:
    """Return whether a template makes JSON of any words."""
    try:
        for sample in _SAMPLES:
            json.loads(filled(template, quoted(dict.fromkeys(NAMES, sample))))
    except ValueError:
        return False
    return True

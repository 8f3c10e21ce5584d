"""The targets of webhooks, as the file of rules has them: where messages are sent, and how."""

import base64
import json
import re
import ssl
import string
from collections.abc import Mapping
from dataclasses import dataclass
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
    secrets: tuple[bytes, ...]
    # It verifies the certificate.
    trust: ssl.SSLContext
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


class _ChatId(fields.Field[Any]):
    """The number of a chat of Telegram, or its name."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise ValidationError("must be a whole number, or a text")
        return value


class TargetSchema(Schema):
    """A target of the file. Its address may have one of some schemes."""

    url = fields.String(required=True)
    secrets = fields.List(fields.String(), validate=Length(min=1, max=2))
    per_minute = fields.Integer(strict=True, validate=Range(min=1, max=6000))
    template = fields.String()
    amounts = fields.String(validate=OneOf(AMOUNTS))
    ca_file = fields.String()
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

    @validates("secrets")
    def _are_secrets(self, secrets: list[str], **options: Any) -> None:
        for secret in secrets:
            _secret(secret)

    @validates("template")
    def _is_template(self, text: str, **options: Any) -> None:
        template = string.Template(text)
        if not template.is_valid() or set(template.get_identifiers()) - set(NAMES):
            raise ValidationError(f"may have ${{name}} of these: {', '.join(NAMES)}")

    @validates_schema
    def _is_whole(self, data: dict[str, Any], **options: Any) -> None:
        has_format = "format" in data
        if not has_format and "secrets" not in data:
            raise ValidationError("is required without a format", "secrets")
        if (data.get("format") == "telegram") != ("chat_id" in data):
            raise ValidationError("is required with the format telegram, and of no use otherwise", "chat_id")
        if not has_format and "template" in data and not _makes_json(string.Template(data["template"])):
            raise ValidationError('must be JSON, with each ${name} within quotes: "${value}"', "template")

    @validates("ca_file")
    def _is_ca_file(self, file: str, **options: Any) -> None:
        try:
            http.trust(file)
        except OSError as error:
            # Those of OpenSSL have no text of the system.
            raise ValidationError(f"has no certificates: {error.strerror or 'they are not PEM'}") from None


def target_of(name: str, loaded: Mapping[str, Any]) -> Target:
    """Return the target of a name, of what the schema has loaded."""
    template, format = loaded.get("template"), loaded.get("format")
    return Target(
        name,
        loaded["url"],
        tuple(_secret(secret) for secret in loaded.get("secrets", ())),
        http.trust(loaded.get("ca_file")),
        loaded.get("per_minute", Target.per_minute),
        None if template is None else string.Template(template),
        loaded.get("amounts", Target.amounts),
        None if format is None else FORMATS[format],
        loaded.get("chat_id"),
    )


def _makes_json(template: string.Template) -> bool:
    """Return whether a template makes JSON of any words."""
    try:
        for sample in _SAMPLES:
            json.loads(filled(template, quoted(dict.fromkeys(NAMES, sample))))
    except ValueError:
        return False
    return True


def _secret(text: str) -> bytes:
    """Return the key of a secret of Standard Webhooks. Raises ValidationError."""
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not text.startswith(_PREFIX) or not 24 <= len(key) <= 64:
        raise ValidationError(f"must be {_PREFIX} and 24 to 64 bytes in base64")
    return key

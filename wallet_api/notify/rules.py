"""The rules of webhooks, read from a TOML file: what is reported, and to whom."""

import base64
import binascii
import string
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from marshmallow import Schema, ValidationError, fields, validates
from marshmallow.validate import Length, OneOf, Range

from wallet_api.chains import CHAINS, WALLET_TYPES, stored_form
from wallet_api.schemas.feed import DIRECTIONS

_PREFIX = "whsec_"
_LIST = "@"
# What a template has by name, and the columns of the feed.
WORDS = {
    "chain": "profile_blockchain",
    "wallet": "profile_wallet_address",
    "wallet_name": "profile_name",
    **{
        name: name
        for name in (
            *("transaction_type", "mint", "symbol", "token_name", "token_amount", "value", "value_usd"),
            *("currency", "tx_signature", "created_at"),
        )
    },
}
NAMES = ("type", "rule", *WORDS, "wallets", "count")


class RulesError(Exception):
    """The file of rules has faults: one a line."""


@dataclass(frozen=True)
class Target:
    """Where messages are sent, and the secrets that sign them, of which there are two during a rotation."""

    name: str
    url: str
    secrets: tuple[bytes, ...]
    per_minute: int = 60
    template: string.Template | None = None
    ca_file: str | None = None


@dataclass(frozen=True)
class Cluster:
    """So many wallets within so many hours."""

    wallets: int
    hours: int


@dataclass(frozen=True)
class Rule:
    """Which trades are reported to which targets; None of a condition is any."""

    name: str
    targets: tuple[str, ...]
    chain: str | None = None
    type: str | None = None
    address: frozenset[str] | None = None
    mint: frozenset[str] | None = None
    transaction_type: str | None = None
    min_value: Decimal | None = None
    min_value_usd: Decimal | None = None
    cluster: Cluster | None = None


@dataclass(frozen=True)
class Rules:
    """The targets by name, and the rules."""

    targets: Mapping[str, Target]
    rules: tuple[Rule, ...]


class _Texts(fields.Field[Any]):
    """One text or a list of texts."""

    def _deserialize(self, value: Any, *arguments: Any, **options: Any) -> Any:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise ValidationError("must be a text, or a list of texts")
        return texts


class _TargetSchema(Schema):
    url = fields.String(required=True)
    secrets = fields.List(fields.String(), required=True, validate=Length(min=1, max=2))
    per_minute = fields.Integer(strict=True, validate=Range(min=1, max=6000))
    template = fields.String()
    ca_file = fields.String()

    @validates("url")
    def _is_url(self, url: str, **options: Any) -> None:
        parts = urlsplit(url)
        if parts.scheme not in self.context_schemes or not parts.hostname or parts.username:
            raise ValidationError("must be an HTTPS address without a user; HTTP only with --allow-private")

    @validates("secrets")
    def _are_secrets(self, secrets: list[str], **options: Any) -> None:
        for secret in secrets:
            _secret(secret)

    @validates("template")
    def _is_template(self, template: str, **options: Any) -> None:
        unknown = sorted(set(string.Template(template).get_identifiers()) - set(NAMES))
        if unknown or not string.Template(template).is_valid():
            raise ValidationError(f"may have ${{name}} of these: {', '.join(NAMES)}")

    context_schemes: tuple[str, ...] = ("https",)


class _ClusterSchema(Schema):
    wallets = fields.Integer(strict=True, required=True, validate=Range(min=2, max=1000))
    hours = fields.Integer(strict=True, required=True, validate=Range(min=1, max=168))


class _RuleSchema(Schema):
    targets = _Texts(required=True)
    chain = fields.String(validate=OneOf(tuple(CHAINS)))
    type = fields.String(validate=OneOf(WALLET_TYPES))
    address = _Texts()
    mint = _Texts()
    transaction_type = fields.String(validate=OneOf(DIRECTIONS))
    min_value = fields.Decimal(validate=Range(min=0))
    min_value_usd = fields.Decimal(validate=Range(min=0))
    cluster = fields.Nested(_ClusterSchema)


class _FileSchema(Schema):
    targets = fields.Dict(required=True, keys=fields.String(), values=fields.Dict())
    lists = fields.Dict(keys=fields.String(), values=fields.List(fields.String()), load_default=dict)
    rules = fields.Dict(required=True, keys=fields.String(), values=fields.Dict())


def read_rules(path: Path, *, allow_private: bool = False) -> Rules:
    """Return the rules of a file. Raises RulesError with all of its faults."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RulesError(f"{path}: {error}") from error
    return _rules_of(document, ("https", "http") if allow_private else ("https",))


def _rules_of(document: Mapping[str, Any], schemes: tuple[str, ...]) -> Rules:
    faults = [f"{place}: {fault}" for place, fault in _faults(_FileSchema().validate(document))]
    if faults:
        raise RulesError("\n".join(faults))
    lists = document.get("lists", {})
    of_target = _TargetSchema()
    of_target.context_schemes = schemes
    targets, rules = {}, []
    for kind, schema in (("targets", of_target), ("rules", _RuleSchema())):
        for name, given in document[kind].items():
            try:
                loaded = schema.load(given)
            except ValidationError as error:
                faults += [f"{kind}.{name}.{place}: {fault}" for place, fault in _faults(error.messages)]
                continue
            if kind == "targets":
                targets[name] = _target(name, loaded)
                continue
            unknown = [one for one in loaded["targets"] if one not in document["targets"]]
            unknown += [one for one in loaded.get("address", ()) if one[:1] == _LIST and one[1:] not in lists]
            faults += [f"rules.{name}: there is no {one!r}" for one in unknown]
            if not unknown:
                rules.append(_rule(name, loaded, lists))
    if faults:
        raise RulesError("\n".join(faults))
    return Rules(targets, tuple(rules))


def _faults(messages: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _faults(inner, f"{place}.{name}".strip("."))
    else:
        yield from ((place, message) for message in messages)


def _target(name: str, loaded: dict[str, Any]) -> Target:
    secrets = tuple(_secret(secret) for secret in loaded.pop("secrets"))
    template = loaded.pop("template", None)
    return Target(name, secrets=secrets, template=template and string.Template(template), **loaded)


def _rule(name: str, loaded: dict[str, Any], lists: Mapping[str, Iterable[str]]) -> Rule:
    targets = tuple(dict.fromkeys(loaded.pop("targets")))
    cluster = loaded.pop("cluster", None)
    for condition in ("address", "mint"):
        if condition in loaded:
            texts = [
                text
                for one in loaded[condition]
                for text in (lists[one[1:]] if one[:1] == _LIST and condition == "address" else [one])
            ]
            loaded[condition] = frozenset(stored_form(text, CHAINS.values()) for text in texts)
    return Rule(name, targets, cluster=cluster and Cluster(**cluster), **loaded)


def _secret(text: str) -> bytes:
    """Return the key of a secret of Standard Webhooks. Raises ValidationError."""
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if not text.startswith(_PREFIX) or not 24 <= len(key) <= 64:
        raise ValidationError(f"must be {_PREFIX} and 24 to 64 bytes in base64")
    return key

"""The rules of webhooks, read from a TOML file: what is reported, and to whom."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError, fields
from marshmallow.validate import OneOf, Range, Regexp

from wallet_api.chains import CHAINS, WALLET_TYPES, stored_form
from wallet_api.notify.targets import Target, TargetSchema, target_of
from wallet_api.schemas.feed import DIRECTIONS

_LIST = "@"
# They are part of log lines, metrics and ids.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RulesError(Exception):
    """The file of rules has faults: one a line."""


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


def _names() -> fields.String:
    error = "must be 1 to 64 letters, digits, hyphens or underscores"
    return fields.String(validate=Regexp(rf"{_NAME.pattern}\Z", error=error))


class _FileSchema(Schema):
    targets = fields.Dict(required=True, keys=_names(), values=fields.Dict())
    lists = fields.Dict(keys=_names(), values=fields.List(fields.String()))
    rules = fields.Dict(required=True, keys=_names(), values=fields.Dict())


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
    targets, rules = {}, []
    for kind, schema in (("targets", TargetSchema(schemes)), ("rules", _RuleSchema())):
        for name, given in document[kind].items():
            try:
                loaded = schema.load(given)
            except ValidationError as error:
                faults += [f"{kind}.{name}.{place}: {fault}" for place, fault in _faults(error.messages)]
                continue
            if kind == "targets":
                targets[name] = target_of(name, loaded)
                continue
            unknown = list(_unknown(loaded, document["targets"], lists))
            faults += [f"rules.{name}: {fault}" for fault in unknown]
            if not unknown:
                rules.append(_rule(name, loaded, lists))
    if faults:
        raise RulesError("\n".join(faults))
    return Rules(targets, tuple(rules))


def _unknown(
    loaded: Mapping[str, Any], targets: Mapping[str, Any], lists: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what a rule names and the file does not have."""
    for name in loaded["targets"]:
        if name not in targets:
            # Where a name is meant, there may be an address with a secret.
            shown = repr(name) if _NAME.fullmatch(name) else "target of such a name"
            yield f"there is no {shown}"
    for name in loaded.get("address", ()):
        if name.startswith(_LIST) and name.removeprefix(_LIST) not in lists:
            yield f"there is no {name!r}"


def _faults(messages: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            # Of a table, marshmallow has a level of its own: whether the key or the value has the fault.
            yield from _faults(inner, place if name in ("key", "value") else f"{place}.{name}".strip("."))
    else:
        yield from ((place, message) for message in messages)


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

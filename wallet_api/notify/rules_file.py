"""The TOML file of targets and rules, with all of its faults at once."""

import logging
import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from marshmallow import Schema, ValidationError, fields
from marshmallow.validate import Regexp

from wallet_api.base.errors import CommandError
from wallet_api.notify.rules import LIST, Rule, RuleSchema, rule_of
from wallet_api.notify.targets import Target, TargetSchema, target_of

log = logging.getLogger(__name__)

# They are part of log lines, metrics and ids.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RulesError(CommandError):
    """The file of rules has faults: one a line."""


class RulesFile:
    """The targets of a file by name, and its rules, read again once they are expired.

    Raises RulesError, with all of its faults, at first.
    """

    def __init__(self, path: Path, *, allow_private: bool = False) -> None:
        self.allow_private = allow_private
        self._path = path
        self._is_expired = False
        self.targets, self.rules = self._read()

    def _read(self) -> tuple[Mapping[str, Target], tuple[Rule, ...]]:
        try:
            document = tomllib.loads(self._path.read_text(encoding="utf-8"), parse_float=Decimal)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            # The text of an OSError names the file once more.
            raise RulesError(f"{self._path}: {getattr(error, 'strerror', None) or error}") from error
        return _rules_of(document, ("https", "http") if self.allow_private else ("https",))

    def expire(self) -> None:
        """Have the file read again. A signal handler may call it: it takes no lock."""
        self._is_expired = True

    def refresh(self) -> bool:
        """Read the file again if it is expired, and return whether it was. With faults the rules stay."""
        if not self._is_expired:
            return False
        self._is_expired = False
        try:
            self.targets, self.rules = self._read()
        except RulesError as error:
            log.error("notify: the rules stay as they were: %s", error)  # noqa: TRY400
            return False
        log.warning("notify: read %d rules", len(self.rules))
        return True


def _names() -> fields.String:
    error = "must be 1 to 64 letters, digits, hyphens or underscores"
    return fields.String(validate=Regexp(rf"{_NAME.pattern}\Z", error=error))


class _FileSchema(Schema):
    targets = fields.Dict(required=True, keys=_names(), values=fields.Dict())
    lists = fields.Dict(keys=_names(), values=fields.List(fields.String()))
    rules = fields.Dict(required=True, keys=_names(), values=fields.Dict())


def _rules_of(
    document: Mapping[str, Any], schemes: tuple[str, ...]
) -> tuple[Mapping[str, Target], tuple[Rule, ...]]:
    faults = [f"{place}: {fault}" for place, fault in _faults(_FileSchema().validate(document))]
    if faults:
        raise RulesError("\n".join(faults))
    lists = document.get("lists", {})
    targets, rules = {}, []
    for kind, schema in (("targets", TargetSchema(schemes)), ("rules", RuleSchema())):
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
                rules.append(rule_of(name, loaded, lists))
    if faults:
        raise RulesError("\n".join(faults))
    return targets, tuple(rules)


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
        if name.startswith(LIST) and name.removeprefix(LIST) not in lists:
            yield f"there is no {name!r}"


def _faults(messages: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            # Of a table, marshmallow has a level of its own: whether the key or the value has the fault.
            yield from _faults(inner, place if name in ("key", "value") else f"{place}.{name}".strip("."))
    else:
        yield from ((place, message) for message in messages)

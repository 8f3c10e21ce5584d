"""The lists of arguments and fields of docs/reference.md: what several share is written once."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from marshmallow import Schema, fields

from wallet_api.api.schemas.argument_fields import Switch, Time
from wallet_api.api.schemas.arguments import Arguments, GroupArguments
from wallet_api.api.schemas.brief import BriefWindowSchema
from wallet_api.api.schemas.calendar import DaySchema, MonthSchema
from wallet_api.api.schemas.feed import HoldingSchema, TokenSchema, TradeSchema
from wallet_api.api.schemas.figures import NO_SOURCE, USD
from wallet_api.api.schemas.history import HistoryTradeSchema, TokenOverviewSchema
from wallet_api.api.schemas.leaderboard import EntrySchema, PeriodDistributionSchema
from wallet_api.api.schemas.paging import PaginationSchema
from wallet_api.api.schemas.search import LookedUpSchema
from wallet_api.api.schemas.tokens import TotalHoldersSchema
from wallet_api.api.schemas.tracker import TokenRowSchema, TrackerTradeSchema
from wallet_api.api.schemas.wallets import HistoryProfileSchema, ProfileSchema

# The objects of several operations, each described once; bases and subclasses by their difference from it.
OBJECTS: dict[str, type[Schema]] = {
    "Profile": ProfileSchema,
    "Trade": TradeSchema,
    "Trade of a wallet": HistoryTradeSchema,
    "Token": TokenSchema,
    "Holding": HoldingSchema,
    "Holders": TotalHoldersSchema,
    "Ranked wallet": EntrySchema,
    "Token of a wallet": TokenOverviewSchema,
    "Token in a period": TokenRowSchema,
    "Window of a brief": BriefWindowSchema,
    "Win rate distribution": PeriodDistributionSchema,
    "Day": DaySchema,
    "Month": MonthSchema,
    "Address": LookedUpSchema,
    "Pagination": PaginationSchema,
}
# They have the fields of one of OBJECTS without being of its kind.
_ALSO: dict[type[Schema], str] = {TrackerTradeSchema: "Trade of a wallet", HistoryProfileSchema: "Profile"}
# The list says shortly what follows from the rest of a description.
_SHORT = (
    ("; null without one", ", or null"),
    ("; null if unknown", ", or null"),
    ("; absent without one", ", or absent"),
    ("; absent if unknown", ", or absent"),
    ("; absent if not tracked", ", or absent"),
    ("; absent otherwise", ", or absent"),
    (", else absent:", ":"),
    # The document says of all addresses how they are returned.
    (", in lower case on EVM chains", ""),
    ("; in lower case on EVM chains", ""),
)
# The document says of all wallets that these are their own.
_OF_WALLET = (
    "The chain of the wallet.",
    "The category of the wallet.",
    "The chain.",
    "The category of the wallet there.",
)
# The document says once that a figure of nothing is 0.
_NOTHING = re.compile(
    r"; 0 (if none( bought| was bought)?"
    r"|without (any|both|a cost|trades|a covered sell|a closed position))(?=[.;]|$)"
)
# The document says once that what an argument leaves out is absent.
_SWITCHED = re.compile(r"; absent (with|without) `\w+=\w+`$")
# A default that is written in the meaning of an argument is shown beside its name.
_DEFAULT = re.compile(r"; (`?\w+`?) by default(?=\.|$)")
# The document says once that every operation has them, or all that have a format.
_COMMON = ("amounts", "bom")


def title_of(schema: Schema) -> str | None:
    """Return the title in OBJECTS of a schema, its base or its subclass; None if there is none."""
    kind = type(schema)
    found = (title for title, known in OBJECTS.items() if issubclass(kind, known) or issubclass(known, kind))
    return _ALSO.get(kind) or next(found, None)


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub names it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Lists:
    """The lists of all operations, which leave to a glossary what means the same in several of them."""

    def __init__(self, arguments: Iterable[Arguments], data: Iterable[Schema]) -> None:
        self._arguments = _shared(
            {(name, _argument(field)) for name, field in schema.fields.items()} for schema in arguments
        )
        shapes = {type(schema): schema for top in (*data, *_objects()) for schema in _within(top)}
        self._fields = _shared(
            {(name, _field(field)) for name, field in _own(schema).items() if not _is_obvious(name, field)}
            for schema in shapes.values()
        )

    def glossary(self, kind: str) -> str:
        """Return the shared "arguments" or "fields" with their meanings."""
        shared = self._arguments if kind == "arguments" else self._fields
        names = defaultdict(list)
        for name, meaning in sorted(shared.items()):
            names[meaning].append(name)
        return "\n".join(f"- {_quoted(same)}: {meaning}" for meaning, same in names.items())

    def of_arguments(self, schema: Arguments) -> str:
        """Return the list of the arguments of an operation, those of the glossary by their names."""
        group = isinstance(schema, GroupArguments)
        shared = []
        own: dict[str, list[str]] = defaultdict(list)
        for name, field in schema.fields.items():
            if name in _COMMON:
                continue
            shown = (f"**`{name}`**" if field.required else f"`{name}`") + _default(name, field)
            if self._arguments.get(name) == _argument(field) or (group and name in ("blockchain", "type")):
                shared.append(shown)
            else:
                own[self._beyond_glossary(name, field)].append(shown)
        rows = [f"- {', '.join(names)}: {meaning}" for meaning, names in own.items()]
        if not shared:
            return "\n".join(rows) or "No arguments."
        return "\n".join([f"[Arguments](#arguments): {', '.join(shared)}", "", *rows]).strip()

    def _beyond_glossary(self, name: str, field: fields.Field[Any]) -> str:
        """Return what an argument means; if the glossary says so of other words, its words alone."""
        words = f" {_one_of(getattr(field, 'allowed', ()))}."
        meaning = _argument(field)
        known = self._arguments.get(name, "")
        same = meaning.endswith(words) and known.startswith(meaning.removesuffix(words) + " `")
        return words.strip() if same else meaning

    def of_fields(self, schema: Schema, arguments: Iterable[str] = (), sample: Any = None) -> str:
        """Return the list of the fields of an object, those of the glossary by their names.

        Those of the glossary that the `sample` of the object shows are left out, unless they have fields to
        describe, and those that repeat one of the `arguments`.
        """
        title = title_of(schema)
        known = [] if title is None or type(schema) is OBJECTS[title] else [f"- those of {_link(title)}"]
        return "\n".join([*known, *self._rows(_own(schema), "", frozenset(arguments), sample)])

    def _rows(
        self, members: dict[str, fields.Field[Any]], indent: str, arguments: frozenset[str], sample: Any
    ) -> Iterator[str]:
        shared: list[str] = []
        rows: list[tuple[str, list[str], list[str]]] = []
        shown = next(iter(sample), {}) if isinstance(sample, list) else sample or {}
        for name, field in members.items():
            if _is_obvious(name, field) or (name in arguments and _repeats(field)):
                continue
            meaning = _field(field)
            inner = _inner(field)
            beyond = {} if inner is None else _beyond_known(inner)
            more = list(self._rows(beyond, f"{indent}  ", arguments, shown.get(name)))
            if self._fields.get(name) == meaning:
                if not more:
                    shared.extend([name] * (name not in shown))
                    continue
                meaning = ""
            if rows and (rows[-1][0], rows[-1][2]) == (meaning, more):
                rows[-1][1].append(name)
            elif more and (same := next((names[0] for _, names, other in rows if other == more), None)):
                rows.append((f"{meaning} With the fields of `{same}`.", [name], []))
            else:
                rows.append((meaning, [name], more))
        if shared:
            yield f"{indent}- {_quoted(shared)}"
        for meaning, names, more in rows:
            yield f"{indent}- {_quoted(names)}{f': {meaning}' if meaning else ''}"
            yield from more


def _shared(objects: Iterable[set[tuple[str, str]]]) -> dict[str, str]:
    """Return the most frequent meaning of each name that has it in more than one object.

    Other names of such a meaning are added.
    """
    counts = Counter(pair for pairs in objects for pair in pairs)
    frequent = {meaning for (_, meaning), count in counts.items() if count > 1}
    shared: dict[str, str] = {}
    for (name, meaning), _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if meaning in frequent:
            shared.setdefault(name, meaning)
    return shared


def _objects() -> list[Schema]:
    return [schema() for schema in OBJECTS.values()]


def _within(schema: Schema) -> Iterator[Schema]:
    yield schema
    for field in schema.fields.values():
        inner = _inner(field)
        if inner is not None:
            yield from _within(inner)


def _inner(field: fields.Field[Any]) -> Schema | None:
    part = field.value_field if isinstance(field, fields.Dict) else field
    return part.schema if isinstance(part, fields.Nested) else None


def _own(schema: Schema) -> dict[str, fields.Field[Any]]:
    """Return the fields of an object, or of one of OBJECTS those that the others of its kind do not have."""
    return schema.fields if type(schema) in OBJECTS.values() else _beyond_known(schema)


def _beyond_known(schema: Schema) -> dict[str, fields.Field[Any]]:
    """Return the fields of an object that are not in the section about such objects."""
    title = title_of(schema)
    known = OBJECTS[title]().fields if title else {}
    return {name: field for name, field in schema.fields.items() if name not in known}


def _default(name: str, field: fields.Field[Any]) -> str:
    """Return the default of an argument in parentheses; an empty text without one."""
    written = _DEFAULT.search(_meaning(field))
    if written:
        return f" ({written[1].strip('`')})"
    default = field.load_default
    if not isinstance(default, str | int) or name == "format":
        return ""
    return f" ({str(default).lower() if isinstance(default, bool) else default})"


def _argument(field: fields.Field[Any]) -> str:
    allowed = getattr(field, "allowed", ())
    meaning = f"{_DEFAULT.sub('', _meaning(field))}."
    if isinstance(field, Time | Switch):
        # The document says once what times and switches are.
        return meaning
    return meaning if all(f"`{word}`" in meaning for word in allowed) else f"{meaning} {_one_of(allowed)}."


def _field(field: fields.Field[Any]) -> str:
    inner = _inner(field)
    title = None if inner is None else title_of(inner)
    kind = ""
    if inner is not None and title is not None:
        lacking = [name for name in OBJECTS[title]().fields if name not in inner.fields]
        without = f" without {_quoted(lacking)}" if lacking else ""
        kind = f" {_link(title)}{without}."
    words = field.metadata.get("enum", ())
    if len(words) > 1 and not all(f"`{word}`" in _meaning(field) for word in words):
        kind = f" {_one_of(words)}."
    return f"{_meaning(field)}.{kind}"


def _link(title: str) -> str:
    return f"[{title}](#{anchor(title)})"


def _one_of(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _is_obvious(name: str, field: fields.Field[Any]) -> bool:
    """Return whether the document says of all such fields what they are."""
    description = str(field.metadata["description"])
    of_coin = getattr(field.parent, "fields", {}).get(name.removesuffix("_usd"))
    may_lack = not field.required or (field.allow_none and of_coin is not None and of_coin.allow_none)
    are_dollars = name.endswith("_usd") and may_lack and "everywhere" not in description
    of_all = name in ("warnings", "pagination")
    return of_all or are_dollars or description in (USD.metadata["description"], NO_SOURCE, *_OF_WALLET)


def _repeats(field: fields.Field[Any]) -> bool:
    """Return whether a field repeats an argument as it was requested, or says it of the requested wallet."""
    words = ("the requested", "as requested", "its chain", "its category")
    return str(field.metadata["description"]).lower().startswith(words)


def _meaning(field: fields.Field[Any]) -> str:
    description = str(field.metadata["description"]).removesuffix(".")
    for words, short in _SHORT:
        description = description.replace(words, short)
    return _SWITCHED.sub("", _NOTHING.sub("", description))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

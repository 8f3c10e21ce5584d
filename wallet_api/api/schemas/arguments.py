"""The arguments that operations share, and the wording of their errors."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, validates_schema

from wallet_api.api.schemas.argument_fields import (
    GROUP_TYPE,
    GROUP_TYPES,
    MAX_TEXT,
    TYPE,
    Choice,
    FreeText,
    Switch,
)
from wallet_api.base.chains import ALL_TYPES, CHAINS, WALLET_TYPES, Chain, stored_form
from wallet_api.base.errors import ApiError, InvalidParameter, MissingParameter

FORMATS = ("json", "csv", "ndjson")
AMOUNTS = ("number", "string")
# The arguments of the form of a response, which do not change what it is about.
OF_TABLES = ("format", "bom")
OF_FORM = (*OF_TABLES, "amounts")
# What absent arguments are in the tools of MCP: lists would push out what they are part of.
OF_TOOLS = {"include_wallets": "false"}


def chains_of(data: Mapping[str, Any]) -> Sequence[Chain]:
    """Return the chain of loaded arguments; without one, all."""
    return [CHAINS[data["blockchain"]]] if "blockchain" in data else list(CHAINS.values())


# Arguments that are addresses, wherever they are, and what else a refusal says.
_OF_CHAIN = {
    "address": "/v1/search finds wallets by name",
    "mint": "/v1/search finds tokens by symbol or name",
}


def _forms(chains: Sequence[Chain]) -> str:
    """Return which chain an address has to be of, with its form."""
    forms = dict.fromkeys(chain.address_form for chain in chains)
    return f"{chains[0].name if len(chains) == 1 else 'any chain'} ({', or '.join(forms)})"


class Arguments(Schema):
    """The base of all arguments. Unknown ones are refused; `api_key` was removed by the gate."""

    amounts = Choice(
        AMOUNTS,
        "`string`: amounts, prices and values are strings of the same digits; all else stays numbers.",
        load_default="number",
    )

    # Those of blockchain and type that a key which is bound to some has to name.
    bound_by: ClassVar[Sequence[str]] = ("blockchain", "type")
    # Whether the view gets the scope of the key, to leave out or refuse wallets that are not within it.
    takes_scope: ClassVar[bool] = False

    class Meta:
        unknown = RAISE

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # They come last in documents and errors.
        for name in OF_FORM:
            if name in self.fields:
                self.fields[name] = self.fields.pop(name)

    @validates_schema
    def _addresses_are_of_the_chain(self, data: dict[str, Any], **kwargs: Any) -> None:
        """Refuse an `address` or a `mint`, one or several, that is none of the chain."""
        for name, hint in _OF_CHAIN.items():
            given, words = data.get(name, ()), getattr(self.fields.get(name), "words", ())
            texts, chains = [given] if isinstance(given, str) else given, chains_of(data)
            for text in texts:
                if text not in words and not any(chain.is_address(text) for chain in chains):
                    other = "".join(f", nor {word}" for word in words)
                    which = "" if len(texts) == 1 else f": {text[:MAX_TEXT]!r}"
                    raise ValidationError(
                        f"is not an address of {_forms(chains)}{other}{which}; {hint}", name
                    )

    def allowed(self, name: str, given: Mapping[str, str]) -> Sequence[str] | None:
        """Return the words that an argument can be beside those given; None if it is no choice."""
        words: Sequence[str] | None = getattr(self.fields[name], "allowed", None)
        if name == "type" and given.get("blockchain") in CHAINS:
            of_chain = (*CHAINS[given["blockchain"]].types, ALL_TYPES)
            return [type for type in words or () if type in of_chain]
        return words


class ChainArguments(Arguments):
    """`blockchain`, required. Addresses and mints are loaded in the form in which the chain's are stored."""

    blockchain = Choice(tuple(CHAINS), "The chain of the wallets.", required=True)

    @post_load
    def _stored_form(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        def stored(text: str) -> str:
            return stored_form(text, chains_of(data))

        texts = {name: data[name] for name in ("address", "mint") if name in data}
        return data | {
            name: tuple(map(stored, text)) if isinstance(text, tuple) else stored(text)
            for name, text in texts.items()
        }


class GroupArguments(ChainArguments):
    """`blockchain` and `type`, required: a group of wallets. Not every chain has every type."""

    type = Choice(GROUP_TYPES, GROUP_TYPE, required=True)

    @validates_schema
    def _pair_exists(self, data: dict[str, Any], **kwargs: Any) -> None:
        of_chains = {type for chain in chains_of(data) for type in chain.types}
        if data.get("type", ALL_TYPES) not in {*of_chains, ALL_TYPES}:
            raise ValidationError("does not exist on this chain", "type")


class AddressMixin:
    """`address`, required unless a subclass says otherwise."""

    address = FreeText("The wallet's address.", required=True)


class FormatMixin:
    """`format` of the response: the whole as JSON, or its rows alone."""

    format = Choice(
        FORMATS,
        "`csv` and `ndjson` return the rows alone, without the envelope.",
        load_default="json",
    )
    bom = Switch(
        "Begin CSV with a byte order mark, by which Excel reads UTF-8.",
        load_default="false",
    )

    @validates_schema
    def _bom_is_of_csv(self, data: dict[str, Any], **kwargs: Any) -> None:
        if data.get("bom") and data.get("format") != "csv":
            raise ValidationError({"bom": {"message": "is for format=csv alone"}})


class WalletArguments(AddressMixin, GroupArguments):
    """`blockchain` and `address`, required: one wallet, of the category `type` if it is given."""

    type = Choice(WALLET_TYPES, TYPE)


# marshmallow's words for a required argument that is absent.
_MISSING = fields.Field.default_error_messages["required"]


def load(schema: Arguments, values: dict[str, list[str]]) -> dict[str, Any]:
    """Validate and convert `values`, the list of values of each name.

    Raises MissingParameter for an absent address or mint, InvalidParameter for all else that is wrong, naming
    the parameter and what is allowed. An empty value is an absent one, save `cursor`, where it means the
    start.
    """
    single: dict[str, str] = {}
    for name, given in values.items():
        if name not in schema.fields:
            raise InvalidParameter(
                f"Unknown parameter {_shown(name)}. Allowed: {', '.join(schema.fields) or 'none'}.",
                parameter=name[:MAX_TEXT],
                allowed=list(schema.fields),
            )
        if len(given) > 1:
            raise InvalidParameter(
                f"Parameter {name} is given {len(given)} times; once is allowed.", parameter=name
            )
        if given[0] != "":
            single[name] = given[0]
    try:
        spared = [
            name
            for name, field in schema.fields.items()
            if not single.keys().isdisjoint(getattr(field, "unless", ()))
        ]
        loaded: dict[str, Any] = schema.load(single, partial=spared or None)
    except ValidationError as error:
        raise _refusal(schema, single, error) from error
    return loaded


def _refusal(schema: Arguments, given: dict[str, str], error: ValidationError) -> ApiError:
    faults = error.messages_dict
    # The first fault in the order of the schema: equal requests get equal errors.
    name = next(name for name in schema.fields if name in faults)
    fault = faults[name]
    allowed = schema.allowed(name, given)
    if isinstance(fault, dict) and "message" in fault:
        # An allowed word that does not fit the other arguments.
        return InvalidParameter(f"Parameter {name} {fault['message']}.", parameter=name)
    if name not in given and fault[0] != _MISSING:
        return InvalidParameter(f"Parameter {name} {fault[0]}.", parameter=name)
    if name not in given:
        refusal = MissingParameter if name in ("address", "mint") else InvalidParameter
        choice = f" Allowed: {', '.join(allowed)}." if allowed else ""
        return refusal(f"Parameter {name} is missing.{choice}", parameter=name, allowed=allowed)
    if allowed:
        message = f"Parameter {name} is {_shown(given[name])}; allowed: {', '.join(allowed)}."
        return InvalidParameter(message, parameter=name, allowed=allowed)
    return InvalidParameter(f"Parameter {name} {fault[0]}.", parameter=name)


def _shown(text: str) -> str:
    """Return a text of a caller in a form that is safe in a message."""
    cut = text if len(text) <= 40 else text[:40] + "…"
    return repr(cut)

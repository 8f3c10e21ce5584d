"""The schemas of the searches for names and for addresses."""

from typing import Any, ClassVar

from marshmallow import post_load

from wallet_api.api.schemas.argument_fields import MAX_TEXTS, TYPE, Choice, Line, Texts, WholeNumber
from wallet_api.api.schemas.arguments import Arguments, FormatMixin
from wallet_api.api.schemas.fields import Boolean, Integer, Moment, Rows, String, Strings
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import ChainSchema, TokenNamesSchema
from wallet_api.api.schemas.wallets import HISTORY_SINCE, HISTORY_UNTIL, ProfileSchema
from wallet_api.base.chains import CHAINS, WALLET_TYPES, stored_form

_AS_TRACKED = "That of the first match; absent without one."


class SearchArguments(Arguments):
    """The arguments of GET /v1/search. A key that is bound to some wallets finds these alone."""

    takes_scope = True

    q = Line(64, "The name or symbol, or the beginning of an address, in any case.", required=True)
    blockchain = Choice(tuple(CHAINS), "Only this chain; all by default.")
    limit = WholeNumber(1, "Most wallets, and most tokens, at most 100.", load_default=20)


class FoundTokenSchema(TokenNamesSchema, ChainSchema):
    """A token, and how widely it is traded. Names come from strangers: several tokens may have one name."""

    blockchain = String("Its chain.")
    last_trade_at = Moment("Its newest trade with a value; null without one.", nullable=True)
    wallet_count = Integer("Tracked wallets with a trade in it.")


class SearchSchema(Shape):
    """The data of GET /v1/search.

    First what equals `q`, then what begins with it, then what has a word that does, from 3 characters on.
    """

    q = String("As requested.")
    wallets = Rows(ProfileSchema, "Wallets by name or address.", many=True)
    tokens = Rows(
        FoundTokenSchema,
        "Tokens by symbol, name or mint, those of most wallets first, then those traded last.",
        many=True,
    )
    warnings = Strings("What was capped; absent if nothing.", optional=True)


class LookupArguments(FormatMixin, Arguments):
    """The arguments of GET /v1/wallets/lookup. The form of an address decides which chains are searched."""

    # It has no chain, and leaves out what the key may not read.
    bound_by = ()
    takes_scope = True

    address = Texts(
        f"An address of any chain, or up to {MAX_TEXTS}, separated by commas.",
        required=True,
    )
    type = Choice(WALLET_TYPES, TYPE)

    @post_load
    def _canonical_addresses(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        addresses = tuple(stored_form(address, CHAINS.values()) for address in data.pop("address"))
        return data | {"addresses": addresses}


class MatchSchema(Shape):
    """A chain on which the address is tracked."""

    blockchain = String("The chain.")
    type = String("The category of the wallet there.")
    history_since = String(HISTORY_SINCE, optional=True)
    history_until = String(HISTORY_UNTIL, optional=True)


class LookedUpSchema(Shape):
    """An address, and where it is tracked."""

    of_tools: ClassVar = {"twitter", "telegram"}
    found = Boolean("Whether the address is tracked on any chain.")
    wallet_address = String("The address; in lower case on EVM chains.")
    name = String(_AS_TRACKED, optional=True)
    image_url = String(_AS_TRACKED, optional=True)
    twitter = String(_AS_TRACKED, optional=True)
    telegram = String(_AS_TRACKED, optional=True)
    copytrade_link = String(_AS_TRACKED, optional=True)
    blockchain = String(_AS_TRACKED, optional=True)
    type = String(_AS_TRACKED, optional=True)
    currency = String(_AS_TRACKED, optional=True)
    history_since = String(_AS_TRACKED, optional=True)
    history_until = String(_AS_TRACKED, optional=True)
    matches = Rows(
        MatchSchema,
        "All matches, by chain; absent if not tracked.",
        optional=True,
        many=True,
    )


class LookupSchema(LookedUpSchema):
    """The data of GET /v1/wallets/lookup: the fields of one address, or `wallets` alone for several."""

    wallets = Rows(
        LookedUpSchema,
        "Each of several addresses; absent if there is one.",
        optional=True,
        many=True,
    )

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"partial": ("found", "wallet_address")})

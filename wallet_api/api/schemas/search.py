"""The schemas of the search for names."""

from wallet_api.api.schemas.argument_fields import Choice, Line, WholeNumber
from wallet_api.api.schemas.arguments import Arguments
from wallet_api.api.schemas.fields import Integer, Moment, Rows, String, Strings
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import ChainSchema, TokenNamesSchema
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.base.chains import CHAINS


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

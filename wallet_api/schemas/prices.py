"""The schemas of the prices of tokens."""

from wallet_api.schemas.arguments import ChainArguments, FormatMixin
from wallet_api.schemas.feed import TokenSchema
from wallet_api.schemas.fields import MAX_TEXTS, Boolean, Mints, Rows, String
from wallet_api.schemas.shapes import Shape


class PricesArguments(FormatMixin, ChainArguments):
    """The arguments of GET /v1/tokens/prices."""

    mint = Mints(f"A token, or up to {MAX_TEXTS}, separated by commas.", required=True)


class PricedTokenSchema(TokenSchema):
    """A token with its price according to the ledger; all is null or empty if it is not found."""

    class Meta:
        exclude = (
            *("blockchain", "currency", "market_cap_currency", "sol_price_usd"),
            *("pool", "on_curve", "bonding_curve_progress"),
        )

    found = Boolean("Whether a tracked wallet ever traded it.")


class PricesSchema(Shape):
    """The data of GET /v1/tokens/prices."""

    blockchain = String("The requested chain.")
    currency = String("Code of the chain's native coin.")
    tokens = Rows(PricedTokenSchema, "The tokens, in the requested order.", many=True)

"""The schemas of the prices of tokens."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import MAX_TEXTS, Texts, Time
from wallet_api.api.schemas.arguments import ChainArguments, FormatMixin
from wallet_api.api.schemas.feed import TokenSchema
from wallet_api.api.schemas.fields import Amount, Boolean, Moment, Rows


class PricesArguments(FormatMixin, ChainArguments):
    """The arguments of GET /v1/tokens/prices."""

    mint = Texts(
        f"A token, or up to {MAX_TEXTS}, separated by commas; `native` for the coin of the chain.",
        words=("native",),
        required=True,
    )
    as_of = Time("Prices of this moment, not in the future; now by default.")


class PricedTokenSchema(TokenSchema):
    """A token with its price; all is null or empty if it is not found."""

    class Meta:
        exclude = (
            *("blockchain", "currency", "market_cap_currency", "sol_price_usd"),
            *("pool", "on_curve", "bonding_curve_progress", "native_price_usd", "native_price_at"),
        )

    found = Boolean("Whether a tracked wallet ever traded it, or it is `native`.")
    last_price = Amount("The newest price, however old; null without one.", nullable=True)
    last_price_at = figures.PRICE_AT


class PricesSchema(figures.NativePriceShape):
    """The data of GET /v1/tokens/prices."""

    blockchain = figures.CHAIN
    currency = figures.CURRENCY
    as_of = Moment("As requested, in whole seconds; absent if not.", optional=True)
    tokens = Rows(PricedTokenSchema, "The tokens, in the requested order.", many=True)
    warnings = figures.OLD_PRICE

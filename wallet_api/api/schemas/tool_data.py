"""The shape of the data of a tool: what a model needs of a wallet and of a token, and no more."""

from marshmallow import Schema, fields

from wallet_api.api.schemas.fields import inner_field
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.wallets import PublicProfileSchema

# The name of this shape beside those that the argument `amounts` selects.
SLIM = "slim"
# Pictures, links, and what is always null.
_NOWHERE = {
    *("image_url", "twitter", "telegram", "copytrade_link"),
    *("pool", "on_curve", "bonding_curve_progress", "market_cap_currency", "sol_price_usd"),
}
# Of a wallet stay its name, address, type and chain.
_NOT_OF_PROFILES = {"currency"}
# Of a token stay its symbol, name and mint.
_NOT_IN_ROWS = {"token_supply", "token_decimals"}


def slim(shape: Shape) -> Shape:
    """Return a new shape of this kind without pictures and links, also in the objects within.

    What a shape names in `of_tools` stays.
    """
    new = type(shape)()
    _leave_out(new, _NOWHERE)
    return new


def _leave_out(schema: Schema, names: set[str]) -> None:
    for name in names - getattr(schema, "of_tools", set()):
        schema.fields.pop(name, None)
    for name, field in schema.fields.items():
        part = inner_field(field)
        if isinstance(part, fields.Nested):
            is_profile = name == "profile" or isinstance(part.schema, PublicProfileSchema)
            of_part = _NOT_OF_PROFILES if is_profile else _NOT_IN_ROWS if part.many else set()
            _leave_out(part.schema, names | of_part)

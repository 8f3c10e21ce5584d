"""The schemas of the tokens of a wallet."""

from wallet_api.api.schemas.argument_fields import ROWS, SORTED, Choice, Switch, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Amount, NativePriceShape, Rows, String, Strings
from wallet_api.api.schemas.history import TokenOverviewSchema
from wallet_api.api.schemas.paging import PAGE, CursorMixin, PaginationSchema
from wallet_api.base.orders import ORDERS

SORTS = ("last_seen", "realized_pnl", "unrealized_pnl", "invested", "open_cost", "token_amount")


class WalletTokensArguments(CursorMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallets/tokens."""

    sort = Choice(SORTS, SORTED, load_default="last_seen")
    order = Choice(ORDERS, "`desc` (default) or `asc`.", load_default="desc")
    still_holding = Switch("Whether the token is still held; both by default.")
    limit = WholeNumber(1, ROWS, load_default=50)


class WalletTokenSchema(TokenOverviewSchema):
    """A wallet's record in one token, with what is held of it at its price."""

    price = Amount("Price of the token; absent without one, and if nothing is held.", optional=True)
    price_source = String("`trade` or `market`, which makes it; absent without one.", optional=True)
    worth = Amount("What is held at this price; absent without one.", optional=True)
    worth_usd = Amount("The same in USD; absent without a native price.", optional=True)


class WalletTokensSchema(NativePriceShape):
    """The data of GET /v1/wallets/tokens."""

    wallet = String("The address of the wallet.")
    blockchain = String("Its chain.")
    type = String("Its category.")
    currency = String("Code of the chain's native coin.")
    tokens = Rows(WalletTokenSchema, "As in its history, with what is held.", many=True)
    pagination = Rows(PaginationSchema, PAGE)
    warnings = Strings("That `limit` was capped, an old native price; absent if neither.", optional=True)

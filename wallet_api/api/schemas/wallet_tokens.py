"""The schemas of the tokens of a wallet."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import ROWS, SORTED, Choice, Switch, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Amount, Rows, String
from wallet_api.api.schemas.history import TokenOverviewSchema
from wallet_api.api.schemas.paging import PAGINATION, CursorMixin
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
    price_source = String("What makes it, `trade` or `market`; absent without one.", optional=True)
    worth = figures.WORTH
    worth_usd = figures.WORTH_USD


class WalletTokensSchema(figures.NativePriceShape):
    """The data of GET /v1/wallets/tokens."""

    wallet = figures.WALLET
    blockchain = String("Its chain.")
    type = String("Its category.")
    currency = figures.CURRENCY
    tokens = Rows(WalletTokenSchema, "As in its history, with what is held.", many=True)
    pagination = PAGINATION
    warnings = figures.CAPPED_OR_OLD

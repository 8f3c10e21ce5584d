"""The schemas of the tokens of a wallet, and of the figures of one of them explained."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import ROWS, SORTED, Choice, FreeText, Switch, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Amount, Measure, Moment, Rows, String, Strings
from wallet_api.api.schemas.history import TokenOverviewSchema
from wallet_api.api.schemas.paging import PAGINATION, CursorMixin
from wallet_api.api.schemas.token_fields import BlockSchema, TransactionSchema
from wallet_api.base.orders import ORDERS

SORTS = ("last_seen", "realized_pnl", "unrealized_pnl", "invested", "open_cost", "token_amount")
RULES = ("a-buy", "a-sell-of-what-was-bought", "a-sell-of-more-than-was-bought", "a-sell-without-a-buy")
_OF_SELL = "Of a covered sell, else absent: "


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


class ExplainArguments(CursorMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallets/explain."""

    mint = FreeText("Only this token.", required=True)
    limit = WholeNumber(1, ROWS, load_default=50)


class StepSchema(BlockSchema, TransactionSchema):
    """A trade, and the position after it."""

    created_at = figures.TRADED_AT
    event_index = figures.EVENT_INDEX
    transaction_type = figures.DIRECTION
    token_amount = figures.TOKEN_AMOUNT
    value = figures.VALUE
    value_usd = figures.VALUE_USD
    quantity = Amount("`Q`: the tokens held after it.")
    cost = Amount("`C`: their cost.")
    peak = Amount("`P`: the most held of the present bag.")
    acquired_at = Moment("`T`: when they were bought, on average; null if nothing is held.", nullable=True)
    rule = String("The rule of docs/figures.md that made this step.", enum=RULES)
    covered = Amount("Of a sell, else absent: tokens sold that were bought before.", optional=True)
    cost_of_sold = Amount(f"{_OF_SELL}the cost of these.", optional=True)
    realized_pnl = Amount(f"{_OF_SELL}their proceeds less this cost.", optional=True)
    realized_pnl_usd = figures.REALIZED_USD
    hold_time_minutes = Measure(f"{_OF_SELL}from `T` to the sell.", optional=True)
    without_cost = Amount("Of a sell, else absent: proceeds of what was sold without a buy.", optional=True)


class ExplainSchema(figures.NativePriceShape):
    """The data of GET /v1/wallets/explain: summed over the steps, before rounding, they are the totals."""

    wallet = figures.WALLET
    blockchain = String("Its chain.")
    type = String("Its category.")
    mint = String("The requested token.")
    totals = Rows(TokenOverviewSchema, "The position as in the wallet's history.")
    steps = Rows(StepSchema, "The trades of this page, oldest first.", many=True)
    pagination = PAGINATION
    warnings = Strings("That `limit` was capped; absent otherwise.", optional=True)

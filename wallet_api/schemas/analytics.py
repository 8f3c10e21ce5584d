"""The schemas of what a group trades most."""

from wallet_api.schemas.arguments import GroupArguments
from wallet_api.schemas.fields import (
    SYMBOL,
    Amount,
    Choice,
    Integer,
    Rows,
    Shape,
    String,
    Strings,
    WholeNumber,
)
from wallet_api.schemas.leaderboard import PERIODS

MODES = ("most_traded",)


class AnalyticsArguments(GroupArguments):
    """The arguments of GET /v1/analytics."""

    mode = Choice(MODES, "What to return.", required=True)
    period = Choice(PERIODS, "The period of the figures.", load_default="7d")
    limit = WholeNumber(
        1, "Tokens shown; more than 1000 is capped, with an entry in `warnings`.", load_default=20
    )


class TradedTokenSchema(Shape):
    """What the wallets of the group did in a token in the period; values in native currency."""

    mint = String("The token's address.")
    symbol = String(SYMBOL, nullable=True)
    token_name = String("Name in the newest trade that has one, else by its node; may be empty.")
    wallet_count = Integer("Wallets that traded it.")
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    total_txn = Integer("Number of trades.")
    volume = Amount("Value of buys and sells.")
    volume_usd = Amount("The same in USD; absent if none of the trades has a USD value.", optional=True)
    realized_pnl = Amount("What the sells of the period realized, by weighted-average cost.")
    price = Amount(
        "Price of the token, of any wallet's newest trade that makes one; null without one.", nullable=True
    )


class AnalyticsSchema(Shape):
    """The data of GET /v1/analytics."""

    blockchain = String("The requested chain.")
    type = String("The requested category of wallets.")
    currency = String("Code of the chain's native coin.")
    mode = String("Requested mode.", enum=list(MODES))
    period = String("The period.", enum=list(PERIODS))
    tokens = Rows(
        TradedTokenSchema,
        "The tokens, by number of wallets, then by volume, largest first, then by mint.",
        many=True,
    )
    warnings = Strings("What was capped; absent if nothing.", optional=True)

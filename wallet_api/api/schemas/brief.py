"""The schemas of a brief."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.fields import Amount, Integer, Moment, Rows, String
from wallet_api.api.schemas.history import HistoryTradeSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import TokenNamesSchema
from wallet_api.api.schemas.wallets import HISTORY_SINCE, HISTORY_UNTIL, ProfileSchema


class BriefWindowSchema(Shape):
    """A wallet's figures in a window, as on the leaderboard."""

    since = Moment("First moment of the window; absent without a window or a trade.", optional=True)
    until = Moment("Where it ends.")
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    pnl_without_best_token = figures.WITHOUT_BEST
    win_rate_low = figures.WIN_RATE_LOW
    closed_count = figures.CLOSED_COUNT
    total_txn = figures.TRADE_COUNT
    sold_without_cost = figures.WITHOUT_COST
    fees = figures.FEES


class BriefTokenSchema(TokenNamesSchema):
    """A token, and what the wallet made of it."""

    realized_pnl = figures.REALIZED
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    still_holding = figures.STILL_HOLDING


class HeldSchema(Shape):
    """What the wallet holds."""

    tokens = figures.HELD_COUNT
    open_cost = figures.OPEN_COST
    unpriced_cost = figures.UNPRICED_COST
    worth = Amount("Worth of the tokens that have a price; absent if none has.", optional=True)


class BriefSchema(figures.NativePriceShape):
    """The data of GET /v1/wallets/brief; amounts in native currency."""

    profile = Rows(ProfileSchema, "The wallet.")
    currency = figures.CURRENCY
    history_since = String(HISTORY_SINCE, optional=True)
    history_until = String(HISTORY_UNTIL, optional=True)
    all = Rows(BriefWindowSchema, "All of its trades.")
    month = Rows(BriefWindowSchema, "The last 30 days.")
    week = Rows(BriefWindowSchema, "The last 7 days.")
    rank = Integer(
        "Its rank in its group by `pnl_without_best_token` of the month; null without a trade.",
        nullable=True,
    )
    held = Rows(HeldSchema, "What it holds now.")
    best = Rows(BriefTokenSchema, "The 3 tokens with most profit.", many=True)
    worst = Rows(BriefTokenSchema, "The 3 tokens with least profit, without those of `best`.", many=True)
    latest = Rows(HistoryTradeSchema, "The 3 newest trades.", many=True)
    warnings = figures.OLD_PRICE

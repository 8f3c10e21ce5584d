"""The schemas of a brief."""

from wallet_api.api.schemas.fields import (
    FEES,
    OLD_PRICE,
    OPEN_COST,
    PROFIT_PERCENTAGE,
    PROFIT_USD,
    UNPRICED_COST,
    WITHOUT_COST,
    Amount,
    Boolean,
    Integer,
    Measure,
    Moment,
    NativePriceShape,
    Rows,
    String,
    Strings,
)
from wallet_api.api.schemas.history import HistoryTradeSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import TokenNamesSchema
from wallet_api.api.schemas.wallets import HISTORY_SINCE, HISTORY_UNTIL, ProfileSchema


class BriefWindowSchema(Shape):
    """A wallet's figures in a window, as on the leaderboard."""

    since = Moment("First moment of the window; absent without a window or a trade.", optional=True)
    until = Moment("Where it ends.")
    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    pnl_without_best_token = Amount("`realized_pnl` less the largest profit of one token, if any.")
    win_rate_low = Measure(
        "Lower end of the 95 % Wilson interval of the share of tokens sold with a profit; 0 without a covered"
        " sell."
    )
    closed_count = Integer("Tokens with a covered sell.")
    total_txn = Integer("Number of trades.")
    sold_without_cost = Amount(WITHOUT_COST)
    fees = Amount(FEES)


class BriefTokenSchema(TokenNamesSchema):
    """A token, and what the wallet made of it."""

    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_percentage = Measure(PROFIT_PERCENTAGE)
    still_holding = Boolean("Whether at least 1 % of the most held since the last entry is left.")


class HeldSchema(Shape):
    """What the wallet holds."""

    tokens = Integer("Tokens with `still_holding`.")
    open_cost = Amount(OPEN_COST)
    unpriced_cost = Amount(UNPRICED_COST)
    worth = Amount("Worth of the tokens that have a price; absent if none has.", optional=True)


class BriefSchema(NativePriceShape):
    """The data of GET /v1/wallets/brief; amounts in native currency."""

    profile = Rows(ProfileSchema, "The wallet.")
    currency = String("Code of the chain's native coin.")
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
    warnings = Strings(OLD_PRICE, optional=True)

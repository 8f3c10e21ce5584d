"""The shapes of a wallet's calendar."""

from typing import Any

from marshmallow import fields

from wallet_api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.schemas.fields import Amount, Rows, Shape
from wallet_api.schemas.wallets import ProfileSchema


class CalendarArguments(AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallet/pnl_calendar."""


class SumsSchema(Shape):
    """Sums over the trades of a day or month; amounts in native currency. What cannot be known is absent."""

    realized_pnl = Amount(
        required=True, metadata={"description": "What the sells realized, by weighted-average cost."}
    )
    realized_pnl_usd = Amount(
        metadata={"description": "The same in USD; absent if it is unknown for one of the sells."}
    )
    buy_txn = fields.Integer(required=True, metadata={"description": "Number of buys."})
    sell_txn = fields.Integer(required=True, metadata={"description": "Number of sells."})
    txn_total = fields.Integer(required=True, metadata={"description": "Number of trades."})
    tokens_traded = fields.Integer(required=True, metadata={"description": "Number of different tokens."})
    volume = Amount(required=True, metadata={"description": "Value of buys and sells."})
    total_buy = Amount(required=True, metadata={"description": "Value of the buys."})
    total_buy_usd = Amount(
        metadata={"description": "The same in USD; absent if there are buys, but none with a USD value."}
    )
    total_sell = Amount(required=True, metadata={"description": "Value of the sells."})
    total_sell_usd = Amount(
        metadata={"description": "The same in USD; absent if there are sells, but none with a USD value."}
    )


class DateSchema(SumsSchema):
    """A day of UTC with a trade, from 00:00 until before 24:00."""

    date = fields.String(required=True, metadata={"format": "date", "description": "YYYY-MM-DD."})


class MonthSchema(SumsSchema):
    """A month of UTC, the sum of its days. Tokens traded on several days are counted once."""

    year = fields.Integer(required=True, metadata={"description": "The year."})
    month = fields.Integer(required=True, metadata={"description": "The month, 1 to 12."})
    positive_streak = fields.Integer(
        required=True,
        metadata={
            "description": "Most days with a profit in a row, among the days that realized anything."
            " A profit of exactly 0 ends the row."
        },
    )
    negative_streak = fields.Integer(
        required=True, metadata={"description": "Most days with a loss in a row, counted in the same way."}
    )


class LastMonthSchema(MonthSchema):
    """The last of the months; empty for a wallet that never traded."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"partial": True})


class MonthWithDatesSchema(Shape):
    """A month and its days."""

    month = Rows(MonthSchema, required=True, metadata={"description": "The figures of the month."})
    dates = Rows(
        DateSchema, many=True, required=True, metadata={"description": "Its days with a trade, oldest first."}
    )


class CalendarSchema(Shape):
    """The data of GET /v1/wallet/pnl_calendar. The sums over all days are the lifetime figures."""

    wallet = fields.String(required=True, metadata={"description": "The address of the wallet."})
    profile = Rows(ProfileSchema, required=True, metadata={"description": "Its public profile."})
    months = Rows(
        MonthWithDatesSchema,
        many=True,
        required=True,
        metadata={
            "description": "Every month, oldest first, from the first trade's to the present one."
            " Empty for a wallet that never traded."
        },
    )
    month = Rows(
        LastMonthSchema,
        required=True,
        metadata={"description": "The last of the months; an empty object for a wallet that never traded."},
    )
    dates = Rows(
        DateSchema, many=True, required=True, metadata={"description": "The days of the last month."}
    )

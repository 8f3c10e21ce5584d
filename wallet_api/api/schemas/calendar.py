"""The schemas of a wallet's calendar."""

from typing import Any

from wallet_api.api.schemas.argument_fields import Line, Switch
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import (
    FEES,
    FEES_UNKNOWN,
    OLD_PRICE,
    PROFIT_USD,
    USD,
    Amount,
    Integer,
    Rows,
    String,
    Strings,
)
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import StatedMixin, WindowMixin


class CalendarArguments(WindowMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallet/pnl_calendar."""

    timezone = Line(64, "The zone of the days, such as `Europe/Berlin` (IANA).", load_default="UTC")
    dates = Switch("Whether months have days, which CSV and NDJSON always have; `true` by default.")


class SumsSchema(Shape):
    """Sums over the trades of a day or month; amounts in native currency. What cannot be known is absent."""

    realized_pnl = Amount("What the sells realized, by weighted-average cost.")
    realized_pnl_usd = Amount(PROFIT_USD, optional=True)
    fees = Amount(FEES)
    fees_unknown_txn = Integer(FEES_UNKNOWN)
    buy_txn = Integer("Number of buys.")
    sell_txn = Integer("Number of sells.")
    txn_total = Integer("Number of trades.")
    tokens_traded = Integer("Number of different tokens.")
    volume = Amount("Value of buys and sells.")
    volume_usd = Amount(USD, optional=True)
    total_buy = Amount("Value of the buys.")
    total_buy_usd = Amount(USD, optional=True)
    total_sell = Amount("Value of the sells.")
    total_sell_usd = Amount(USD, optional=True)


class DaySchema(SumsSchema):
    """A day with a trade, from 00:00 until before 24:00."""

    date = String("The day, YYYY-MM-DD.", metadata={"format": "date"})


class MonthSchema(SumsSchema):
    """A month. A token traded on several days is counted once."""

    year = Integer("The year.")
    month = Integer("The month, 1 to 12.")
    positive_streak = Integer("Most days in a row with a profit, of those with a covered sell.")
    negative_streak = Integer("Most days in a row with a loss, likewise.")


class LastMonthSchema(MonthSchema):
    """The last of the months; empty for a wallet that never traded."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"partial": True})


class MonthWithDatesSchema(Shape):
    """A month and its days."""

    month = Rows(MonthSchema, "The figures of the month.")
    dates = Rows(
        DaySchema, "Its days with a trade, oldest first; absent with `dates=false`.", many=True, optional=True
    )


class CalendarSchema(StatedMixin, Shape):
    """The data of GET /v1/wallet/pnl_calendar. The sums over all days are the lifetime figures."""

    wallet = String("The address of the wallet.")
    profile = Rows(ProfileSchema, "The wallet.")
    months = Rows(
        MonthWithDatesSchema,
        "Oldest first, from the first trade until now or the end of the window; empty without a trade.",
        many=True,
    )
    month = Rows(LastMonthSchema, "The last of the months; an empty object without a trade.")
    dates = Rows(
        DaySchema, "The days of the last month; absent with `dates=false`.", many=True, optional=True
    )
    warnings = Strings(OLD_PRICE, optional=True)

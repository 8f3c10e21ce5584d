"""The schemas of a wallet's calendar."""

from typing import Any

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import Line, Switch
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Integer, Rows, String
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import StatedMixin, WindowMixin


class CalendarArguments(WindowMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallet/pnl_calendar."""

    timezone = Line(64, "The zone of the days, such as `Europe/Berlin` (IANA).", load_default="UTC")
    dates = Switch("Whether months have days, which CSV and NDJSON always have; `true` by default.")


class SumsSchema(Shape):
    """Sums over the trades of a day or month; amounts in native currency. What cannot be known is absent."""

    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    fees = figures.FEES
    fees_unknown_txn = figures.FEES_UNKNOWN
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    txn_total = figures.TRADE_COUNT
    tokens_traded = Integer("Number of different tokens.")
    volume = figures.VOLUME
    volume_usd = figures.USD
    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD


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

    wallet = figures.WALLET
    profile = Rows(ProfileSchema, "The wallet.")
    months = Rows(
        MonthWithDatesSchema,
        "Oldest first, from the first trade until now or the end of the window.",
        many=True,
    )
    month = Rows(LastMonthSchema, "The last of the months; an empty object without a trade.")
    dates = Rows(
        DaySchema, "The days of the last month; absent with `dates=false`.", many=True, optional=True
    )
    warnings = figures.OLD_PRICE

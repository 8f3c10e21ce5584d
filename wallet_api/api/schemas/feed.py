"""The schemas of the feed of a group's trades."""

from typing import Any, ClassVar

from marshmallow import ValidationError, validates_schema

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import (
    GROUP_TYPES,
    MAX_TEXTS,
    ROWS,
    Choice,
    FreeText,
    Number,
    Texts,
    WholeNumber,
)
from wallet_api.api.schemas.arguments import FormatMixin
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Measure, Moment, Rows, String
from wallet_api.api.schemas.paging import PAGINATION, PagedArguments
from wallet_api.api.schemas.shapes import List, Shape, columns_of
from wallet_api.api.schemas.token_fields import ChainSchema, PlaceSchema, SaleSchema, TokenFaceSchema
from wallet_api.api.schemas.volume import WindowArguments
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.api.schemas.windows import FollowedWindowMixin, StatedMixin
from wallet_api.base.chains import CHAINS

TRADE_EVENTS = ("trade", "correction")
_PRICE_USD = "The same × the latest native price; null without one."


class FollowMixin:
    """The filters of a feed: direction and value of the trades, and who made them; and where to follow it."""

    transaction_type = Choice(figures.DIRECTIONS, "Only trades of this direction.")
    min_value = Number("Only trades of at least this `value`.")
    min_value_usd = Number("Only trades of at least this `value_usd`; with `after`, as stored.")
    address = Texts(f"Only trades of this wallet, or of up to {MAX_TEXTS}, separated by commas.")
    after = FreeText(
        "Instead of `cursor`: the changes since this `next_cursor`, in the order of arrival; `now` for those"
        " to come, `start` for all."
    )

    @validates_schema
    def _one_order(self, data: dict[str, Any], **kwargs: Any) -> None:
        if "after" in data and "cursor" in data:
            raise ValidationError("cannot be given with cursor, which pages go back with", "after")


class LatestArguments(FollowedWindowMixin, FollowMixin, PagedArguments):
    """The arguments of GET /v1/transactions/latest."""

    blockchain = Choice(
        tuple(CHAINS),
        "The chain of the wallets; with `after`, all without it.",
        unless=("after",),
        required=True,
    )
    type = Choice(
        GROUP_TYPES,
        "The category of the wallets; all with `all`, and with `after` without it.",
        unless=("after",),
        required=True,
    )
    limit = WholeNumber(1, ROWS, load_default=50)
    mint = FreeText("Only this token.")

    @validates_schema
    def _is_of_a_chain(self, data: dict[str, Any], **kwargs: Any) -> None:
        if "blockchain" not in data and ("type" in data or "mint" in data):
            raise ValidationError("is missing", "blockchain")


class TimerangeArguments(FormatMixin, WindowArguments):
    """The arguments of GET /v1/transactions/timerange."""

    default_window_seconds = 3600

    limit = WholeNumber(1, ROWS, load_default=50)


class HoldingSchema(Shape):
    """What a wallet holds of a token by its trades: transfers are not in it."""

    token_amount = Amount("Quantity held, in whole tokens.")
    token_amount_peak = Amount("Largest quantity held since the last entry.")
    bag_pct = figures.BAG_PCT
    still_holding = figures.STILL_HOLDING
    supply_pct = figures.SUPPLY_PCT
    supply_pct_peak = figures.SUPPLY_PCT_PEAK


class _TradeSchema(Shape):
    """One trade, who made it, and what the wallet held of the token after it."""

    tx_signature = String("Signature of the transaction.")
    event_index = figures.EVENT_INDEX
    transaction_type = figures.DIRECTION
    value = figures.VALUE
    value_usd = Amount(
        "The same in USD, if unknown by the latest native price; null without one.", nullable=True
    )
    currency = figures.CURRENCY
    token_amount = figures.TOKEN_AMOUNT
    price_per_token = Amount("`value` / `token_amount`.")
    price_per_token_usd = Amount("The same in USD; null where `value_usd` is.", nullable=True)
    created_at = figures.TRADED_AT
    profile = Rows(ProfileSchema, "The wallet.")
    holdings_after = Rows(HoldingSchema, "What it held of the token after this trade.")


class TradeSchema(PlaceSchema, SaleSchema, TokenFaceSchema, _TradeSchema):
    """One trade, with its token, who made it, and what the wallet held of the token after it."""


class TokenTradeSchema(PlaceSchema, SaleSchema, _TradeSchema):
    """One trade in the requested token, who made it, and what the wallet held of the token after it."""

    mint = String("The requested token.")


class _ArrivedSchema(Shape):
    """What arrived, and when."""

    arrived_at = Moment("When it arrived.")


class ArrivedTradeSchema(_ArrivedSchema, TradeSchema):
    """A trade that is new to this follower, or has another version."""

    event = String("Whether the trade is new to this follower.", enum=TRADE_EVENTS)


class RemovalSchema(_ArrivedSchema):
    """A trade that was removed."""

    event = String("What arrived.", enum=("removal",))
    tx_signature = String("Signature of the transaction.")
    event_index = figures.EVENT_INDEX
    transaction_type = figures.DIRECTION
    mint = String("The token's address.")
    created_at = figures.TRADED_AT
    profile = Rows(ProfileSchema, "The wallet.")


class WalletRemovalSchema(_ArrivedSchema):
    """A wallet that was removed, or has another type, with all of its trades."""

    event = String("What arrived.", enum=("wallet_removal",))
    profile = Rows(ProfileSchema, "The wallet, as it was.")


class PurgeSchema(_ArrivedSchema):
    """Trades that were removed by their time or their token."""

    event = String("What arrived.", enum=("purge",))
    before = Moment("Trades before this time were removed; absent if not.", optional=True)
    mint = String("Trades in this token were removed; absent if not.", optional=True)
    blockchain = String("The chain of the token; absent if requested.", optional=True)


OF_EVENTS: dict[str, type[Shape]] = {
    **dict.fromkeys(TRADE_EVENTS, ArrivedTradeSchema),
    "removal": RemovalSchema,
    "wallet_removal": WalletRemovalSchema,
    "purge": PurgeSchema,
}


class ChangeSchema(TradeSchema):
    """One trade; with `after` one change.

    Beside `event` and `arrived_at`, a `removal` has `tx_signature`, `event_index`, `transaction_type`,
    `mint`, `created_at` and `profile` alone, a `wallet_removal` its `profile`, a `purge` what it removed by.
    """

    # What a row is without `after`.
    trade: ClassVar[type[Shape]] = TradeSchema
    event = String(
        "What arrived; absent without `after`.",
        enum=OF_EVENTS,
    )
    arrived_at = Moment("When it arrived; absent without `after`.")
    before = Moment("Of a purge, else absent: it removed the trades before this time.", optional=True)
    blockchain = String("Of a purge by token, else absent: its chain, unless requested.", optional=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"partial": True})

    def write(self, rows: List) -> list[str]:
        """Return the trades or the changes as JSON, each change with the members of its event."""
        columns = columns_of(rows)
        written = super().write(columns) if "event" not in columns else [""] * len(columns["event"])
        for event in set(columns.get("event", ())):
            places = [place for place, each in enumerate(columns["event"]) if each == event]
            of_event = {name: [values[place] for place in places] for name, values in columns.items()}
            if event not in TRADE_EVENTS:
                of_event = {name: values for name, values in of_event.items() if {*values} != {None}}
            for place, text in zip(places, super().write(of_event), strict=True):
                written[place] = text
        return written


class TokenChangeSchema(ChangeSchema):
    """One trade in a token; with `after` one change, with its token."""

    trade = TokenTradeSchema


class TokenSchema(figures.NativePriceShape, TokenFaceSchema, ChainSchema):
    """A token, with its price."""

    price = figures.PRICE
    price_usd = Amount(_PRICE_USD, nullable=True)
    price_at = figures.PRICE_AT
    price_source = figures.PRICE_SOURCE
    liquidity_usd = figures.LIQUIDITY
    market_cap = Amount("`price` × `token_supply`; null without one of them.", nullable=True)
    market_cap_usd = Amount("The same in USD; null without a native price.", nullable=True)
    market_cap_currency = String("Its currency; null without one.", nullable=True)
    sol_price_usd = Amount("Latest price of SOL in USD; null on other chains, and if unknown.", nullable=True)
    pool = String(figures.NO_SOURCE, nullable=True)
    on_curve = Boolean(figures.NO_SOURCE, nullable=True)
    bonding_curve_progress = Measure(figures.NO_SOURCE, nullable=True)


class FeedTokenSchema(TokenSchema):
    """The same where rows do not change with the price of the native coin."""

    class Meta:
        exclude = ("native_price_usd", "native_price_at")


class _FeedSchema(figures.GroupShape):
    """What both feeds have in common."""

    count = figures.ROW_COUNT
    transactions = Rows(TradeSchema, "The trades, newest first.", many=True)
    mint = figures.MINT
    token = Rows(
        FeedTokenSchema,
        "The requested token; absent without `mint`, with `after`, and if never traded.",
        optional=True,
    )
    warnings = figures.UNTRACKED


class LatestSchema(StatedMixin, _FeedSchema):
    """The data of GET /v1/transactions/latest."""

    blockchain = String("The requested chain; absent without one.", optional=True)
    type = String("The requested category of wallets; absent without one.", optional=True)
    currency = String("Code of the chain's native coin; absent without a chain.", optional=True)
    mode = String("The last part of the path.", enum=["latest"])
    transactions = Rows(
        ChangeSchema, "The trades, newest first; with `after` the changes, oldest first.", many=True
    )
    pagination = PAGINATION


class TimerangeSchema(_FeedSchema):
    """The data of GET /v1/transactions/timerange."""

    mode = String("The last part of the path.", enum=["timerange"])
    total = Integer("Number of trades in the window.")
    time_window_seconds = Integer("The window, after capping at 3600.")

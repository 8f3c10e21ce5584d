"""The schemas of the signals of a group."""

from typing import ClassVar

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import Choice, Number, Switch, Time, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, GroupArguments
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Measure, Moment, Rows, String
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import ChainSchema, TokenFaceSchema
from wallet_api.api.schemas.wallets import ProfileSchema
from wallet_api.base.periods import OUTCOME_SPANS

MODES = ("cluster", "entry", "exit")
STRENGTHS = ("low", "medium", "high")


class SignalsArguments(FormatMixin, GroupArguments):
    """The arguments of GET /v1/signals."""

    mode = Choice(
        MODES,
        "`cluster`: tokens that at least `min_wallets` wallets bought in the window; `entry`: those that no"
        " wallet of the group had bought before; `exit`: tokens that so many wallets held, sold, and"
        " do not hold at its end.",
        required=True,
    )
    limit = WholeNumber(1, "Most signals, at most 1000.", load_default=20)
    min_wallets = WholeNumber(1, "Fewest wallets of a signal; 3 by default, 1 with `entry`.")
    min_value = Number(
        "Only wallets that bought (`exit`: sold) for at least this value.",
    )
    min_transactions = WholeNumber(
        1, "Fewest `transaction_count`: with 2, no signal is of one transaction.", load_default=1
    )
    hours = WholeNumber(1, "Length of the window, at most 168.", load_default=24)
    include_wallets = Switch("Whether signals have `wallets`; never in CSV and NDJSON.", load_default="true")
    as_of = Time("End of the window, not in the future; now by default.")


class SignalTokenSchema(TokenFaceSchema, ChainSchema):
    """The token of a signal."""


class SignalStatsSchema(Shape):
    """What all wallets of the group did in the token in the window."""

    wallet_count = figures.WALLET_COUNT
    still_holding_count = Integer("Those that hold it at `as_of`.")
    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD
    net_flow = Amount("`total_buy` less `total_sell`.")
    net_flow_usd = figures.NET_FLOW_USD
    price = Amount("Price of the token at `as_of`; null without one.", nullable=True)
    price_usd = Amount("The same in USD; null without it or a native price.", nullable=True)
    price_at = figures.PRICE_AT
    price_source = figures.PRICE_SOURCE
    liquidity_usd = figures.LIQUIDITY


class SignalWalletSchema(Shape):
    """A wallet that is a part of the signal, with its position in the token at the end of the window."""

    profile = Rows(ProfileSchema, "The wallet.")
    bought_at = Moment("First buy in the window; absent without one.", optional=True)
    is_active = Boolean("Whether it traded in the 24 hours before `as_of`.")
    still_holding = figures.STILL_HOLDING
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    buy_tokens = figures.TOKENS_BOUGHT
    sell_tokens = figures.TOKENS_SOLD
    held_tokens = Amount("Tokens held, and the most held since the last entry.")
    held_tokens_peak = Amount("Tokens held, and the most held since the last entry.")
    bag_pct = figures.BAG_PCT
    supply_pct = figures.SUPPLY_PCT
    supply_pct_peak = figures.SUPPLY_PCT_PEAK
    total_buy = figures.BUYS
    total_buy_usd = figures.USD
    total_sell = figures.SELLS
    total_sell_usd = figures.USD
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    realized_pnl_percentage = figures.REALIZED_PERCENTAGE
    window_buy_txn = Integer("Buys in the window: their number, value and tokens.")
    window_invested = Amount("Buys in the window: their number, value and tokens.")
    window_invested_usd = figures.USD
    window_tokens_bought = Amount("Buys in the window: their number, value and tokens.")


class SignalWindowSchema(Shape):
    """What the wallets of the signal did in the window."""

    hours = Integer("The window, after capping at 168.")
    wallet_count = Integer("The wallets of the signal.")
    transaction_count = Integer("Different transactions of their first buys (`exit`: sells).")
    first_buy_at = Moment("Their first and latest buy (`exit`: sell).")
    latest_buy_at = Moment("Their first and latest buy (`exit`: sell).")
    time_span_minutes = Measure("Minutes between them.")
    total_invested = Amount("Value of their buys.")
    total_invested_usd = figures.USD
    avg_invested = Amount("The same for each wallet.")
    avg_invested_usd = figures.USD
    total_tokens_bought = figures.TOKENS_BOUGHT
    supply_pct_bought = Measure("The same in percent of the supply; null without one.", nullable=True)


class OutcomeSchema(Shape):
    """What became of a token after a span: its first price then, or that it was gone."""

    price = Amount(
        "The first price in the tenth of the span after its end; absent if gone.",
        optional=True,
    )
    price_at = Moment("Its time; absent if gone.", optional=True)
    change_percent = Measure(
        "Percent of change from the first price in the first tenth of the span; -100 if gone."
    )
    source = String("What makes it, `trade` or `market`; absent if gone.", optional=True)
    gone = Boolean(
        "True if its market has too little liquidity; absent otherwise.",
        optional=True,
    )


class OutcomesSchema(Shape):
    """What became of a token after each span."""

    class Meta:
        include: ClassVar = {
            span: Rows(OutcomeSchema, "After this span; null as long as it is not known.", nullable=True)
            for span in OUTCOME_SPANS
        }


class SignalSchema(Shape):
    """A token, and what makes it a signal."""

    signal_type = String("The requested mode.", enum=MODES)
    signal_strength = String("`medium` from 2 × `min_wallets` wallets on, `high` from 4 ×.", enum=STRENGTHS)
    currency = figures.CURRENCY
    token = Rows(SignalTokenSchema, "The token.")
    token_stats = Rows(SignalStatsSchema, "What the group did with it in the window.")
    wallets = Rows(
        SignalWalletSchema,
        "At most 1000, by their first buy (`exit`: sell) in the window, with their figures until `as_of`;"
        " absent without `include_wallets`.",
        many=True,
        optional=True,
    )
    window = Rows(SignalWindowSchema, "What these wallets did in the window.")
    outcome = Rows(OutcomesSchema, "What became of the token after `as_of`.")


class SignalsSchema(figures.NativePriceShape, figures.GroupShape):
    """The data of GET /v1/signals, by number of wallets, then by value, largest first, then by mint."""

    mode = String("The requested mode.", enum=MODES)
    hours = Integer("The window, after capping at 168.")
    as_of = Moment("End of the window.")
    total = figures.TOTAL
    count = figures.ROW_COUNT
    signals = Rows(
        SignalSchema,
        "By `window.wallet_count`, then `window.total_invested`, largest first.",
        many=True,
    )
    warnings = figures.CUT

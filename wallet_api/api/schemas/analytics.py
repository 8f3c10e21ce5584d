"""The schemas of what a group trades, and which of its wallets do best."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load, validates_schema

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import Choice, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, GroupArguments
from wallet_api.api.schemas.fields import Amount, Integer, Measure, Moment, Rows, String
from wallet_api.api.schemas.leaderboard import EntrySchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.signals import MODES as SIGNALS
from wallet_api.api.schemas.token_fields import TokenNamesSchema
from wallet_api.api.schemas.windows import PeriodMixin, StatedMixin
from wallet_api.base.orders import ORDERS
from wallet_api.base.periods import FLOW_PERIODS, OUTCOME_SPANS, PERIODS

MODES = ("most_traded", "net_flow", "volume_trend", "top_performers", "win_rate", "signal_outcomes")
FLOW_SORTS = ("net_flow", "buy", "sell", "buyers", "sellers")
PERIODS_OF_MODES = ("1h", *PERIODS)
# Arguments of one mode.
_OF_MODES = {**dict.fromkeys(("sort", "order", "min_wallets"), "net_flow"), "signal": "signal_outcomes"}
# What outcomes are of.
OUTCOME_GROUPS = ("signals", "base")
# The longest window of outcomes, whose hours are all read.
_MOST_OUTCOMES = timedelta(days=90)


class AnalyticsArguments(PeriodMixin, FormatMixin, GroupArguments):
    """The arguments of GET /v1/analytics. Those of `net_flow` alone are refused in other modes."""

    mode = Choice(
        MODES,
        "`most_traded`: the tokens most wallets traded; `net_flow`: buys less sells of each token;"
        " `volume_trend`: the volume over time; `top_performers`, `win_rate`: the leaderboard by"
        " `realized_pnl`, by `win_rate`; `signal_outcomes`: what became of signals from `since` to `until`,"
        " at most 90 days.",
        required=True,
    )
    period = Choice(
        PERIODS_OF_MODES,
        "The period of the figures, `7d` by default; of `net_flow` `1d`, with `1h` in place of `30d`, and it"
        " selects and orders the tokens.",
    )
    limit = WholeNumber(
        1,
        "Most rows, at most 1000; 20 by default, all with `volume_trend`.",
    )
    sort = Choice(
        FLOW_SORTS,
        "Of `net_flow`: the figure to sort by; by default `net_flow` without its sign.",
    )
    order = Choice(ORDERS, "Of `net_flow`: `desc` (default) or `asc`.")
    min_wallets = WholeNumber(1, "Of `net_flow`: only tokens of at least so many wallets.")
    signal = Choice(SIGNALS, "Of `signal_outcomes`: the mode of the signals; `cluster` by default.")

    def allowed(self, name: str, given: Mapping[str, str]) -> Sequence[str] | None:
        """Return the periods of the mode, and else what any argument can be."""
        if name == "period" and given.get("mode") in MODES:
            return FLOW_PERIODS if given["mode"] == "net_flow" else PERIODS
        return super().allowed(name, given)

    # Also if an argument has no value of any mode.
    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def _arguments_fit_the_mode(self, data: dict[str, Any], given: dict[str, str], **kwargs: Any) -> None:
        if "mode" not in data:
            return
        if data["mode"] == "signal_outcomes":
            self._check_outcomes(data, given)
        if "period" in given and given["period"] not in (self.allowed("period", given) or ()):
            raise ValidationError("is no period of this mode", "period")
        for name in ("since", "until"):
            if name in given and data["mode"] == "net_flow":
                raise ValidationError(
                    {name: {"message": "is of the other modes; net_flow has fixed windows"}}
                )
        for name, mode in _OF_MODES.items():
            if name in given and data["mode"] != mode:
                raise ValidationError({name: {"message": f"is of the mode {mode} alone"}})

    def _check_outcomes(self, data: dict[str, Any], given: dict[str, str]) -> None:
        for name in ("since", "until"):
            if name not in given:
                raise ValidationError({name: {"message": "is required with signal_outcomes"}})
        if "since" in data and "until" in data and data["until"] - data["since"] > _MOST_OUTCOMES:
            raise ValidationError({"since": {"message": "is more than 90 days before until"}})

    @post_load
    def _defaults_of_the_mode(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        defaults = {
            "period": "1d" if data["mode"] == "net_flow" else "7d",
            # Any window has fewer buckets.
            "limit": 1000 if data["mode"] == "volume_trend" else 20,
        }
        if data["mode"] == "signal_outcomes":
            defaults["signal"] = "cluster"
        return defaults | data


class TradedTokenSchema(TokenNamesSchema):
    """What the wallets of the group did in a token in the period; values in native currency."""

    wallet_count = figures.WALLET_COUNT
    buy_txn = figures.BUY_COUNT
    sell_txn = figures.SELL_COUNT
    total_txn = figures.TRADE_COUNT
    volume = figures.VOLUME
    volume_usd = figures.USD
    realized_pnl = figures.REALIZED
    realized_pnl_usd = figures.REALIZED_USD
    price = figures.PRICE


class FlowSchema(Shape):
    """What went into a token and out of it in a window; values in native currency."""

    buy = figures.BUYS
    buy_usd = figures.USD
    sell = figures.SELLS
    sell_usd = figures.USD
    net_flow = Amount("Buys less sells.")
    net_flow_usd = figures.NET_FLOW_USD
    buyers = Integer("Wallets that bought.")
    sellers = Integer("Wallets that sold.")
    new_wallets = Integer("Wallets that bought it for the first time.")
    wallet_count = figures.WALLET_COUNT


class FlowWindowsSchema(Shape):
    """What went into a token and out of it in each window."""

    class Meta:
        include: ClassVar = {window: Rows(FlowSchema, "The flow in this window.") for window in FLOW_PERIODS}


class FlowsSchema(TokenNamesSchema):
    """A token, and what went into it and out of it."""

    windows = Rows(FlowWindowsSchema, "Its flows until the same moment.")


class BucketSchema(Shape):
    """What the group traded in a part of the period; values in native currency."""

    timestamp = Moment("The end of the bucket.")
    buy = figures.BUYS
    buy_usd = figures.USD
    sell = figures.SELLS
    sell_usd = figures.USD
    volume = figures.VOLUME
    volume_usd = figures.USD
    txn = figures.TRADE_COUNT
    wallets = figures.WALLET_COUNT


class SignalOutcomesSchema(Shape):
    """What became of signals, or of all that was bought, a span later; shares are of `known` and `gone`."""

    span = String("How long after the hour.", enum=tuple(OUTCOME_SPANS))
    of = String(
        "`signals`, or `base`: each token that the group bought, at the full hour after its first buy of the"
        " day.",
        enum=OUTCOME_GROUPS,
    )
    signals = Integer("Tokens, each at its first hour of a day of UTC.")
    known = Integer("Those whose change is known.")
    gone = Integer("Those that no market had any more, each at -100 %.")
    median_change_percent = Measure("The median change in percent; null without any.", nullable=True)
    share_up = Measure("Percent of them with a change above 0; null without any.", nullable=True)
    share_doubled = Measure("Percent of them with a change of at least 100; null without any.", nullable=True)
    share_halved = Measure("Percent of them with a change of at most -50; null without any.", nullable=True)


class AnalyticsSchema(StatedMixin, figures.NativePriceShape, figures.GroupShape):
    """The data of GET /v1/analytics: the list of the requested mode."""

    mode = String("The requested mode.", enum=MODES)
    period = String("The requested period; absent of a window.", optional=True, enum=PERIODS_OF_MODES)
    total = figures.TOTAL
    tokens = Rows(
        TradedTokenSchema,
        "Of `most_traded`, else absent: the tokens by `wallet_count`, then by `volume`, largest first.",
        many=True,
        optional=True,
    )
    net_flows = Rows(
        FlowsSchema,
        "Of `net_flow`, else absent: the tokens traded in the period, by `sort`.",
        many=True,
        optional=True,
    )
    buckets = Rows(
        BucketSchema,
        "Of `volume_trend`, else absent: oldest first, in the whole UTC steps of the chart of a tracker.",
        many=True,
        optional=True,
    )
    signal = String("Of `signal_outcomes`, else absent: the requested signals.", optional=True, enum=SIGNALS)
    outcomes = Rows(
        SignalOutcomesSchema,
        "Of `signal_outcomes`, else absent: of each span the signals, then the base.",
        many=True,
        optional=True,
    )
    leaderboard = Rows(
        EntrySchema,
        "Of `top_performers` and `win_rate`, else absent: the wallets, largest first.",
        many=True,
        optional=True,
    )
    warnings = figures.CUT

"""The arguments of a window: from when until when."""

from datetime import UTC, datetime
from typing import Any, ClassVar

from marshmallow import ValidationError, post_load, validates_schema

from wallet_api.api.schemas.argument_fields import Time
from wallet_api.api.schemas.fields import Moment
from wallet_api.base.forms import AHEAD
from wallet_api.base.periods import Bounds

_BOUNDS = ("since", "until")
STATED = "First moment of the window; absent without a window or a trade."
STATED_END = "First moment after the window; absent without a window."


class WindowMixin:
    """`since` and `until`: the trades with since <= created_at < until, loaded as `window`."""

    # What they are loaded as.
    into: ClassVar[str] = "window"

    since = Time("Only trades from this time on; from the first one by default.")
    until = Time("Only trades before this time; until now by default.")

    @validates_schema
    def _window_is_possible(self, data: dict[str, Any], **kwargs: Any) -> None:
        latest = datetime.now(UTC) + AHEAD
        for name in _BOUNDS:
            if name in data and data[name] > latest:
                raise ValidationError({name: {"message": "is more than 5 minutes ahead of now"}})
        if "since" in data and "until" in data and data["since"] >= data["until"]:
            raise ValidationError({"since": {"message": "must be before until"}})

    @post_load
    def _as_window(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        bounds = {name: data.pop(name) for name in _BOUNDS if name in data}
        return data | {self.into: Bounds(**bounds)} if bounds else data


class PeriodMixin(WindowMixin):
    """The same in place of the argument `period`."""

    into = "period"

    @validates_schema(pass_original=True)
    def _takes_the_place_of_a_period(
        self, data: dict[str, Any], given: dict[str, str], **kwargs: Any
    ) -> None:
        for name in _BOUNDS:
            if name in data and "period" in given:
                fault = f"cannot be given with {name}, which stands in its place"
                raise ValidationError({"period": {"message": fault}})


class FollowedWindowMixin(WindowMixin):
    """The same of a feed, whose changes have no window."""

    @validates_schema
    def _changes_have_no_window(self, data: dict[str, Any], **kwargs: Any) -> None:
        for name in _BOUNDS:
            if name in data and "after" in data:
                raise ValidationError({name: {"message": "cannot be given with after"}})


class StatedMixin:
    """The window of a response."""

    since = Moment(STATED, optional=True)
    until = Moment(STATED_END, optional=True)

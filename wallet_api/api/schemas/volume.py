"""The schemas of a group's trading volume, and of the number of its trades."""

from typing import Any, ClassVar

from marshmallow import ValidationError, post_load, validates_schema

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import FreeText, WholeNumber
from wallet_api.api.schemas.arguments import GroupArguments
from wallet_api.api.schemas.fields import Amount, Integer, String, Strings
from wallet_api.api.schemas.shapes import Shape

_PART = "A part of the window: seconds, minutes and hours are added."


class WindowArguments(GroupArguments):
    """A group of wallets, a window of seconds + minutes*60 + hours*3600 up to now, and a token."""

    default_window_seconds: ClassVar[int] = 86_400

    seconds = WholeNumber(0, _PART)
    minutes = WholeNumber(0, _PART)
    hours = WholeNumber(0, _PART)
    mint = FreeText("Only this token.")

    @validates_schema
    def _window_is_not_empty(self, data: dict[str, Any], **kwargs: Any) -> None:
        given = [name for name in ("seconds", "minutes", "hours") if name in data]
        if given and not any(data[name] for name in given):
            raise ValidationError(
                "must not be 0 when the other parts of the window are 0 or absent", given[0]
            )

    @post_load
    def _window(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        parts = [data.pop(name, None) for name in ("seconds", "minutes", "hours")]
        if parts == [None, None, None]:
            return data | {"window_seconds": self.default_window_seconds}
        seconds, minutes, hours = (part or 0 for part in parts)
        return data | {"window_seconds": seconds + minutes * 60 + hours * 3600}


class VolumeSchema(Shape):
    """The data of GET /v1/transactions/volume."""

    blockchain = figures.CHAIN
    type = figures.TYPE
    mode = String("The last part of the path.", enum=["volume"])
    volume = figures.VOLUME
    volume_usd = Amount(
        "The same in USD; null if there are trades, but none with a USD value.", nullable=True
    )
    currency = figures.CURRENCY
    time_window_seconds = Integer("The window, after capping at 86400.")
    mint = figures.MINT
    warnings = Strings(
        "What was capped, trades without a USD value, an old native price; absent if none.",
        optional=True,
    )


class CountSchema(Shape):
    """The data of GET /v1/transactions/count."""

    blockchain = figures.CHAIN
    type = figures.TYPE
    mode = String("The last part of the path.", enum=["count"])
    count = Integer("Number of trades in the window.")
    wallet_count = figures.WALLET_COUNT
    time_window_seconds = Integer("The window, after capping at 86400.")
    mint = figures.MINT
    warnings = Strings("That the window was capped; absent otherwise.", optional=True)

"""The schema of the number of a group's trades."""

from wallet_api.api.schemas.fields import WITH_A_TRADE, Integer, String, Strings
from wallet_api.api.schemas.shapes import Shape


class CountSchema(Shape):
    """The data of GET /v1/transactions/count."""

    blockchain = String("The requested chain.")
    type = String("The requested category of wallets.")
    mode = String("The last part of the path.", enum=["count"])
    count = Integer("Number of trades in the window.")
    wallet_count = Integer(WITH_A_TRADE)
    time_window_seconds = Integer("The window, after capping at 86400.")
    mint = String("The requested token; absent without one.", optional=True)
    warnings = Strings("That the window was capped; absent otherwise.", optional=True)

"""The schema of the number of a group's trades."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.fields import Integer, String, Strings
from wallet_api.api.schemas.shapes import Shape


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

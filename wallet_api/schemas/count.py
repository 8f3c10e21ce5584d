"""The schema of the number of a group's trades."""

from wallet_api.schemas.fields import Integer, Shape, String, Strings


class CountSchema(Shape):
    """The data of GET /v1/transactions/count."""

    blockchain = String("Requested chain.")
    type = String("Requested wallet category.")
    mode = String("Always `count`.", enum=["count"])
    count = Integer("Number of trades in the window.")
    wallet_count = Integer("Number of wallets among them.")
    time_window_seconds = Integer("Effective window, after capping at 86400.")
    mint = String("Requested token; absent without one.", optional=True)
    warnings = Strings("What was capped; absent if nothing.", optional=True)

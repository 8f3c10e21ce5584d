"""The schemas of the health checks."""

from wallet_api.schemas.fields import Shape, String


class HealthSchema(Shape):
    """The data of GET /healthz."""

    status = String("Always `ok`: the process responds.", enum=["ok"])


class ReadinessSchema(Shape):
    """The data of GET /readyz."""

    status = String("Always `ready`; otherwise the response is a 503.", enum=["ready"])
    database = String("Always `ok`; otherwise the response is a 503.", enum=["ok"])
    tables = String("ok, or the migrations of a later version that the tables have.")
    primary = String(
        "The database that is written to (DATABASE_URL); away: keys with a credit limit are not served.",
        enum=["ok", "away"],
    )
    store = String(
        "The shared store of limits; away or none: each worker counts by itself.", enum=["ok", "away", "none"]
    )

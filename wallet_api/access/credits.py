"""What a call costs: credits charged in the database, one statement a call, so the last one is sold once."""

from wallet_api.database import Database, load_sql
from wallet_api.errors import Forbidden

_CHARGE = load_sql("wallet_api.access", "charge_credits")
_READ = load_sql("wallet_api.access", "read_credits")


class Credits:
    """The balances of the keys that have one."""

    def __init__(self, database: Database, cost: int) -> None:
        self._database = database
        self._cost = cost

    def charge(self, key_id: int) -> int:
        """Charge one call and return the credits left. Raises Forbidden, reason insufficient_credits."""
        with self._database.write() as connection:
            row = connection.execute(_CHARGE, {"key_id": key_id, "cost": self._cost}).fetchone()
        if row is None:
            raise Forbidden("This API key has no credits left.", reason="insufficient_credits")
        left: int = row["credits"]
        return left

    def left(self, key_id: int) -> int:
        """The credits left."""
        with self._database.read() as connection:
            row = connection.execute(_READ, {"key_id": key_id}).fetchone()
        left: int = 0 if row is None else row["credits"] or 0
        return left

"""Whether the ledger has been filled with what an upgrade added to its tables."""

from wallet_api.database import Row
from wallet_api.errors import ServiceUnavailable

_RETRY_SECONDS = 30


class NotFilled(ServiceUnavailable):
    """The ledger is being upgraded. Try again in a minute."""

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=_RETRY_SECONDS)


def require_filled(row: Row) -> None:
    """Raise NotFilled unless `is_filled` of a statement's row is true.

    The statement itself selects it, in the snapshot of its other figures and without a round trip of its own:
    `NOT EXISTS (SELECT FROM pending_fills) AS is_filled`.
    """
    if not row["is_filled"]:
        raise NotFilled

"""How `wallet-api up` continues the demo up to the present time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from wallet_api.cli.showcase import Demo
from wallet_api.database import connect
from wallet_api.demo import append
from wallet_api.demo.continuation import Continuation

_DAY = timedelta(days=1)


class DemoClock:
    """Appends the demo's trades since `continued`. No earlier trade changes.

    Nothing is written once the ledger has a wallet or a trade that is not the demo's.
    """

    def __init__(self, demo: Demo, home: Path, database_url: str) -> None:
        self.continued = demo.continued or demo.until
        self._demo = demo
        self._home = home
        self._database_url = database_url
        self._continuation = Continuation(demo.until, **demo.size)

    def move_on(self) -> None:
        """Append the trades up to now, a day at a time. Raises DatabaseUnavailable."""
        now = datetime.now(UTC).replace(microsecond=0)
        while self.continued < now:
            with connect(self._database_url) as connection:
                if not self._demo.is_alone(connection):
                    return
            self._append(min(now, self.continued + _DAY))

    def _append(self, until: datetime) -> None:
        rows = list(self._continuation.trade_rows(self.continued, until))
        trades = self._demo.trades + len(rows)
        # Noted first: the trades of an append that was killed are still the demo's.
        self._note(most_trades=max(trades, self._demo.most_trades))
        append(self._database_url, self._continuation, self.continued, until, rows)
        self._note(continued=until, trades=trades, most_trades=trades)
        self.continued = until

    def _note(self, **changes: Any) -> None:
        self._demo = replace(self._demo, **changes)
        self._demo.save(self._home)

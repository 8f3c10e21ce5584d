"""How `wallet-api up` continues the demo up to the present time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from wallet_api.cli.showcase import Demo
from wallet_api.database import connect
from wallet_api.demo import append
from wallet_api.demo.continuation import Continuation

_DAY = timedelta(days=1)


class DemoClock:
    """Appends the demo's trades of the time that has passed. No earlier trade changes.

    Nothing is written once the ledger has a wallet or a trade that is not the demo's.
    """

    def __init__(self, demo: Demo, database_url: str) -> None:
        self.demo = demo
        self._database_url = database_url
        self._continuation = Continuation(demo.until, **demo.size)

    def move_on(self) -> None:
        """Append the trades up to now, a day at a time. Raises DatabaseUnavailable."""
        now = datetime.now(UTC).replace(microsecond=0)
        while self.demo.continued < now:
            with connect(self._database_url) as connection:
                if not self.demo.is_alone(connection):
                    return
            self._append(min(now, self.demo.continued + _DAY))

    def _append(self, until: datetime) -> None:
        after = self.demo.continued
        rows = list(self._continuation.trade_rows(after, until))
        trades = self.demo.trades + len(rows)
        # Noted first: the trades of an append that was killed are still the demo's.
        self.demo = replace(self.demo, most_trades=max(trades, self.demo.most_trades))
        self.demo.save()
        append(self._database_url, self._continuation, after, until, rows)
        self.demo = replace(self.demo, continued=until, trades=trades, most_trades=trades)
        self.demo.save()

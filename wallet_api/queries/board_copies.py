"""What copiers of the first wallets of a board would have got."""

from datetime import datetime
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.database import Columns, Connection, Row, load_sql
from wallet_api.queries.copies import DEFAULT_TERMS, MAX_TRADES
from wallet_api.queries.paging import with_warnings
from wallet_api.queries.spans import TimeSpan
from wallet_api.queries.token_price import PriceRule

# Only entries of at most this rank have them.
MOST_COPIED = 100
# Of all wallets that are read at once: they take a processor less than half a second.
MAX_BOARD_TRADES = 5_000

_COPIES = load_sql(__package__, "board_copies")
_FIND_WALLETS = load_sql(__package__, "find_wallets")


class BoardCopies:
    """The copies of the wallets of a group in a period or a window, each read when it is first shown."""

    def __init__(self, blockchain: str) -> None:
        self._blockchain = blockchain
        self._rows: dict[str, Row] = {}

    def missing(self, entries: Columns) -> list[str]:
        """Return the addresses of these entries of a board that can be read at once, and are not yet."""
        found, trades = [], 0
        counts = map(int, entries["period_stats_total_txn"])
        for address, rank, count in zip(entries["wallet"], entries["rank"], counts, strict=True):
            if rank > MOST_COPIED or address in self._rows or count > MAX_TRADES:
                continue
            trades += count
            if trades > MAX_BOARD_TRADES:
                break
            found.append(address)
        return found

    def read(
        self,
        connection: Connection,
        now: datetime,
        addresses: list[str],
        span: TimeSpan,
        rule: PriceRule,
    ) -> None:
        """Read the copies of some wallets in the span of their board, by the default terms."""
        now = now.replace(microsecond=0)
        wanted = {"blockchains": [self._blockchain], "type": None, "addresses": addresses}
        parameters = {
            "wallet_ids": [row["wallet_id"] for row in connection.execute(_FIND_WALLETS, wanted)],
            "currency": CHAINS[self._blockchain].currency,
            "since": span.since,
            "until": span.until,
            **DEFAULT_TERMS.parameters,
            **rule.parameters(now),
        }
        for row in connection.execute(_COPIES, parameters):
            self._rows[row.pop("address")] = row

    def added(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data of a page of the board with the copies of its entries, and what it lacks."""
        entries: Columns = data["leaderboard"]
        copies = [
            self._rows.get(address) if rank <= MOST_COPIED else {}
            for address, rank in zip(entries["wallet"], entries["rank"], strict=True)
        ]
        names = dict.fromkeys(name for copy in copies if copy for name in copy)
        columns = {name: [(copy or {}).get(name) for copy in copies] for name in names}
        lacking = copies.count(None)
        warning = (
            f"Entries that are not copied: {lacking}. They have more than {MAX_TRADES} trades each, or more"
            f" than {MAX_BOARD_TRADES} in all, of which a later request shows others."
        )
        return with_warnings(data | {"leaderboard": entries | columns}, [warning] if lacking else [])

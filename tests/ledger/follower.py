"""A follower of a feed: reads its changes, and keeps the trades that they make."""

from collections.abc import Iterator
from typing import Any, Protocol

Row = dict[str, Any]
LATEST = "/transactions/latest"


class Getter(Protocol):
    """Who sends requests to the service, in the process or over HTTP."""

    def get(self, path: str, **parameters: Any) -> Row:
        """Return the data of a successful response."""


class Follower:
    """Passes each `next_cursor` on. What has arrived is in `changes`, what follows from it in `trades`."""

    def __init__(self, caller: Getter, path: str = LATEST, after: str = "start", **question: Any) -> None:
        self.caller = caller
        self.after = after
        self.mint = question.get("mint")
        self.changes: list[Row] = []
        self.trades: dict[tuple[Any, ...], Row] = {}
        self._path = path
        self._question = question

    def read(self, limit: int = 1000) -> list[Row]:
        """Read to the end, and return the changes."""
        return [change for page in self.pages(limit) for change in page]

    def resumed(self, caller: Getter) -> "Follower":
        """Return one that goes on from here, as after a restart, at another process of the service."""
        other = Follower(caller, self._path, self.after, **self._question)
        other.changes, other.trades = self.changes, self.trades
        return other

    def pages(self, limit: int) -> Iterator[list[Row]]:
        """Read page by page to the end."""
        has_more = True
        while has_more:
            data = self.caller.get(self._path, **self._question, after=self.after, limit=limit)
            page: list[Row] = data["transactions"]
            assert data["count"] == len(page) <= limit
            for change in page:
                self._apply(change)
            self.changes += page
            self.after = data["pagination"]["next_cursor"]
            has_more = data["pagination"]["has_more"]
            yield page

    def _apply(self, change: Row) -> None:
        event = change["event"]
        if event in ("trade", "correction"):
            self.trades[identity(change)] = change
        elif event == "removal":
            self.trades.pop(identity(change), None)
        else:
            self.trades = {key: row for key, row in self.trades.items() if not _is_gone(row, change)}


def identity(row: Row) -> tuple[Any, ...]:
    """What makes a trade the same trade, in a feed of one chain."""
    names = ("tx_signature", "mint", "transaction_type", "event_index")
    return (row["profile"]["wallet_address"], *(row[name] for name in names))


def _is_gone(row: Row, change: Row) -> bool:
    if change["event"] == "wallet_removal":
        return bool(row["profile"]["wallet_address"] == change["profile"]["wallet_address"])
    assert change["event"] == "purge", change
    return ("before" not in change or row["created_at"] < change["before"]) and (
        "mint" not in change or row["mint"] == change["mint"]
    )


def trades_of(caller: Getter, path: str = LATEST, **question: Any) -> dict[tuple[Any, ...], Row]:
    """The trades of the ledger itself, without what depends on the moment of reading."""
    rows = caller.pages(path, "transactions", **question, limit=1000)
    return stored({identity(row): row for row in rows})


def stored(trades: dict[tuple[Any, ...], Row]) -> dict[tuple[Any, ...], Row]:
    """Trades with what is stored of them.

    What was held after a trade changes with late ones before it, which is no change of this trade.
    """
    names = ("value", "value_usd", "token_amount", "created_at")
    return {key: {name: row[name] for name in names} for key, row in trades.items()}

"""A page of the traders of a token: its order, its first key, and the cursor of the next page."""

from collections.abc import Mapping
from typing import Any

import msgspec

from wallet_api.database import Row
from wallet_api.queries import cursors
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings

# Who was first is listed from the first one on.
_ASCENDING = ("first_buy",)


class _TraderKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trader, and the price at which holdings are valued; None if there is none."""

    last_place: str
    last_tie: str
    last_address: str
    kept_price: str | None


# The key before the first page.
_START_KEY = {"last_place": "-Infinity", "last_tie": "0", "last_address": "", "kept_price": None}


class TraderPage:
    """The page that loaded arguments request of an operation."""

    def __init__(self, operation: str, given: Mapping[str, Any]) -> None:
        self._given = given
        self._sort = given["sort"]
        self._order = given.get("order", "asc" if self._sort in _ASCENDING else "desc")
        self._held = given.get("still_holding")
        token = (given["blockchain"], given.get("type") or "", given["mint"])
        self._scope = (operation, *token, self._sort, self._order, str(self._held))

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of trader_page.sql but for `with_never_held`. Raises InvalidParameter."""
        cursor = self._given.get("cursor")
        key = cursors.decode_cursor(cursor, self._scope, _TraderKey) if cursor else None
        return {
            "sort": self._sort,
            "direction": 1 if self._order == "asc" else -1,
            "still_holding": self._held,
            "limit": min(self._given["limit"], MAX_LIMIT),
            **(_START_KEY if key is None else msgspec.structs.asdict(key)),
            "is_price_kept": key is not None and self._sort == "unrealized_pnl",
        }

    def pagination(self, row: Row) -> dict[str, Any]:
        """Return the pagination of a page, and a warning if `limit` is above the maximum."""
        last, limit = cursors.last_key(_TraderKey, row), self._given["limit"]
        pagination = cursors.pagination(self._scope, min(limit, MAX_LIMIT), last, total=row["matching"])
        return with_warnings({"pagination": pagination}, limit_warnings(limit))

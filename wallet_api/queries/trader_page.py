"""A page of the traders of a token: its order, its first key, and the cursor of the next page."""

from dataclasses import dataclass
from typing import Any

import msgspec

from wallet_api.database import Row
from wallet_api.queries import cursors
from wallet_api.queries.paging import MAX_LIMIT, limit_warnings, with_warnings

# Who was first is listed from the first one on.
_ASCENDING = ("first_buy",)


class _TraderKey(msgspec.Struct, array_like=True, frozen=True):
    """The sort key of a trader, and the price at which holdings are valued; None if there is none."""

    place: str
    tie: str
    address: str
    kept_price: str | None


# The key before the first page.
_START_KEY = {"place": "-Infinity", "tie": "0", "address": "", "kept_price": None}


@dataclass(frozen=True)
class TraderPage:
    """Which traders are requested: by which figure, in which order, how many, after which one."""

    sort: str
    order: str | None = None
    limit: int = MAX_LIMIT
    cursor: str | None = None
    still_holding: bool | None = None

    def parameters(self, scope: cursors.Scope) -> dict[str, Any]:
        """Return the parameters of trader_page.sql but for `with_never_held`. Raises InvalidParameter."""
        key = cursors.decode(self.cursor, self._scope(scope), _TraderKey) if self.cursor else None
        return {
            "sort": self.sort,
            "direction": 1 if self._order == "asc" else -1,
            "still_holding": self.still_holding,
            "limit": min(self.limit, MAX_LIMIT),
            **(_START_KEY if key is None else msgspec.structs.asdict(key)),
            "is_price_kept": key is not None and self.sort == "unrealized_pnl",
        }

    def pagination(self, row: Row, scope: cursors.Scope) -> dict[str, Any]:
        """Return the pagination of a page, and a warning if `limit` is above the maximum."""
        last = _key(row) if row["has_more"] else None
        limit, total = min(self.limit, MAX_LIMIT), row["matching"]
        pagination = cursors.pagination(self._scope(scope), limit, last, total=total)
        return with_warnings({"pagination": pagination}, limit_warnings(self.limit))

    @property
    def _order(self) -> str:
        return self.order or ("asc" if self.sort in _ASCENDING else "desc")

    def _scope(self, scope: cursors.Scope) -> cursors.Scope:
        return (*scope, self.sort, self._order, str(self.still_holding))


def _key(row: Row) -> _TraderKey:
    return _TraderKey(row["last_place"], row["last_tie"], row["last_address"], row["kept_price"])

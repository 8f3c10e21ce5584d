"""The wallets and tokens that a text names."""

from collections.abc import Sequence
from typing import Any

from wallet_api.base.chains import CHAINS
from wallet_api.database import Connection, load_sql
from wallet_api.queries.paging import limit_warnings, with_warnings

MAX_RESULTS = 100
# From so many characters on, words within names are searched.
WORD_CHARACTERS = 3

_SEARCH = load_sql(__package__, "search")
# Equal names, names that begin with the text, and words that do: each from the widest reach down to none.
_RANKS = (1, 2, 3)
_REACHES = range(17, -1, -1)
# The tokens of a chain that share a beginning and a reach, and the wallets: more are not compared.
_MOST = 150


def search_names(
    connection: Connection,
    q: str,
    limit: int = 20,
    blockchain: str | None = None,
    *,
    types: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the wallets and the tokens that `q` names, at most `limit` of each, the best first.

    Of wallets those of these `types` alone, if they are given.
    """
    finds_words = len(q.strip()) >= WORD_CHARACTERS
    steps = [(rank, reach) for rank in _RANKS[: 3 if finds_words else 2] for reach in _REACHES]
    _, [wallets, tokens] = connection.fetch_lists(
        _SEARCH,
        {
            "q": q,
            "blockchains": [blockchain] if blockchain else list(CHAINS),
            "types": None if types is None else list(types),
            "finds_words": finds_words,
            "ranks": [rank for rank, _ in steps],
            "reaches": [reach for _, reach in steps],
            "most": _MOST,
            "limit": min(limit, MAX_RESULTS),
        },
    )
    data = {"q": q, "wallets": wallets, "tokens": tokens}
    return with_warnings(data, limit_warnings(limit, MAX_RESULTS))

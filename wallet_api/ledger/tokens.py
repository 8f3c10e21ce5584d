"""The ids of tokens, cached between the batches of an import."""

from collections.abc import Collection, Mapping, Sequence

from wallet_api.database import Connection, load_statements

# Its chain and mint.
Token = tuple[str, str]

# About 15 MB.
MAX_IDS = 50_000

_TOKENS = load_statements(__package__, "tokens")


class TokenIds:
    """A cache of the ids of tokens, which inserts new ones.

    To be used outside of transactions, so that no other import waits for an inserted token.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids: dict[Token, int] = {}

    def find(self, tokens: Collection[Token]) -> Mapping[Token, int]:
        """Return the ids of all these tokens, and of others; valid until the next call."""
        unknown = [token for token in tokens if token not in self._ids]
        if len(self._ids) + len(unknown) > MAX_IDS:
            self._ids, unknown = {}, list(tokens)
        new = self._find(unknown)
        if new:
            self._connection.execute(_TOKENS["add"], _columns(new))
            self._find(new)
        return self._ids

    def _find(self, tokens: list[Token]) -> list[Token]:
        self._ids |= find_tokens(self._connection, tokens)
        return [token for token in tokens if token not in self._ids]


def find_tokens(connection: Connection, tokens: Sequence[Token]) -> dict[Token, int]:
    """Return the ids of those of these tokens that have one."""
    if not tokens:
        return {}
    rows = connection.execute(_TOKENS["find"], _columns(tokens))
    return {tokens[row["place"]]: row["token_id"] for row in rows}


def _columns(tokens: Sequence[Token]) -> dict[str, list[str]]:
    return {"blockchains": [chain for chain, _ in tokens], "mints": [mint for _, mint in tokens]}

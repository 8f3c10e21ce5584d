"""Stage trades to remove that no file names: those before a time, or of some tokens."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from wallet_api.database import Connection, load_statements
from wallet_api.ledger.remove import Removal, begin, staged_trades
from wallet_api.ledger.tokens import Token, find_tokens

_PURGE = load_statements(__package__, "purge")


def stage_before(connection: Connection, before: datetime, *, include_open: bool) -> Removal:
    """Stage the trades before a time, and count them.

    Those of positions that were held then are staged only if `include_open`.
    """
    parameters = {"before": before, "include_open": include_open}
    begin(connection)
    connection.execute(_PURGE["stage_before"], parameters)
    effects = connection.fetch_row(_PURGE["effects"], parameters)
    return replace(staged_trades(connection), **effects)


def stage_tokens(connection: Connection, tokens: Collection[Token]) -> Removal:
    """Stage all trades in these tokens, and count them."""
    begin(connection)
    token_ids = list(find_tokens(connection, list(tokens)).values())
    connection.execute(_PURGE["stage_tokens"], {"token_ids": token_ids})
    return staged_trades(connection)

"""The names by which a search finds tokens and wallets, kept by the imports that change them."""

from collections.abc import Sequence

from wallet_api.database import Connection, load_statements

_NAMES = load_statements(__package__, "names")
_RENAMES = load_statements(__package__, "rename")


def store_names(connection: Connection) -> None:
    """Store how many wallets trade the tokens of the affected positions, and new names of these.

    The caller holds the lock of `merge.lock_prices`.
    """
    changed = [row["token_id"] for row in connection.execute(_NAMES["counted"])]
    if changed:
        connection.execute(_NAMES["reached"], {"token_ids": changed})
        connection.execute(_NAMES["named_before"], {"token_ids": changed})
    if connection.execute(_NAMES["named"]).rowcount or changed:
        connection.execute(_NAMES["shown"])
        connection.execute(_NAMES["terms"])
    thinned = [row["token_id"] for row in connection.execute(_NAMES["thinned"])]
    if thinned:
        rename_tokens(connection, thinned)


def rename_tokens(connection: Connection, token_ids: Sequence[int]) -> tuple[int, int]:
    """Store the names and wallets of these tokens again; return how many ranks and terms were wrong.

    The caller holds the lock of `merge.lock_prices`.
    """
    parameters = {"token_ids": list(token_ids)}
    connection.execute(_RENAMES["wanted_ranks"], parameters)
    ranks = connection.execute(_RENAMES["ranks"], parameters).rowcount
    connection.execute(_RENAMES["wanted_terms"], parameters)
    terms = connection.execute(_RENAMES["unwanted"], parameters).rowcount
    terms += connection.execute(_RENAMES["missing"]).rowcount
    connection.execute("TRUNCATE wanted_ranks, wanted_terms")
    return ranks, terms


def rename_wallets(connection: Connection) -> None:
    """Store the terms of the names and addresses of wallets whose terms are others."""
    for name in ("unwanted_of_wallets", "missing_of_wallets"):
        connection.execute(_RENAMES[name])

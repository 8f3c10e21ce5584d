"""The profits of candidates, by the walk of the ledger over their trades, in tables that are rolled back."""

from collections.abc import Mapping, Sequence
from typing import Any

from wallet_api.chain.decoding.trades import Draft
from wallet_api.database import Connection, load_statements
from wallet_api.ledger import staging

_WALKED = load_statements("wallet_api.ledger", "put_in")["walked"]
_RANKING = load_statements(__package__, "ranking")
_COPY = (
    "COPY fresh (wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature,"
    " token_amount, value, block, block_index) FROM STDIN"
)


def rank(
    connection: Connection,
    trades: Sequence[tuple[Draft, str, str]],
    early: Sequence[tuple[str, str]],
) -> tuple[Sequence[Mapping[str, Any]], Mapping[tuple[str, str], Mapping[str, Any]]]:
    """Return the sums of the wallets of trades, the best first, and of their tokens by address and mint.

    Sums have the names of ledger/sums.sql; those of dollars and of fees are of nothing here.

    Beside each trade are its amount and native value. `early` are wallets and the tokens in which they were
    early. The tables are temporary ones of the session, which the rollback removes: no row of the ledger is
    read or locked.
    """
    wallets = {draft.wallet.address: draft.wallet.wallet_id for draft, _, _ in trades}
    tokens = {mint: number for number, mint in enumerate(sorted({draft.mint for draft, _, _ in trades}))}
    known = [pair for pair in early if pair[0] in wallets and pair[1] in tokens]
    parameters = {
        "wallet_ids": [wallets[address] for address, _ in known],
        "token_ids": [tokens[mint] for _, mint in known],
    }
    with connection.transaction(force_rollback=True):
        staging.prepare(connection)
        with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
            for draft, amount, value in trades:
                place = wallets[draft.wallet.address], tokens[draft.mint]
                of_trade = draft.created_at, 0, draft.is_sell, False, draft.tx_signature
                in_chain = (draft.place.get(name) for name in ("block", "block_index"))
                copy.write_row((*place, *of_trade, amount, value, *in_chain))
        connection.execute(_WALKED)
        ranked = connection.execute(_RANKING["wallets"], parameters).fetchall()
        positions = connection.execute(_RANKING["positions"]).fetchall()
    addresses = {number: address for address, number in wallets.items()}
    mints = {number: mint for mint, number in tokens.items()}
    return (
        [row | {"address": addresses[row["wallet_id"]]} for row in ranked],
        {(addresses[row["wallet_id"]], mints[row["token_id"]]): row for row in positions},
    )

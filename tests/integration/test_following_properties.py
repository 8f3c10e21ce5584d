"""Any interleaving of changes and reads leaves a follower with the ledger's own trades."""

import uuid
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import strategies as st

from tests.ledger import in_process, strategies
from tests.ledger.caller import Caller
from tests.ledger.follower import LATEST, Follower, identity, stored
from tests.ledger.mints import mint_of
from tests.ledger.rows import EVM, GROUP
from tests.naive.walk import shown
from wallet_api.database import Connection

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
FEEDS: tuple[tuple[str, Row], ...] = (
    (LATEST, GROUP),
    ("/tokens/transactions", GROUP | {"mint": mint_of("Mint")}),
    (LATEST, {}),
    (LATEST, {"blockchain": "solana"}),
    (LATEST, GROUP | {"min_value": "5"}),
    (LATEST, {"min_value_usd": "2"}),
    (LATEST, GROUP | {"transaction_type": "buy"}),
    (LATEST, {"address": f"{strategies.SOLANA[0]},{EVM}"}),
)
FILES = st.lists(strategies.trades(NOW), min_size=1, max_size=14)
# A change, or a page of one of the followers.
STEPS = st.one_of(
    st.tuples(st.just("trades"), FILES),
    st.tuples(st.just("trades"), FILES),
    st.tuples(st.just("remove_trades"), FILES),
    st.tuples(st.just("prices"), st.lists(strategies.prices(NOW), min_size=1, max_size=2)),
    st.tuples(st.just("remove_wallets"), st.lists(st.sampled_from(strategies.wallets()), max_size=2)),
    st.tuples(st.integers(0, len(FEEDS) - 1), st.sampled_from([1, 2, 1000])),
    st.tuples(st.integers(0, len(FEEDS) - 1), st.sampled_from([1, 2, 1000])),
)


@pytest.mark.settings(answer_ttl_seconds=0.0)
@strategies.for_any(
    steps=st.lists(STEPS, max_size=14),
    batch_rows=st.sampled_from([1, 3, 100]),
    begin=st.sampled_from(["start", "now"]),
)
def test_a_follower_ends_with_the_trades_of_the_ledger_and_has_got_no_change_twice(
    steps: list[tuple[Any, Any]],
    batch_rows: int,
    begin: str,
    database_url: str,
    client: FlaskClient,
    connection: Connection,
) -> None:
    in_process.clear(connection)
    importer = in_process.Importer(database_url, batch_rows=batch_rows)
    importer.wallets(strategies.wallets())
    caller = Caller.new(client, connection, f"follower {uuid.uuid4()}")
    followers = [Follower(caller, path, begin, **question) for path, question in FEEDS]
    for follower in followers:
        follower.read()
    values = count(1)
    for step, what in steps:
        if isinstance(step, int):
            next(followers[step].pages(what))
        else:
            # No two versions of a trade have the same value.
            rows = [row | {"value": str(next(values))} if "value" in row else row for row in what]
            getattr(importer, step)(rows)
        if step == "remove_wallets":
            importer.wallets(what)
    own = {
        key: row
        for chain, type in strategies.GROUPS
        for key, row in rows_of(caller, blockchain=chain, type=type).items()
    }
    dollars = dollars_of(connection)
    kinds = {step for step, _ in steps}
    for follower, (_, question) in zip(followers, FEEDS, strict=True):
        if begin == "start" and not kinds & set(range(len(FEEDS))):
            # All is new to who reads for the first time, in pages of any size.
            assert "correction" not in {row["event"] for row in follower.read(2)}
        follower.read()
        passing = {key: row for key, row in own.items() if passes(question, row, dollars[key])}
        followed = {key: row for key, row in follower.trades.items() if key in passing}
        assert without_dollars(followed) == without_dollars(passing)
        for key, row in followed.items():
            assert dollars[key] is None or row["value_usd"] == shown(Fraction(dollars[key]), 4)
        if not {"min_value", "min_value_usd"} & question.keys():
            # Else a trade that passes no more is not reported.
            assert follower.trades.keys() == passing.keys()
        if "prices" not in kinds:
            versions = Counter((identity(row), row["value"]) for row in follower.changes if "value" in row)
            assert set(versions.values()) <= {1}
        if not kinds & {"remove_trades", "remove_wallets"}:
            new = Counter(identity(row) for row in follower.changes if row["event"] == "trade")
            assert set(new.values()) <= {1}
        assert follower.read() == []


def rows_of(caller: Caller, **question: Any) -> dict[tuple[Any, ...], Row]:
    """The trades of the ledger of a group."""
    return {identity(row): row for row in caller.pages(LATEST, "transactions", **question, limit=1000)}


def dollars_of(connection: Connection) -> dict[tuple[Any, ...], Decimal | None]:
    """The stored dollars of all trades."""
    rows = connection.execute(
        "SELECT address, tx_signature, mint, CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS side,"
        " event_index, value_usd FROM trades JOIN wallets USING (wallet_id) JOIN tokens USING (token_id)"
    )
    return {
        (row["address"], row["tx_signature"], row["mint"], row["side"], row["event_index"]): row["value_usd"]
        for row in rows
    }


def without_dollars(trades: dict[tuple[Any, ...], Row]) -> dict[tuple[Any, ...], Row]:
    """Trades with what is stored of them but their dollars, which may be by the latest price."""
    return {key: row | {"value_usd": None} for key, row in stored(trades).items()}


def passes(question: Row, row: Row, usd: Decimal | None) -> bool:
    """Whether a trade with these stored dollars passes the filters of a follower."""
    profile = row["profile"]
    least = Decimal(question.get("min_value_usd", 0))
    return (
        question.get("blockchain") in (None, profile["blockchain"])
        and question.get("type") in (None, profile["type"])
        and question.get("mint") in (None, row["mint"])
        and question.get("transaction_type") in (None, row["transaction_type"])
        and row["value"] >= Decimal(question.get("min_value", 0))
        and (not least or (usd is not None and shown(Fraction(usd), 4) >= least))
        and ("address" not in question or profile["wallet_address"].lower() in question["address"].lower())
    )

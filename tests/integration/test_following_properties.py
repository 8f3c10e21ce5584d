"""Any interleaving of changes and reads leaves a follower with the ledger's own trades."""

import uuid
from collections import Counter
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import strategies as st

from tests.ledger import in_process, strategies
from tests.ledger.caller import Caller
from tests.ledger.follower import LATEST, Follower, identity, stored, trades_of
from tests.ledger.mints import mint_of
from tests.ledger.rows import GROUP
from wallet_api.database import Connection

Row = dict[str, Any]

NOW = datetime.now(UTC).replace(microsecond=0)
FEEDS: tuple[tuple[str, Row], ...] = (
    (LATEST, GROUP),
    ("/tokens/transactions", GROUP | {"mint": mint_of("Mint")}),
)
FILES = st.lists(strategies.trades(NOW), min_size=1, max_size=14)
# A change, or a page of one of the followers.
STEPS = st.one_of(
    st.tuples(st.just("trades"), FILES),
    st.tuples(st.just("trades"), FILES),
    st.tuples(st.just("remove_trades"), FILES),
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
    for follower, (_, question) in zip(followers, FEEDS, strict=True):
        follower.read()
        mint = question.get("mint")
        own = {key: row for key, row in trades_of(caller, **GROUP).items() if mint in (None, key[2])}
        assert stored(follower.trades) == own
        versions = Counter((identity(row), row["value"]) for row in follower.changes if "value" in row)
        assert set(versions.values()) <= {1}
        assert follower.read() == []

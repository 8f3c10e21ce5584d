"""Wallets with very many tokens: of their histories, a worker has one in memory at a time."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import requests

from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, GROUP, trade_row
from tests.lib.processes import StartGunicorn, peak_of, workers
from wallet_api.api.keys import create_key
from wallet_api.database import Connection
from wallet_api.settings import Settings

TOKENS = 30_000
AT_ONCE = 6
# Two at once would take nearly twice as much.
MOST_PART = 1.3


@pytest.fixture(autouse=True)
def many_tokens(connection: Connection) -> None:
    """Give the wallet ANN very many tokens, each as the one that it trades."""
    importer = Importer(connection.info.dsn)
    importer.wallets([GROUP | {"wallet_address": ANN}])
    importer.trades([trade_row(ANN, "s", datetime.now(UTC) - timedelta(hours=1))])
    connection.execute(
        """
        INSERT INTO positions
        SELECT (jsonb_populate_record(one, jsonb_build_object('token_id', -i, 'mint', lpad(i::text, 44, 'A')))
               ).*
          FROM positions AS one
         CROSS JOIN generate_series(2, %(tokens)s) AS i
        """,
        {"tokens": TOKENS},
    )
    connection.execute("UPDATE lifetimes SET tokens = %(tokens)s", {"tokens": TOKENS})
    connection.execute("ANALYZE positions")


def test_many_large_histories_at_once_take_little_more_memory_than_one(
    settings: Settings, gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller")
    server = gunicorn(replace(settings, statement_timeout_seconds=60.0), workers=1, threads=8)
    (worker,) = workers(server)
    before = worker.memory_info().rss

    def outcome_of(limit: int) -> tuple[int, int]:
        """Return the status and the number of tokens; each limit is another question."""
        response = requests.get(
            f"{server.url}/v1/wallets/history",
            params=GROUP | {"address": ANN, "limit": str(limit)},
            headers={"Authorization": f"Bearer {key}"},
            timeout=120,
        )
        if response.status_code != 200:
            assert response.headers["Retry-After"]
            return response.status_code, 0
        return 200, len(response.json()["data"]["token_overview"])

    with peak_of(worker) as alone:
        assert outcome_of(1) == (200, TOKENS)
    with peak_of(worker) as together, ThreadPoolExecutor(AT_ONCE) as pool:
        found = Counter(pool.map(outcome_of, range(2, 2 + AT_ONCE)))
    assert set(found) <= {(200, TOKENS), (503, 0)}
    assert found[200, TOKENS] >= 1
    assert together[0] < MOST_PART * alone[0], (before, alone, together)
    # Others are as many at once as before.
    assert outcome_of(1)[0] == 200

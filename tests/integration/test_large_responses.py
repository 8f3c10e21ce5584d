"""Wallets with very many tokens: of their histories, a worker has one in memory at a time."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import requests

from tests.processes import StartGunicorn, peak_of, workers
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

TOKENS = 100_000
AT_ONCE = 12
# Two at once would take nearly twice as much.
MOST_PART = 1.3


@pytest.fixture
def address(connection: Connection) -> str:
    """A wallet with very many tokens."""
    address = "A" * 43
    row = connection.execute(
        "INSERT INTO wallets (blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)"
        " VALUES ('solana', 'kol', %s, '', '', '', '', '') RETURNING wallet_id",
        [address],
    ).fetchone()
    assert row is not None
    wallet = {"wallet_id": row["wallet_id"], "tokens": TOKENS}
    connection.execute(
        """
        INSERT INTO positions (wallet_id, token_id, mint, quantity, cost, acquired_at, peak, token_name,
               buy_txn, sell_txn, covered_txn, invested, sold, realized, realized_cost, first_seen, last_seen,
               bought_tokens, sold_tokens, invested_usd, sold_usd, invested_without_usd, sold_without_usd,
               realized_usd, buys_without_usd, sells_without_usd, covered_without_usd)
        SELECT %(wallet_id)s, i, lpad(i::text, 44, 'A'), 0, 0, 0, 1, 'token', 1,
               1, 1, 1, 1, 0, 1, now(), now(),
               1, 1, 0, 0, 0, 0,
               0, 0, 0, 0
          FROM generate_series(1, %(tokens)s) AS i
        """,
        wallet,
    )
    connection.execute(
        "INSERT INTO lifetimes (wallet_id, blockchain, type, last_seen, tokens, still_holding, below_zero,"
        " above_zero_to_100, above_100_to_500, above_500, sold_below_zero, sold_above_zero_to_100,"
        " sold_above_100_to_500, sold_above_500, buy_txn, sell_txn, invested, sold, realized, realized_cost)"
        " VALUES (%(wallet_id)s, 'solana', 'kol', now(), %(tokens)s, 0, 0, 0, 0, 0,"
        " 0, 0, 0, 0, 1, 1, 1, 1, 0, 1)",
        wallet,
    )
    connection.execute("ANALYZE positions")
    return address


def test_many_large_histories_at_once_take_little_more_memory_than_one(
    settings: Settings, gunicorn: StartGunicorn, connection: Connection, address: str
) -> None:
    key = create_key(connection, "caller")
    server = gunicorn(replace(settings, statement_timeout_seconds=60.0), workers=1, threads=8)
    (worker,) = workers(server)
    before = worker.memory_info().rss

    def ask(limit: int) -> tuple[int, int]:
        """Return the status and the number of tokens; each limit is another question."""
        response = requests.get(
            f"{server.url}/v1/wallets/history",
            params={"blockchain": "solana", "type": "kol", "address": address, "limit": str(limit)},
            headers={"Authorization": f"Bearer {key}"},
            timeout=120,
        )
        if response.status_code != 200:
            assert response.headers["Retry-After"]
            return response.status_code, 0
        return 200, len(response.json()["data"]["token_overview"])

    with peak_of(worker) as alone:
        assert ask(1) == (200, TOKENS)
    with peak_of(worker) as together, ThreadPoolExecutor(AT_ONCE) as pool:
        found = Counter(pool.map(ask, range(2, 2 + AT_ONCE)))
    assert set(found) <= {(200, TOKENS), (503, 0)}
    assert found[200, TOKENS] >= 1
    assert together[0] < MOST_PART * alone[0], (before, alone, together)
    # Others are as many at once as before.
    assert ask(1)[0] == 200

"""Rebuilding what is derived from the trades."""

from datetime import UTC, datetime, timedelta

from tests.ledger import random_trades
from tests.ledger.contents import contents
from tests.ledger.in_process import Importer
from tests.ledger.rows import trade_row
from tests.lib.backups import at, done
from tests.lib.processes import run_command
from wallet_api.database import Connection

TABLES = (
    *("trades", "positions", "lifetimes", "position_days", "wallet_days", "wallet_hours"),
    *("volume_rollup", "token_days", "wallet_groups", "token_prices", "token_ranks", "token_terms"),
)
DAMAGE = """
UPDATE positions SET realized = realized + 1 WHERE covered_txn > 3;
UPDATE lifetimes SET largest_buy = largest_buy + 1 WHERE wallet_id = (SELECT max(wallet_id) FROM lifetimes);
DELETE FROM lifetimes WHERE wallet_id = (SELECT min(wallet_id) FROM lifetimes);
DELETE FROM position_days
 WHERE (wallet_id, token_id, day) IN
       (SELECT wallet_id, token_id, day FROM position_days ORDER BY day DESC LIMIT 2);
UPDATE wallet_days SET new_tokens = 0 WHERE new_tokens > 0;
UPDATE wallet_hours SET realized = 7 WHERE starts_at = (SELECT max(starts_at) FROM wallet_hours);
UPDATE volume_rollup SET volume = 2 * volume
 WHERE token_id = 0 AND bucket_seconds = 3600 AND ends_at > now() - interval '1 day';
UPDATE token_days SET realized = realized + 1
 WHERE (day, token_id, type) IN (SELECT day, token_id, type FROM token_days ORDER BY day LIMIT 2);
INSERT INTO token_days
SELECT (jsonb_populate_record(token_days, '{"type": "never"}')).* FROM token_days LIMIT 1;
UPDATE wallet_groups SET wallet_count = 0 WHERE type = 'kol';
DELETE FROM wallet_groups WHERE type = 'whale';
UPDATE trades SET realized = 0, realized_cost = 0 WHERE realized > 0;
INSERT INTO tokens (blockchain, mint) VALUES ('eth', 'never traded');
INSERT INTO token_prices SELECT max(token_id), now(), 1, 1, 1 FROM tokens;
DELETE FROM token_prices WHERE token_id = (SELECT min(token_id) FROM token_prices);
UPDATE token_prices SET value_usd = 1 WHERE token_id = (SELECT min(token_id) FROM token_prices);
"""


def fill(url: str) -> None:
    """Fill a ledger in several batches."""
    random_trades.fill(Importer(url, batch_rows=300), 12, 2_000)


def test_a_damaged_ledger_is_put_right_and_the_damage_counted(
    connection: Connection, database_url: str
) -> None:
    fill(database_url)
    now = datetime.now(UTC)
    before = contents(connection, now)
    damaged = connection.execute("SELECT count(*) AS n FROM positions WHERE covered_txn > 3").fetchone()
    connection.execute(DAMAGE)

    changed = done("rebuild", settings=at(database_url))

    assert damaged is not None
    assert changed["positions"] == damaged["n"] > 0
    exact = {"lifetimes": 2, "position_days": 2, "token_days": 3, "wallet_groups": 2, "token_prices": 3}
    assert {table: changed[table] for table in exact} == exact
    assert min(changed[table] for table in ("wallet_days", "wallet_hours", "volume_rollup", "trades")) > 0
    assert contents(connection, now) == before
    assert done("rebuild", settings=at(database_url)) == dict.fromkeys(TABLES, 0)


def test_it_says_what_it_corrected(connection: Connection, database_url: str) -> None:
    Importer(database_url).wallets(random_trades.wallets(3))
    connection.execute("UPDATE wallet_groups SET wallet_count = 0")
    said = [run_command("rebuild", settings=at(database_url)) for _ in range(2)]
    groups = connection.fetch_value("SELECT count(*) AS n FROM wallet_groups")
    assert said[0].stdout == f"Corrected {groups} rows of wallet_groups.\n"
    assert said[1].stdout == "All derived figures were correct.\n"


def test_trades_beyond_the_reach_of_any_period_are_in_no_rollup(
    connection: Connection, database_url: str
) -> None:
    fill(database_url)
    now = datetime.now(UTC)
    address = random_trades.wallets(1)[0]["wallet_address"]
    before = contents(connection, now)
    Importer(database_url).trades([trade_row(address, "old", now - timedelta(days=120))])
    after = contents(connection, now)
    assert len(after["trades"]) == len(before["trades"]) + 1
    # Windows of any time are sums of days.
    assert len(after["position_days"]) == len(before["position_days"]) + 1
    for table in ("wallet_hours", "volume_rollup"):
        assert after[table] == before[table]

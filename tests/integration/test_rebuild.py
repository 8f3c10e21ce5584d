"""Rebuilding what is derived from the trades."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from click.testing import CliRunner

from tests.ledger.mints import mint_of
from wallet_api.cli import cli
from wallet_api.database import Connection
from wallet_api.demo.world import World
from wallet_api.ledger.fields import BadRow
from wallet_api.ledger.imports import import_prices, import_trades, import_wallets
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.ledger.rows import TradeRow, WalletRow

TABLES = (
    *("trades", "positions", "lifetimes", "position_days", "wallet_days"),
    *("volume_rollup", "wallet_groups", "token_prices"),
)


def refuse(number: int, line: bytes, fault: BadRow) -> None:
    raise fault


def fill(connection: Connection) -> None:
    world = World(datetime.now(UTC), wallets=20, trades=2_000, days=3, seed=7)
    wallets, prices, trades = (
        ((number, b"", row) for number, row in enumerate(rows))
        for rows in (world.wallet_rows(), world.price_rows(), world.trade_rows())
    )
    import_wallets(connection, wallets, refuse)
    import_prices(connection, prices, refuse)
    import_trades(connection, trades, refuse, batch_rows=300)


# Volume expires with the time, so that what is about to is not compared.
_RECENT = "WHERE ends_at > (SELECT max(ends_at) FROM volume_rollup) - interval '25 hours'"


def content(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    statements = {table: f"SELECT * FROM {table}" for table in TABLES}
    statements["volume_rollup"] += f" {_RECENT}"
    # As text, so that the order does not depend on the types.
    return {
        table: sorted(connection.execute(statement), key=str)  # type: ignore[arg-type]
        for table, statement in statements.items()
    }


def test_rebuilding_a_healthy_ledger_changes_nothing(connection: Connection) -> None:
    fill(connection)
    before = content(connection)
    assert all(before.values())

    assert rebuild_ledger(connection) == dict.fromkeys(TABLES, 0)

    assert content(connection) == before


def test_rebuilding_an_empty_ledger_changes_nothing(database_url: str) -> None:
    done = CliRunner().invoke(cli, ["rebuild", "--json"], env={"DATABASE_URL": database_url})
    assert done.exit_code == 0, done.output
    assert orjson.loads(done.stdout) == dict.fromkeys(TABLES, 0)


def test_a_damaged_ledger_is_put_right_and_the_damage_counted(connection: Connection) -> None:
    fill(connection)
    before = content(connection)
    connection.execute("UPDATE positions SET realized = realized + 1 WHERE covered_txn > 3")
    damaged = connection.execute("SELECT count(*) AS n FROM positions WHERE covered_txn > 3").fetchone()
    connection.execute(
        "UPDATE lifetimes SET largest_buy = largest_buy + 1"
        " WHERE wallet_id = (SELECT max(wallet_id) FROM lifetimes)"
    )
    connection.execute("DELETE FROM lifetimes WHERE wallet_id = (SELECT min(wallet_id) FROM lifetimes)")
    connection.execute(
        "DELETE FROM position_days WHERE (wallet_id, token_id, day) IN"
        " (SELECT wallet_id, token_id, day FROM position_days ORDER BY day DESC LIMIT 2)"
    )
    connection.execute("UPDATE wallet_days SET new_tokens = 0 WHERE new_tokens > 0")
    connection.execute(
        "UPDATE volume_rollup SET volume = 2 * volume WHERE token_id = 0 AND bucket_seconds = 3600"
        " AND ends_at > now() - interval '1 day'"
    )
    connection.execute(
        "UPDATE wallet_groups SET wallet_count = 0 WHERE blockchain = 'solana' AND type = 'kol'"
    )
    connection.execute("DELETE FROM wallet_groups WHERE blockchain = 'bnb' AND type = 'kol'")
    connection.execute("UPDATE trades SET realized = 0, realized_cost = 0 WHERE realized > 0")
    connection.execute("INSERT INTO tokens (blockchain, mint) VALUES ('eth', 'never traded')")
    connection.execute("INSERT INTO token_prices SELECT max(token_id), now(), 1, 1, 1 FROM tokens")
    for change in ("DELETE FROM token_prices", "UPDATE token_prices SET value_usd = 1"):
        connection.execute(f"{change} WHERE token_id = (SELECT min(token_id) FROM token_prices)")

    changed = rebuild_ledger(connection)

    assert damaged is not None
    assert changed["positions"] == damaged["n"] > 0
    assert changed["lifetimes"] == 2
    assert changed["position_days"] == 2
    assert changed["wallet_days"] > 0
    assert changed["volume_rollup"] > 0
    assert changed["wallet_groups"] == 2
    assert changed["trades"] > 0
    assert changed["token_prices"] == 3
    assert content(connection) == before
    assert rebuild_ledger(connection) == dict.fromkeys(TABLES, 0)


def test_a_wallet_that_changes_its_type_takes_its_volume_along(connection: Connection) -> None:
    fill(connection)
    moved = connection.execute(
        "SELECT blockchain, address FROM wallets WHERE blockchain = 'bnb' AND type = 'kol'"
    ).fetchall()
    assert moved
    lines = [
        orjson.dumps({"blockchain": "bnb", "type": "smart", "wallet_address": wallet["address"]})
        for wallet in moved
    ]
    import_wallets(connection, ndjson_records(lines, WalletRow), refuse)

    left = connection.execute(
        "SELECT count(*) AS n FROM volume_rollup WHERE blockchain = 'bnb' AND type = 'kol'"
    ).fetchone()
    assert left == {"n": 0}
    counts = connection.execute(
        "SELECT wallet_count FROM wallet_groups WHERE blockchain = 'bnb' AND type = 'kol'"
    )
    assert counts.fetchall() == [{"wallet_count": 0}]
    assert rebuild_ledger(connection) == dict.fromkeys(TABLES, 0)


def test_trades_beyond_the_reach_of_any_period_are_in_no_rollup(connection: Connection) -> None:
    fill(connection)
    wallet = connection.execute("SELECT address FROM wallets WHERE blockchain = 'solana' LIMIT 1").fetchone()
    assert wallet is not None
    old = {
        "blockchain": "solana",
        "wallet_address": wallet["address"],
        "tx_signature": "old",
        "mint": mint_of("OldMint"),
        "transaction_type": "buy",
        "token_amount": "1",
        "value": "1",
        "created_at": (datetime.now(UTC) - timedelta(days=60)).isoformat(),
    }
    before = content(connection)
    import_trades(connection, ndjson_records([orjson.dumps(old)], TradeRow), refuse)
    after = content(connection)
    assert len(after["trades"]) == len(before["trades"]) + 1
    assert after["position_days"] == before["position_days"]
    assert after["volume_rollup"] == before["volume_rollup"]

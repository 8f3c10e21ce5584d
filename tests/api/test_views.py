"""What people read with SQL: the views, and the statements of docs/ledger.md."""

import re
from pathlib import Path

from tests.ledger.caller import Caller
from tests.ledger.example import W, fill
from tests.ledger.rows import GROUP
from wallet_api.database import Connection

DOCUMENT = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text()
(SECTION,) = re.findall(r"\n## With SQL\n(.*?)\n## ", DOCUMENT, re.DOTALL)
VIEWS = ("ledger_trades", "ledger_positions")


def test_the_document_names_all_columns_of_the_views(connection: Connection) -> None:
    for view in VIEWS:
        (row,) = re.findall(rf"^\| `{view}` \|.*$", SECTION, re.MULTILINE)
        with connection.cursor() as cursor:
            described = cursor.execute(f"SELECT * FROM {view} LIMIT 0".encode()).description
        assert re.findall(r"`(\w+)`", row) == [view, *(column.name for column in described or ())]


def test_the_views_have_the_figures_of_the_history(
    caller: Caller, database_url: str, connection: Connection
) -> None:
    fill(database_url)
    data = caller.get("/wallets/history", **GROUP, address=W, limit=1000)
    own = "blockchain = 'solana' AND type = 'kol' AND wallet_address = %s"
    sums = connection.execute(
        f"SELECT round(sum(realized), 9) AS realized, count(*) AS n FROM ledger_trades WHERE {own}".encode(),
        [W],
    ).fetchone()
    lifetime = data["lifetime_stats"]
    assert sums == {"realized": lifetime["realized_pnl"], "n": lifetime["total_tx_count"]}
    positions = connection.execute(
        f"SELECT mint, round(invested, 9) AS invested, round(sold, 9) AS sold,"
        f" round(realized, 9) AS realized_pnl, round(open_cost, 9) AS open_cost,"
        f" round(open_cost_usd, 4) AS open_cost_usd FROM ledger_positions WHERE {own} ORDER BY mint".encode(),
        [W],
    ).fetchall()
    overview = sorted(data["token_overview"], key=lambda token: str(token["mint"]))
    names = ("mint", "invested", "sold", "realized_pnl", "open_cost", "open_cost_usd")
    assert positions == [{name: token.get(name) for name in names} for token in overview]
    known = {bool(position["open_cost_usd"]) for position in positions}
    assert known == {True, False}


def test_the_statements_of_the_document_run_and_find_what_they_say(
    database_url: str, connection: Connection
) -> None:
    fill(database_url)
    (block,) = re.findall(r"```sql\n(.*?)```", SECTION, re.DOTALL)
    by_month, best = (connection.execute(text.encode()).fetchall() for text in block.split(";")[:2])
    total = connection.fetch_value("SELECT round(sum(realized), 9) FROM positions")
    assert round(sum(row["realized"] for row in by_month), 9) == total
    assert {(row["blockchain"], row["type"]) for row in by_month} == {("solana", "kol")}
    assert [row["realized"] for row in best] == sorted((row["realized"] for row in best), reverse=True)

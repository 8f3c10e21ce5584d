"""docs/examples.md: its programs run as they stand, and print what the histories say."""

import csv
import io
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.demo_service import DemoService
from tests.ledger.in_process import Importer, Row, parsed
from tests.ledger.rows import ANN, WALLETS, trade_row
from tests.processes import Gunicorn, StartGunicorn
from tests.waiting import eventually
from wallet_api.database import Connection, connect
from wallet_api.keys import create_key

DOCUMENT = (Path(__file__).parents[2] / "docs" / "examples.md").read_text()
# The program of each section that has one.
PROGRAMS = dict(
    re.findall(r"^## ([^\n]*)\n(?:(?!## ).)*?^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
)
KOLS = {"blockchain": "solana", "type": "kol"}
WALLET = re.compile(r"(\d+)\. (.*): (-?[\d.E-]+) SOL")
BUY = re.compile(r"   (\S+Z) (.*) for ([\d.E-]+) SOL")

# The name of a wallet with its profit, and with each of its buys.
Profits = list[tuple[str, Decimal]]
Buys = list[tuple[str, str, str, Decimal]]


def test_the_most_profitable_wallets_and_their_buys_take_two_requests(
    server: Gunicorn, demo: DemoService
) -> None:
    profits = _profits(server, demo)
    before = _buys(server, demo)
    with connect(str(demo.settings.database_url)) as connection:
        # Its credits are enough for two requests.
        key = create_key(connection, "example", credits=2)
    done = _run("One question in two requests", server, key)
    after = _buys(server, demo)
    assert (done.returncode, done.stderr) == (0, "")
    shown_profits, shown_buys = _read(done.stdout)
    assert shown_profits == profits
    # An hour passes on while the program runs.
    assert set(after) <= set(shown_buys) <= set(before)
    # How many there are depends on the hour: eight on average.
    assert shown_buys
    assert len(shown_buys) == len(set(shown_buys))


def test_the_table_has_all_trades_of_the_best_twenty_wallets(server: Gunicorn, demo: DemoService) -> None:
    done = _run("Trades as a table", server, demo.key)
    assert (done.returncode, done.stderr) == (0, "")
    found = list(csv.DictReader(io.StringIO(done.stdout, newline="")))
    by_name = {str(row["name"]): row for row in _kols(demo)}
    names = [name for name, _ in _profits(server, demo)[:20]]
    assert list(dict.fromkeys(row["name"] for row in found)) == names
    for rank, name in enumerate(names, 1):
        own = [row for row in found if row["name"] == name]
        trades = _history(server, demo, by_name[name])["trades"]
        assert {row["rank"] for row in own} == {str(rank)}
        assert [
            (row["tx_signature"], Decimal(row["value"]), Decimal(row["token_amount"])) for row in own
        ] == [(row["tx_signature"], Decimal(row["value"]), Decimal(row["token_amount"])) for row in trades]


def test_the_bot_prints_each_large_buy_once_over_a_restart(
    gunicorn: StartGunicorn, connection: Connection, database_url: str, tmp_path: Path
) -> None:
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    server, key = gunicorn(), create_key(connection, "bot", credits=100)
    start = datetime.now(UTC) - timedelta(hours=1)

    def trade(number: int, **changes: Any) -> Row:
        at = start + timedelta(minutes=number)
        return trade_row(ANN, f"s{number}", at, value=str(6 + number)) | changes

    small, sell = trade(1, value="4.9"), trade(2, transaction_type="sell")
    place = tmp_path / "bot-place"
    with _bot(server, key, tmp_path) as lines:
        before = place.read_text()
        importer.trades([trade(3), small, sell])
        assert "for 9 SOL" in lines.get(timeout=20)
        # Killed between a line and its place, it would print the line again.
        assert eventually(lambda: place.read_text() != before, 10)
    # While it is stopped, also one that is older than all that was printed.
    importer.trades([trade(5), trade(0)])
    with _bot(server, key, tmp_path) as lines:
        assert {lines.get(timeout=20).split(" for ")[1] for _ in range(2)} == {"11 SOL", "6 SOL"}
        importer.trades([trade(7)])
        assert "for 13 SOL" in lines.get(timeout=20)
        assert lines.empty()
    # Pages without a row are free.
    left = connection.fetch_value("SELECT credits FROM api_keys WHERE name = 'bot'")
    assert 95 <= left <= 97


def test_the_backtest_knows_no_more_than_was_known(server: Gunicorn, demo: DemoService) -> None:
    done = _run("A backtest", server, demo.key)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, summary, average = done.stdout.splitlines()
    counts = [int(line.split(": ")[1].split(" ")[0]) for line in lines]
    # The world of the demo is a day old.
    assert lines
    assert summary.startswith(f"{sum(counts)} trades, ")
    mean = sum(
        count * Decimal(line.split("bought, ")[1].split("%")[0])
        for count, line in zip(counts, lines, strict=True)
    )
    assert abs(mean / sum(counts) - Decimal(average.split("%")[0])) < Decimal("0.02")


@contextmanager
def _bot(server: Gunicorn, key: str, folder: Path) -> Iterator["queue.Queue[str]"]:
    """Run the bot in this block, once it follows the feed; yield the lines that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAMS["A bot"]],
        env={"PATH": os.environ["PATH"], "API": server.url, "KEY": key},
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line.strip())

    reader = threading.Thread(target=read)
    with process:
        reader.start()
        try:
            assert eventually(lambda: (folder / "bot-place").exists(), 30)
            yield lines
        finally:
            process.kill()
            reader.join()


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_refused_request_ends_the_program(server: Gunicorn, title: str) -> None:
    done = _run(title, server, "wk_wrong")
    assert done.returncode != 0
    assert "403" in done.stderr


def _run(title: str, server: Gunicorn, key: str) -> "subprocess.CompletedProcess[str]":
    """Run the program of a section."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAMS[title]],
        env={"PATH": os.environ["PATH"], "API": server.url, "KEY": key, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _read(output: str) -> tuple[Profits, Buys]:
    """Return the wallets and the buys of a program's output, which has no other lines."""
    profits: Profits = []
    buys: Buys = []
    for line in output.splitlines():
        wallet, buy = WALLET.fullmatch(line), BUY.fullmatch(line)
        if wallet:
            profits.append((wallet[2], Decimal(wallet[3])))
            assert int(wallet[1]) == len(profits)
        else:
            assert buy, line
            buys.append((profits[-1][0], buy[1], buy[2], Decimal(buy[3])))
    return profits, buys


def _profits(server: Gunicorn, demo: DemoService) -> Profits:
    """Return the lifetime profits of the wallets: the world of the demo is younger than seven days."""
    profits = [
        (str(row["name"]), Decimal(_history(server, demo, row)["lifetime_stats"]["realized_pnl"]))
        for row in _kols(demo)
    ]
    return sorted(profits, key=lambda profit: profit[1], reverse=True)


def _buys(server: Gunicorn, demo: DemoService) -> Buys:
    """Return what the wallets have bought in the last hour."""
    since = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        (str(row["name"]), trade["created_at"], trade["token_name"], Decimal(trade["value"]))
        for row in _kols(demo)
        for trade in _history(server, demo, row, since=since)["trades"]
        if trade["transaction_type"] == "buy" and trade["created_at"] > since
    ]


def _kols(demo: DemoService) -> list[dict[str, Any]]:
    return [row for row in demo.wallets if KOLS.items() <= row.items()]


def _history(server: Gunicorn, demo: DemoService, row: dict[str, Any], **arguments: str) -> dict[str, Any]:
    own = {name: str(row[name]) for name in ("blockchain", "type")} | {"address": row["wallet_address"]}
    query = own | {"limit": "1000"} | arguments
    response = requests.get(f"{server.url}/v1/wallets/history", query, headers=demo.headers, timeout=30)
    data: dict[str, Any] = parsed(response.content)["data"]
    return data

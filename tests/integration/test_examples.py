"""docs/examples/: its programs run as they stand, and print what follows from the trades."""

import csv
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NewDatabase
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, UNTRACKED, WALLETS, WHALE, trade_row
from tests.lib.processes import Process, run_program
from tests.lib.serving import served
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key
from wallet_api.app import create_app
from wallet_api.database import Connection, connect
from wallet_api.settings import Settings

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
PROGRAMS = {
    "One question in two requests": "bought_by_the_best",
    "Who was first": "who_was_first",
    "A dashboard": "dashboard",
    "Trades as a table": "trades",
    "A bot": "bot",
    "A backtest": "backtest",
}
JAVASCRIPT = FOLDER / "sum.mjs"
NODE = shutil.which("node")
NOW = datetime.now(UTC).replace(microsecond=0)
CAT = UNTRACKED
KOLS = [
    GROUP | {"wallet_address": address, "name": name}
    for address, name in ((ANN, "Ann"), (BEN, "Ben"), (CAT, "Cat"))
]
# Hours ago, wallet, side, amount and value. Ann realizes 4 - 1, Ben 2 - 1; the price is 1, 2, 4 and 5.
# The whale has only sold.
TRADES = (
    (45, WHALE, "sell", 1, 1),
    (40, SMART, "buy", 1, 1),
    (30, ANN, "buy", 2, 2),
    (29, BEN, "buy", 1, 1),
    (28, CAT, "buy", 1, 1),
    (25, BEN, "sell", 1, 2),
    (20, ANN, "sell", 1, 4),
    (0.5, ANN, "buy", 1, 5),
)


def _ago(hours: float) -> str:
    return f"{NOW - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"


@dataclass(frozen=True)
class Known:
    """A service with these trades, of one token. Each test adds others, which those before do not show."""

    url: str
    database_url: str

    def key(self, name: str, credits: int) -> str:
        """Return a new key."""
        with connect(self.database_url) as connection:
            return create_key(connection, name, credits=credits)


@pytest.fixture(scope="module")
def known(
    servers: Settings, new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Known]:
    home = tmp_path_factory.mktemp("known")
    with new_database() as database_url:
        importer = Importer(database_url)
        others = (("smart", SMART), ("whale", WHALE))
        importer.wallets([*KOLS, *(GROUP | {"type": type, "wallet_address": one} for type, one in others)])
        importer.trades(
            trade_row(address, f"{hours} hours", NOW - timedelta(hours=hours), token_name="Coin")
            | {"transaction_type": side, "token_amount": str(amount), "value": str(value)}
            for hours, address, side, amount, value in TRADES
        )
        own = {"valkey_url": servers.valkey_url, "wallet_api_home": str(home), "web_threads": 4}
        app = create_app(Settings(database_url=database_url, **own))
        with closing(app.extensions["wallet_api"]), served(app) as url:
            yield Known(url, database_url)


def test_each_program_prints_what_follows_from_the_trades_for_few_credits(known: Known) -> None:
    printed = {}
    for title, credits in (
        ("One question in two requests", 2),
        ("Who was first", 3),
        ("Trades as a table", 4),
        ("A backtest", 100),
    ):
        done = _run(title, known.url, known.key(title, credits))
        assert (done.returncode, done.stderr) == (0, "")
        printed[title] = done.stdout.splitlines()
    assert printed["One question in two requests"] == [
        "1. Ann: 3 SOL",
        f"   {_ago(0.5)} Coin for 5 SOL",
        "2. Ben: 1 SOL",
        "3. Cat: 0 SOL",
    ]
    assert printed["Who was first"] == [
        "Ann holds Coin. The first of 5 traders:",
        f"{_ago(40)} {SMART}: 0 SOL realized",
        f"{_ago(30)} Ann: 3 SOL realized",
        f"{_ago(29)} Ben: 1 SOL realized",
        f"{_ago(28)} Cat: 0 SOL realized",
    ]
    rows = csv.DictReader(printed["Trades as a table"])
    assert [tuple(row[name] for name in ("rank", "name", "created_at", "value")) for row in rows] == [
        ("1", "Ann", _ago(0.5), "5"),
        ("1", "Ann", _ago(20), "4"),
        ("1", "Ann", _ago(30), "2"),
        ("2", "Ben", _ago(25), "2"),
        ("2", "Ben", _ago(29), "1"),
        ("3", "Cat", _ago(28), "1"),
    ]
    assert [line.rpartition(": ")[2] for line in printed["A backtest"]] == [
        "1 bought, +100.00% after twelve hours",
        "1 bought, +25.00% after twelve hours",
        "2 trades, 0 lost without a price",
        "+62.50% on average",
    ]


def test_the_dashboard_leaves_out_one_hit_and_who_never_sells_what_fell(
    url: str, connection: Connection, database_url: str
) -> None:
    importer = Importer(database_url)
    importer.wallets(KOLS)
    importer.trades(
        trade_row(address, f"{name} {side}", NOW - timedelta(hours=hours), mint=mint_of(name), value=value)
        | {"transaction_type": side, "token_name": name}
        for hours, address, side, name, value in (
            # Ann wins five of six.
            *((40, ANN, "buy", f"ann{number}", "1") for number in range(6)),
            *((30, ANN, "sell", f"ann{number}", "2" if number else "0.5") for number in range(6)),
            # Ben wins five of five, and sits on fifty.
            *((40, BEN, "buy", f"ben{number}", "1") for number in range(55)),
            *((30, BEN, "sell", f"ben{number}", "1.2") for number in range(5)),
            # Cat wins once.
            *((40, CAT, "buy", "cat", "1"), (30, CAT, "sell", "cat", "100")),
            *((5, address, "buy", "Hot", "2") for address in (ANN, BEN, CAT)),
            (4, CAT, "sell", "Hot", "2.5"),
        )
    )
    done = _run("A dashboard", url, create_key(connection, "dashboard", credits=2))
    assert (done.returncode, done.stderr) == (0, "")
    head, chart, signal = done.stdout.splitlines()
    assert head == "Ann: +4.50 SOL, wins 44 % or more, fell by 0.00 at worst, 2.00 not sold"
    assert re.fullmatch("   ▁+█+", chart)
    assert signal == "Hot: 3 bought, +3.50 SOL net"


def test_the_backtest_counts_each_token_that_was_bought_also_more_than_a_page_and_one_that_died(
    known: Known,
) -> None:
    many = [f"many{number}" for number in range(120)]
    Importer(known.database_url).trades(
        trade_row(address, f"{name} {hours}", NOW - timedelta(hours=hours), mint=mint_of(name), value=value)
        for name, value, times in (
            # Bought 36 hours ago, when nobody had traded it for 13; after twelve more it has no price.
            ("dead", "1", ((49, ANN), (49, BEN), (49, CAT))),
            # Bought twelve hours ago, sold for twice as much.
            *((name, "1", ((13, ANN), (13, BEN), (13, CAT))) for name in many),
            *((name, "2", ((2, SMART),)) for name in many),
        )
        for hours, address in times
    )
    done = _run("A backtest", known.url, known.key("backtest", 100))
    assert (done.returncode, done.stderr) == (0, "")
    # The dead one first keeps its price.
    assert [line.rpartition(": ")[2] for line in done.stdout.splitlines()] == [
        "1 bought, +0.00% after twelve hours",
        "1 bought, -100.00% after twelve hours",
        "1 bought, +100.00% after twelve hours",
        f"121 bought, {Decimal(12025) / 121:+.2f}% after twelve hours",
        "124 trades, 1 lost without a price",
        f"{Decimal(12025) / 124:+.2f}% on average",
    ]


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_javascript_sums_to_the_last_digit(known: Known) -> None:
    value = "9007199254740993.000000001"
    Importer(known.database_url).trades([trade_row(BEN, "large", NOW - timedelta(minutes=9), value=value)])
    done = run_program(
        [str(NODE), JAVASCRIPT],
        env={"PATH": os.environ["PATH"], "API": known.url, "KEY": known.key("javascript", 1)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "2 buys for 9007199254740998.000000001 SOL\n"


def test_the_bot_prints_each_large_buy_once_over_a_restart(
    url: str, connection: Connection, database_url: str, tmp_path: Path
) -> None:
    importer = Importer(database_url)
    importer.wallets(WALLETS)
    key = create_key(connection, "bot", credits=100)
    start = datetime.now(UTC) - timedelta(hours=1)

    def trade(number: int, **changes: Any) -> Row:
        at = start + timedelta(minutes=number)
        return trade_row(ANN, f"s{number}", at, value=str(6 + number)) | changes

    small, sell = trade(1, value="4.9"), trade(2, transaction_type="sell")
    place = tmp_path / "bot-place"
    with _bot(url, key, tmp_path) as lines:
        before = place.read_text()
        importer.trades([trade(3), small, sell])
        assert "for 9 SOL" in lines.get(timeout=60)
        # Killed between a line and its place, it would print the line again.
        assert eventually(lambda: place.read_text() != before)
    # While it is stopped, also one that is older than all that was printed.
    importer.trades([trade(5), trade(0)])
    with _bot(url, key, tmp_path) as lines:
        assert {lines.get(timeout=60).split(" for ")[1] for _ in range(2)} == {"11 SOL", "6 SOL"}
        importer.trades([trade(7)])
        assert "for 13 SOL" in lines.get(timeout=60)
        assert lines.empty()
        # What was printed is not printed again; what grows beyond 5 SOL is met as a correction.
        importer.trades([trade(3, value="10"), trade(1, value="8"), trade(9)])
        assert {lines.get(timeout=60).split(" for ")[1] for _ in range(2)} == {"8 SOL", "15 SOL"}
        assert eventually(lambda: "s9" in place.read_text())
    # A buy that is corrected before the bot has met it.
    importer.trades([trade(11)])
    importer.trades([trade(11, value="21"), trade(9, value="22")])
    with _bot(url, key, tmp_path) as lines:
        assert "for 21 SOL" in lines.get(timeout=60)
        importer.trades([trade(13)])
        assert "for 19 SOL" in lines.get(timeout=60)
        assert lines.empty()
    # Pages without a row are free.
    left = connection.fetch_value("SELECT credits FROM api_keys WHERE name = 'bot'")
    assert 90 <= left <= 97


@contextmanager
def _bot(url: str, key: str, folder: Path) -> Iterator["queue.Queue[str]"]:
    """Run the bot in this block, once it follows the feed; yield the lines that it prints."""
    process: Process[str] = Process(
        [sys.executable, "-u", FOLDER / "bot.py"],
        env={"PATH": os.environ["PATH"], "API": url, "KEY": key},
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
            assert eventually(lambda: (folder / "bot-place").exists())
            yield lines
        finally:
            process.kill()
            reader.join()


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_refused_request_ends_the_program(known: Known, title: str) -> None:
    done = _run(title, known.url, "wk_wrong")
    assert done.returncode != 0
    assert "403" in done.stderr


def _run(title: str, url: str, key: str) -> "subprocess.CompletedProcess[str]":
    """Run a program, by its title."""
    return run_program(
        [sys.executable, FOLDER / f"{PROGRAMS[title]}.py"],
        env={"PATH": os.environ["PATH"], "API": url, "KEY": key, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

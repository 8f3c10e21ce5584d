"""docs/examples.md: its programs run as they stand, take two requests, and print what the histories say."""

import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.demo_service import DemoService
from tests.ledger.in_process import parsed
from tests.processes import Gunicorn
from wallet_api.database import connect
from wallet_api.keys import create_key

DOCUMENT = (Path(__file__).parents[2] / "docs" / "examples.md").read_text()
KOLS = {"blockchain": "solana", "type": "kol"}
WALLET = re.compile(r"(\d+)\. (.*): (-?[\d.E-]+) SOL")
BUY = re.compile(r"   (\S+Z) (.*) for ([\d.E-]+) SOL")

# The name of a wallet with its profit, and with each of its buys.
Profits = list[tuple[str, Decimal]]
Buys = list[tuple[str, str, str, Decimal]]

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq: apt-get install jq")
both = pytest.mark.parametrize("language", [pytest.param("bash", marks=needs_jq), "python"])


@both
def test_the_most_profitable_wallets_and_their_buys_take_two_requests(
    server: Gunicorn, demo: DemoService, language: str
) -> None:
    profits = _profits(server, demo)
    before = _buys(server, demo)
    with connect(str(demo.settings.database_url)) as connection:
        # Its credits are enough for two requests.
        key = create_key(connection, f"example in {language}", credits=2)
    done = _run(language, server, key)
    after = _buys(server, demo)
    assert (done.returncode, done.stderr) == (0, "")
    shown_profits, shown_buys = _read(done.stdout)
    assert shown_profits == profits
    # An hour passes on while the program runs.
    assert set(after) <= set(shown_buys) <= set(before)
    # How many there are depends on the hour: eight on average.
    assert shown_buys
    assert len(shown_buys) == len(set(shown_buys))


@both
def test_a_refused_request_ends_the_program(server: Gunicorn, language: str) -> None:
    done = _run(language, server, "wk_wrong")
    assert done.returncode != 0
    assert "403" in done.stderr


def _run(language: str, server: Gunicorn, key: str) -> "subprocess.CompletedProcess[str]":
    """Run the program of the document in this language."""
    (program,) = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    return subprocess.run(
        [sys.executable if language == "python" else language, "-c", program],
        env={"PATH": os.environ["PATH"], "API": server.url, "KEY": key},
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
    query = KOLS | {"address": row["wallet_address"], "limit": "1000"} | arguments
    response = requests.get(f"{server.url}/v1/wallets/history", query, headers=demo.headers, timeout=30)
    data: dict[str, Any] = parsed(response.content)["data"]
    return data

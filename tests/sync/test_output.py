"""The output of `wallet-api sync`: a line for each round and each fault, in the form of LOG_FORMAT."""

import json
import os
import re
import signal
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.ledger.in_process import Row
from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import WRAPPED
from tests.sync.operator import Operator, addresses
from tests.sync.solana import FART

GOOD, BAD = addresses("solana", 2)
TEXT_LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \[%d\] (INFO|WARNING) (.*)"


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """A wallet with a trade, and one that the provider rejects."""
    operator.track(("solana", GOOD), ("solana", BAD))
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)
    stub.swaps.add("solana", GOOD, swap("s", at, leg(FART, "1"), leg(WRAPPED, "1"), 180.0))
    stub.scenarios[BAD] = faults.status(400)


def two_rounds(stub: Stub, operator: Operator, **environment: str) -> tuple[int, list[str], list[str]]:
    """Run two rounds; return the process id, and the lines of both streams."""
    third_round = threading.Event()
    stub.scenarios["moralis"] = faults.in_turn(None, None, None, None, third_round.set)
    process = operator.start("trades", "--every", "1", **environment)
    assert third_round.wait(60)
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    return process.pid, output.splitlines(), errors.splitlines()


def test_as_json_every_line_is_an_object_like_those_of_the_web_workers(
    stub: Stub, operator: Operator
) -> None:
    pid, output, errors = two_rounds(stub, operator, LOG_FORMAT="json")
    rounds: list[Row] = [json.loads(line) for line in output]
    database, *troubles = [json.loads(line) for line in errors]
    for line in (*rounds, database, *troubles):
        assert {"time", "level", "logger", "process", "message"} <= line.keys()
        assert line["process"] == pid
        assert datetime.fromisoformat(line["time"]).tzinfo is not None
    assert all((line["job"], line["level"]) == ("trades", "info") for line in rounds)
    first, second = rounds[:2]
    assert (first["wallets"], first["synced"], first["failures"]) == (2, 1, {"rejected": 1})
    assert (first["changed"], second["changed"]) == (1, 0)
    assert first["message"].startswith("trades: 1 of 2 wallets; 1 trades new or corrected")
    assert database["level"] == "info"
    assert database["message"].startswith("Database: ")
    assert len(troubles) >= 2
    assert all(line["level"] == "warning" and BAD in line["message"] for line in troubles)


def test_as_text_a_round_is_one_dated_line_without_a_bar(stub: Stub, operator: Operator) -> None:
    # Another stream than that of the journal.
    pid, output, errors = two_rounds(stub, operator, JOURNAL_STREAM="1:1")
    rounds = [re.fullmatch(TEXT_LINE % pid, line) for line in output]
    assert [found and found[1] for found in rounds[:2]] == ["INFO", "INFO"]
    assert rounds[0] is not None
    assert rounds[0][2].startswith("trades: 1 of 2 wallets; 1 trades new or corrected (1 swaps read)")
    database, *troubles = [re.fullmatch(TEXT_LINE % pid, line) for line in errors]
    assert database is not None
    assert database[1] == "INFO"
    assert database[2].startswith("Database: ")
    assert all(found and found[1] == "WARNING" and BAD in found[2] for found in troubles)


def test_in_the_journal_every_line_begins_with_its_priority(
    stub: Stub, operator: Operator, tmp_path: Path
) -> None:
    second_round = threading.Event()
    stub.scenarios["moralis"] = faults.in_turn(None, None, second_round.set)
    with (tmp_path / "journal").open("wb+") as journal:
        file = os.fstat(journal.fileno())
        environment = {"LOG_FORMAT": "json", "JOURNAL_STREAM": f"{file.st_dev}:{file.st_ino}"}
        streams = {"stdout": journal.fileno(), "stderr": journal.fileno()}
        process = operator.start("trades", "--every", "1", **streams, **environment)
        assert second_round.wait(60)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        journal.seek(0)
        lines = journal.read().decode().splitlines()
    assert {line[:3] for line in lines} == {"<4>", "<6>"}
    assert all(line.startswith("<4>") is ("warning" in line.lower()) for line in lines)
    assert any(line.startswith("<4>") and BAD in line for line in lines)


@pytest.mark.parametrize(
    ("log_format", "line", "has_bar"),
    [("text", r"Trades: 1 of 2 wallets; .*", True), ("json", r"\{.*1 of 2 wallets; .*\}", False)],
)
def test_one_run_ends_with_one_line_for_people_who_see_a_bar_on_a_terminal_or_for_a_log(
    operator: Operator, log_format: str, line: str, has_bar: bool
) -> None:
    ours, theirs = os.openpty()
    process = operator.start("trades", stderr=theirs, LOG_FORMAT=log_format)
    os.close(theirs)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, len(output.splitlines())) == (3, 1)
    assert re.fullmatch(line, output.strip())
    screen = _read_all(ours)
    assert ("Wallets" in screen and "100%" in screen) is has_bar


def _read_all(terminal: int) -> str:
    """Return what was written to a terminal whose other end is closed."""
    with os.fdopen(terminal, "rb", buffering=0) as screen:
        parts = []
        try:
            while part := screen.read(4096):
                parts.append(part)
        except OSError:
            # Linux says so when the last writer has gone.
            pass
    return b"".join(parts).decode()

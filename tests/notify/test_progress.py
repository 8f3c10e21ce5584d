"""Whether `wallet-api notify` runs, and how far it has read: in its status and in the metrics."""

import json
import re
import time
from typing import Any

import requests

from tests.conftest import StartGunicorn
from tests.ledger.in_process import Importer
from tests.lib.processes import run_command
from tests.lib.receiver import Receiver
from tests.lib.waiting import eventually
from tests.notify.rules import ALL, Start, rules_of, trade
from wallet_api.settings import Settings


def status(settings: Settings) -> dict[str, Any]:
    """What `notify status --json` prints."""
    return dict(json.loads(run_command("notify", "status", "--json", settings=settings).stdout))


def test_a_process_that_was_killed_is_seen_in_the_status_and_in_the_metrics(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings, gunicorn: StartGunicorn
) -> None:
    assert run_command("notify", "status", settings=settings).stdout == "notify is not running.\n"
    importer.trades([trade("before")])
    process = start(rules_of(receiver, ALL))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.accepted()) == 1)
    found = status(settings)
    assert (found["running"], found["behind_seconds"]) == (True, 0)
    assert run_command("notify", "status", settings=settings).stdout.startswith("notify runs.\n")
    url = f"{gunicorn().url}/metrics"

    def behind() -> float:
        [text] = re.findall(
            r"^wallet_api_notify_behind_seconds (.+)$", requests.get(url, timeout=60).text, re.MULTILINE
        )
        return float(text)

    assert behind() == 0
    process.kill()
    process.wait()
    importer.trades([trade("b", 50)])
    importer.trades([trade("c", 40)])
    time.sleep(1.2)
    assert eventually(lambda: not status(settings)["running"])
    # By the oldest of them.
    assert 1 < behind() < 600
    assert status(settings)["behind_seconds"] > 1
    output = run_command("notify", "status", settings=settings).stdout
    assert re.match(r"notify is not running since \d{4}-\d\d-\d\dT\S+Z, and the oldest change", output)
    start(rules_of(receiver, ALL))
    assert eventually(lambda: len(receiver.accepted()) == 3)
    assert eventually(lambda: behind() == 0)

"""Whether `wallet-api notify` runs, and how far it has read: in its status and in the metrics."""

import re
import time

from flask.testing import FlaskClient

from tests.lib.waiting import eventually
from tests.notify.webhooks import ALL, Webhooks, trade


def test_a_process_that_was_killed_is_seen_in_the_status_and_in_the_metrics(
    webhooks: Webhooks, client: FlaskClient
) -> None:
    def behind() -> float:
        [text] = re.findall(
            r"^wallet_api_notify_behind_seconds (.+)$", client.get("/metrics").text, re.MULTILINE
        )
        return float(text)

    assert webhooks.run("status").endswith("notify is not running.\n")
    webhooks.trades(trade("before"))
    process = webhooks.start_process(ALL)
    webhooks.trades(trade("a"))
    webhooks.await_count(1)
    found = webhooks.status()
    assert (found["running"], found["behind_seconds"]) == (True, 0)
    assert "notify runs.\n" in webhooks.run("status")
    assert behind() == 0
    process.kill()
    process.wait()
    webhooks.trades(trade("b", 50))
    webhooks.trades(trade("c", 40))
    time.sleep(1.2)
    assert eventually(lambda: not webhooks.status()["running"])
    # By the oldest of them.
    assert 1 < behind() < 600
    assert webhooks.status()["behind_seconds"] > 1
    since = r"notify is not running since \d{4}-\d\d-\d\dT\S+Z, and the oldest change"
    assert re.search(since, webhooks.run("status"))
    webhooks.start(ALL)
    webhooks.await_count(3)
    assert eventually(lambda: behind() == 0)

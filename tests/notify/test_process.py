"""`wallet-api notify` over time: crashes, the database, targets, and what an operator does."""

import base64
import random
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient

from tests.ledger.rows import BEN
from tests.lib.outages import no_connections
from tests.lib.processes import Process
from tests.lib.receiver import SECRET
from tests.lib.waiting import eventually
from tests.notify.webhooks import ALL, Webhooks, trade
from wallet_api.settings import Settings


def test_a_target_that_fails_delays_no_other_and_gets_all_under_the_same_ids(webhooks: Webhooks) -> None:
    answers = iter([500, 302, 500])
    webhooks.receiver.behaviours["/bad"] = lambda body: next(answers, 200)
    rules = '[rules.all]\ntargets = ["bad", "good"]\n'
    webhooks.start(rules, bad="/bad", good="/good")
    webhooks.trades(trade("a"), trade("b"))
    webhooks.await_count(2, "/good")
    assert len(webhooks.receiver.accepted("/bad")) < 2
    webhooks.await_reported(("trade", "a"), ("trade", "b"), path="/bad")
    tries = [one.id for one in webhooks.receiver.received if one.path == "/bad"]
    assert (len(tries), len(set(tries))) == (5, 2)
    assert not [one for one in webhooks.receiver.received if one.path == "/elsewhere"]


def test_killed_at_any_instant_it_loses_nothing_and_repeats_only_under_the_same_id(
    webhooks: Webhooks,
) -> None:
    chance = random.Random(5)

    def answer(body: str) -> int:
        return 400 if '"bad' in body else chance.choice([204, 204, 204, 500])

    webhooks.receiver.behaviours["/"] = answer
    process = webhooks.start_process(ALL)
    expected = []
    for number in range(6):
        rows = enumerate(("t", "bad", "u"))
        webhooks.trades(*(trade(f"{name}{number}", 60 - number * 2 - part) for part, name in rows))
        expected += [("trade", f"t{number}"), ("trade", f"u{number}")]
        # While it saves, while it sends, and while it tries again.
        time.sleep(chance.uniform(0, 0.8 if number % 2 else 3))
        process.kill()
        process.wait()
        process = webhooks.start_process(ALL)
    received = webhooks.receiver.received
    assert eventually(lambda: len(webhooks.receiver.accepted()) == len(expected), 120)
    webhooks.await_state("refused", 6)
    # Of one batch they are sent by their signatures.
    assert sorted(webhooks.receiver.reported()) == sorted(expected)
    assert [one[1][1:] for one in webhooks.receiver.reported()] == [one[1][1:] for one in expected]
    ids: dict[str, str] = {}
    for one in received:
        assert ids.setdefault(one.id, one.body) == one.body
    aside = {each["message_id"] for each in webhooks.state()["refused_messages"]}
    assert aside == {one.id for one in received if '"bad' in one.body}
    assert webhooks.state()["waiting"] == 0


def test_what_is_reported_again_after_a_restore_has_the_same_id(webhooks: Webhooks) -> None:
    webhooks.start(ALL)
    cursor = webhooks.connection.fetch_value("SELECT cursor FROM notify_place")
    webhooks.trades(trade("a"))
    webhooks.await_count(1)
    webhooks.stop()
    webhooks.connection.execute("UPDATE notify_place SET cursor = %(cursor)s", {"cursor": cursor})
    webhooks.connection.execute("DELETE FROM notify_trades")
    webhooks.start(ALL)
    assert eventually(lambda: len(webhooks.receiver.received) == 2)
    assert webhooks.receiver.received[0].id == webhooks.receiver.received[1].id


def test_a_target_that_fails_for_three_days_is_paused_until_it_is_resumed(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 500
    webhooks.start(ALL)
    webhooks.trades(trade("a"), trade("b", 50))
    failing = "UPDATE notify_targets SET failing_since = failing_since - interval '3 days'"
    # The target is stored before it fails.
    failing += " WHERE failing_since IS NOT NULL"
    assert eventually(lambda: webhooks.connection.execute(failing).rowcount == 1)
    assert eventually(lambda: webhooks.state()["paused_at"] is not None)
    assert "paused: HTTP 500" in webhooks.run("status")
    webhooks.receiver.behaviours.clear()
    assert "2 messages will be sent." in webhooks.run("resume", "bot")
    webhooks.await_reported(("trade", "a"), ("trade", "b"))
    assert "There is no target 'none'" in webhooks.run("resume", "none")


def reread(webhooks: Webhooks, process: Process[str], text: str, line: str) -> None:
    """Change the file, let the process read it, and wait until it has written this line."""
    webhooks.file.write_text(text)
    process.send_signal(signal.SIGHUP)
    assert process.stdout is not None
    assert any(line in output for output in process.stdout)


def test_the_rules_are_read_again_on_sighup_and_stay_with_faults(webhooks: Webhooks) -> None:
    process = webhooks.start_process(f'{ALL}mint = "none"\n')
    reread(webhooks, process, "[rules.all]\n", "stay as they were")
    reread(webhooks, process, webhooks.targets() + ALL, "read 1 rules")
    webhooks.trades(trade("a"))
    webhooks.await_reported(("trade", "a"))


LOCK = 7_401_009


def test_a_process_that_lost_its_lock_neither_stores_nor_sends(webhooks: Webhooks) -> None:
    webhooks.start(ALL)
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = {LOCK}"

    def taken() -> bool:
        webhooks.connection.execute(ended)
        return bool(webhooks.connection.fetch_value(f"SELECT pg_try_advisory_lock({LOCK})"))

    assert eventually(taken, pause_seconds=0)
    webhooks.trades(trade("a"))
    time.sleep(4)
    assert webhooks.receiver.received == []
    assert webhooks.connection.fetch_value("SELECT count(*) FROM notify_trades") == 0
    webhooks.connection.execute(f"SELECT pg_advisory_unlock({LOCK})")
    webhooks.await_reported(("trade", "a"))


def test_a_second_process_refuses_to_start(webhooks: Webhooks) -> None:
    webhooks.start(ALL)
    second = webhooks.command()
    assert "already runs on this database" in second.communicate()[0]
    assert second.returncode == 1


def test_a_database_that_is_away_for_a_while_delays_and_loses_nothing(
    webhooks: Webhooks, servers: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 500
    webhooks.start(ALL)
    webhooks.trades(trade("a"))
    assert eventually(lambda: len(webhooks.receiver.received) == 1)
    # Meanwhile the message is due again.
    with no_connections(servers, webhooks.connection):
        time.sleep(4)
    webhooks.receiver.behaviours.clear()
    webhooks.trades(trade("b"))
    webhooks.await_reported(("trade", "a"), ("trade", "b"))
    assert "notify: The database cannot be reached right now" in caplog.text
    assert "notify: goes on after" in caplog.text
    assert caplog.text.count("cannot be reached") < 5
    assert "Traceback" not in caplog.text


def test_a_ledger_without_the_place_ends_it_with_words_and_from_now_begins_anew(webhooks: Webhooks) -> None:
    webhooks.start(ALL)
    webhooks.trades(trade("a"))
    webhooks.await_count(1)
    webhooks.stop()
    webhooks.connection.execute("UPDATE arrivals SET batch_id = gen_random_uuid()")
    assert "notify --from-now --rules FILE" in webhooks.command().communicate()[0]
    with webhooks.command("--from-now") as anew:
        known = "SELECT cursor FROM notify_place"
        before = webhooks.connection.fetch_value(known)
        assert eventually(lambda: webhooks.connection.fetch_value(known) not in (None, before))
        webhooks.trades(trade("b"))
        webhooks.await_reported(("trade", "a"), ("trade", "b"))
        anew.terminate()


def test_a_flood_is_held_back_as_one_message_that_counts_each_once(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 204 if len(webhooks.receiver.received) < 6 else 500
    webhooks.start_by(webhooks.targets("per_minute = 6\n") + ALL)
    for number, count in enumerate((34, 74)):
        webhooks.trades(*(trade(f"t{number}-{part}", 60 - part / 10) for part in range(40)))
        webhooks.await_value("SELECT sum(held_back) FROM notify_targets", count)
    assert webhooks.connection.fetch_value("SELECT count(*) FROM notify_messages") == 1
    webhooks.receiver.behaviours.clear()
    webhooks.await_count(7)
    message = webhooks.receiver.accepted()[6].document
    assert (message["type"], message["data"]["count"]) == ("held_back", 74)
    assert webhooks.state()["held_back"] == 74


def test_what_waits_for_a_target_that_was_away_is_no_flood(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 500
    webhooks.start(ALL)
    webhooks.trades(*(trade(f"t{number:02}", 60 - number / 10) for number in range(70)))
    waiting = "SELECT sum(waiting) FROM notify_targets"
    webhooks.await_value(waiting, 70)
    # As if one had arrived every two seconds.
    first = "(SELECT min(place) FROM notify_messages)"
    webhooks.connection.execute(
        f"UPDATE notify_messages SET arrived_at = arrived_at + 2 * (place - {first}) * interval '1 s'"
    )
    webhooks.receiver.behaviours.clear()
    assert eventually(lambda: len(webhooks.receiver.accepted()) == 70, 90)
    assert webhooks.receiver.reported() == [("trade", f"t{number:02}") for number in range(70)]
    webhooks.await_value(waiting, 0)


def test_what_was_reported_is_forgotten_after_thirty_days_and_counted(
    webhooks: Webhooks, client: FlaskClient
) -> None:
    webhooks.start(f"{ALL}[rules.two]\ntargets = ['bot']\ncluster = {{wallets = 2, hours = 1}}\n")
    webhooks.trades(trade("a"), trade("b", address=BEN))
    webhooks.await_count(3)
    webhooks.stop()
    webhooks.connection.execute(
        "UPDATE notify_trades SET reported_at = reported_at - interval '31 days' WHERE tx_signature = 'a'"
    )
    webhooks.connection.execute("UPDATE notify_clusters SET reported_at = reported_at - interval '31 days'")
    webhooks.start(ALL)
    webhooks.await_value("SELECT forgotten FROM notify_place", 2)
    webhooks.importer.remove_trades([trade("a"), trade("b", address=BEN)])
    webhooks.await_reported(("removal", "b"), before=3)
    metrics = client.get("/metrics").text
    assert "wallet_api_notify_forgotten_total 2.0" in metrics
    assert 'wallet_api_notify_waiting{target="bot"} 0.0' in metrics


def test_dry_run_prints_what_would_be_sent_and_stores_nothing(webhooks: Webhooks) -> None:
    webhooks.file.write_text(webhooks.targets() + ALL)
    printed = threading.Event()

    def import_some() -> None:
        number = 0
        while not printed.wait(0.5):
            webhooks.trades(trade(f"t{number}"))
            number += 1

    process = webhooks.command("--dry-run")
    with process, ThreadPoolExecutor() as executor:
        # What comes before it follows is not printed.
        importing = executor.submit(import_some)
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("bot  msg_"))
        printed.set()
        importing.result()
        [signature] = re.findall(r'"tx_signature":"(t\d+)"', line)
        webhooks.importer.remove_trades([trade(signature)])
        assert any('"type":"removal"' in line and f'"{signature}"' in line for line in process.stdout)
        process.terminate()
    assert webhooks.receiver.received == []
    for table in ("place", "trades", "clusters", "messages", "targets"):
        assert webhooks.connection.execute(f"SELECT FROM notify_{table}").rowcount == 0


def test_a_target_that_leaves_the_rules_keeps_what_waits_until_it_is_back_or_dropped(
    webhooks: Webhooks,
) -> None:
    webhooks.receiver.behaviours["/away"] = lambda body: 500
    own, rules = {"bot": "/", "away": "/away"}, '[rules.all]\ntargets = ["bot", "away"]\n'
    process = webhooks.start_process(rules, **own)
    webhooks.trades(trade("a"))
    webhooks.await_count(1)
    reread(webhooks, process, webhooks.targets() + ALL, "read 1 rules")
    webhooks.trades(trade("b"))
    webhooks.await_count(2)
    webhooks.receiver.behaviours.clear()
    time.sleep(3)
    assert webhooks.receiver.accepted("/away") == []
    # With another secret: what waits is signed by that.
    other = "whsec_" + base64.b64encode(b"t" * 32).decode()
    reread(webhooks, process, webhooks.targets(**own).replace(SECRET, other) + rules, "read 1 rules")
    webhooks.await_reported(("trade", "a"), path="/away")
    webhooks.trades(trade("c"))
    webhooks.await_reported(("trade", "a"), ("trade", "c"), path="/away")
    assert [one.is_signed for one in webhooks.receiver.accepted("/away")] == [False, False]


def test_what_an_operator_drops_is_counted(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 500
    webhooks.start(ALL)
    webhooks.trades(trade("a"), trade("b"), trade("c"))
    assert eventually(lambda: len(webhooks.receiver.received) >= 1)
    assert "3 messages dropped." in webhooks.run("resume", "bot", "--drop")
    webhooks.await_value("SELECT dropped FROM notify_targets", 3)
    webhooks.receiver.behaviours.clear()
    webhooks.trades(trade("d"))
    webhooks.await_reported(("trade", "d"))
    webhooks.await_value("SELECT waiting FROM notify_targets", 0)


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

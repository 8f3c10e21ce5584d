"""`wallet-api notify` as a process: crashes, the database, targets, and what an operator does."""

import base64
import random
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from tests.conftest import StartGunicorn
from tests.ledger.in_process import Importer
from tests.ledger.rows import BEN
from tests.lib.outages import no_connections
from tests.lib.processes import run_command, wallet_api
from tests.lib.receiver import SECRET, Receiver
from tests.lib.waiting import eventually
from tests.notify.rules import ALL, Start, rules_of, trade
from wallet_api.database import Connection
from wallet_api.settings import Settings


def test_a_target_that_fails_delays_no_other_and_gets_all_under_the_same_ids(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    answers = iter([500, 302, 500])
    receiver.behaviours["/bad"] = lambda body: next(answers, 200)
    rules = '[rules.all]\ntargets = ["bad", "good"]\n'
    start(rules_of(receiver, rules, bad="/bad", good="/good"))
    importer.trades([trade("a"), trade("b")])
    assert eventually(lambda: len(receiver.accepted("/good")) == 2)
    assert len(receiver.accepted("/bad")) < 2
    assert eventually(lambda: receiver.reported("/bad") == [("trade", "a"), ("trade", "b")])
    tries = [one.id for one in receiver.received if one.path == "/bad"]
    assert (len(tries), len(set(tries))) == (5, 2)
    assert not [one for one in receiver.received if one.path == "/elsewhere"]


def test_killed_at_any_instant_it_loses_nothing_and_repeats_only_under_the_same_id(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    chance = random.Random(5)
    receiver.behaviours["/"] = lambda body: chance.choice([204, 204, 204, 500])
    process = start(rules_of(receiver, ALL))
    for number in range(4):
        importer.trades([trade(f"t{number}-{part}", 60 - number) for part in range(3)])
        time.sleep(chance.uniform(0, 0.8))
        process.kill()
        process.wait()
        process = start(rules_of(receiver, ALL))
    expected = [("trade", f"t{number}-{part}") for number in range(4) for part in range(3)]
    assert eventually(lambda: len(receiver.accepted()) == len(expected))
    assert sorted(receiver.reported()) == expected
    assert [one[1][:2] for one in receiver.reported()] == [one[1][:2] for one in expected]
    ids: dict[str, str] = {}
    for one in receiver.received:
        assert ids.setdefault(one.id, one.body) == one.body


def test_what_is_reported_again_after_a_restore_has_the_same_id(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    process = start(rules_of(receiver, ALL))
    cursor = connection.fetch_value("SELECT cursor FROM notify_place")
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) == 1)
    process.terminate()
    process.wait()
    connection.execute("UPDATE notify_place SET cursor = %(cursor)s", {"cursor": cursor})
    connection.execute("DELETE FROM notify_trades")
    start(rules_of(receiver, ALL))
    assert eventually(lambda: len(receiver.received) == 2)
    assert receiver.received[0].id == receiver.received[1].id


def test_a_flood_is_held_back_as_one_message(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    target = f'[targets.bot]\nurl = "{receiver.url}/"\nsecrets = ["{SECRET}"]\nper_minute = 3\n'
    start(target + ALL)
    importer.trades([trade(f"t{number}", 60 - number / 10) for number in range(40)])
    assert eventually(lambda: any("held_back" in one.body for one in receiver.received))
    reported = [one.document for one in receiver.accepted()]
    held = next(one for one in reported if one["type"] == "held_back")
    assert len(reported) - 1 + held["data"]["count"] == 40
    result = run_command("notify", "status", "--json", settings=settings)
    assert f'"held_back":{held["data"]["count"]}' in result.output


def test_a_target_that_fails_for_three_days_is_paused_until_it_is_resumed(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: 500
    start(rules_of(receiver, ALL))
    importer.trades([trade("a"), trade("b", 50)])
    failing = "UPDATE notify_targets SET failing_since = failing_since - interval '3 days'"
    # The target is stored before it fails.
    failing += " WHERE failing_since IS NOT NULL"
    assert eventually(lambda: connection.execute(failing).rowcount == 1)
    paused = "SELECT FROM notify_targets WHERE paused_at IS NOT NULL"
    assert eventually(lambda: connection.execute(paused).fetchone() is not None)
    status = run_command("notify", "status", settings=settings)
    assert "paused: HTTP 500" in status.output
    receiver.behaviours.clear()
    resumed = run_command("notify", "resume", "bot", settings=settings)
    assert "2 messages will be sent." in resumed.output
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")])
    assert "There is no target 'none'" in run_command("notify", "resume", "none", settings=settings).output


def test_the_rules_are_read_again_on_sighup_and_stay_with_faults(
    receiver: Receiver, importer: Importer, start: Start, tmp_path: Path
) -> None:
    process = start(rules_of(receiver, f'{ALL}mint = "none"\n'))
    assert process.stdout is not None
    for rules, line in (("[rules.all]\n", "stay as they were"), (rules_of(receiver, ALL), "read 1 rules")):
        (tmp_path / "rules.toml").write_text(rules)
        process.send_signal(signal.SIGHUP)
        assert any(line in text for text in process.stdout)
    importer.trades([trade("a")])
    assert eventually(lambda: receiver.reported() == [("trade", "a")])


LOCK = 7_401_009


def test_a_process_that_lost_its_lock_neither_stores_nor_sends(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    start(rules_of(receiver, ALL))
    ended = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = {LOCK}"

    def taken() -> bool:
        connection.execute(ended)
        return bool(connection.fetch_value(f"SELECT pg_try_advisory_lock({LOCK})"))

    assert eventually(taken, pause_seconds=0)
    importer.trades([trade("a")])
    time.sleep(4)
    assert receiver.received == []
    assert connection.fetch_value("SELECT count(*) FROM notify_trades") == 0
    connection.execute(f"SELECT pg_advisory_unlock({LOCK})")
    assert eventually(lambda: receiver.reported() == [("trade", "a")])


def test_a_second_process_refuses_to_start(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    start(rules_of(receiver, ALL))
    file = Path(settings.wallet_api_home).parent / "rules.toml"
    second = wallet_api("notify", "--rules", str(file), "--allow-private", settings=settings)
    assert "already runs on this database" in second.communicate()[0]
    assert second.returncode == 1


def test_a_database_that_is_away_for_a_while_delays_and_loses_nothing(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, servers: Settings
) -> None:
    process = start(rules_of(receiver, ALL))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) == 1)
    with no_connections(servers, connection):
        time.sleep(4)
    importer.trades([trade("b")])
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")])
    process.terminate()
    output = process.communicate()[0]
    assert "notify: The database cannot be reached right now" in output
    assert "notify: goes on after" in output
    assert output.count("cannot be reached") < 5
    assert "Traceback" not in output


def test_a_ledger_without_the_place_ends_it_with_words_and_from_now_begins_anew(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    process = start(rules_of(receiver, ALL))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) == 1)
    process.terminate()
    process.wait()
    connection.execute("UPDATE arrivals SET batch_id = gen_random_uuid()")
    file = Path(settings.wallet_api_home).parent / "rules.toml"
    options = ("notify", "--rules", str(file), "--allow-private")
    refused = wallet_api(*options, settings=settings)
    assert "notify --from-now --rules FILE" in refused.communicate()[0]
    with wallet_api(*options, "--from-now", settings=settings) as anew:
        known = "SELECT cursor FROM notify_place"
        before = connection.fetch_value(known)
        assert eventually(lambda: connection.fetch_value(known) not in (None, before))
        importer.trades([trade("b")])
        assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")])
        anew.terminate()


def test_what_was_held_back_is_counted_once_in_the_message_that_says_so(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    receiver.behaviours["/"] = lambda body: 204 if len(receiver.received) < 6 else 500
    target = f'[targets.bot]\nurl = "{receiver.url}/"\nsecrets = ["{SECRET}"]\nper_minute = 6\n'
    start(target + ALL)
    held = "SELECT sum(held_back) FROM notify_targets"
    for number, count in enumerate((34, 74)):
        importer.trades([trade(f"t{number}-{part}", 60 - part / 10) for part in range(40)])
        assert eventually(lambda count=count: connection.fetch_value(held) == count)
    assert connection.fetch_value("SELECT count(*) FROM notify_messages") == 1
    receiver.behaviours.clear()
    assert eventually(lambda: len(receiver.accepted()) == 7)
    message = receiver.accepted()[6].document
    assert (message["type"], message["data"]["count"]) == ("held_back", 74)


def test_what_waits_for_a_target_that_was_away_is_no_flood(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    receiver.behaviours["/"] = lambda body: 500
    start(rules_of(receiver, ALL))
    importer.trades([trade(f"t{number:02}", 60 - number / 10) for number in range(70)])
    waiting = "SELECT sum(waiting) FROM notify_targets"
    assert eventually(lambda: connection.fetch_value(waiting) == 70)
    # As if one had arrived every two seconds.
    first = "(SELECT min(place) FROM notify_messages)"
    connection.execute(
        f"UPDATE notify_messages SET arrived_at = arrived_at + 2 * (place - {first}) * interval '1 s'"
    )
    receiver.behaviours.clear()
    assert eventually(lambda: len(receiver.accepted()) == 70, 90)
    assert [signature for _, signature in receiver.reported()] == [f"t{number:02}" for number in range(70)]
    assert eventually(lambda: connection.fetch_value(waiting) == 0)


def test_what_was_reported_is_forgotten_after_thirty_days_and_counted(
    receiver: Receiver,
    importer: Importer,
    start: Start,
    connection: Connection,
    gunicorn: StartGunicorn,
) -> None:
    process = start(
        rules_of(receiver, f"{ALL}[rules.two]\ntargets = ['bot']\ncluster = {{wallets = 2, hours = 1}}\n")
    )
    importer.trades([trade("a"), trade("b", address=BEN)])
    assert eventually(lambda: len(receiver.received) == 3)
    process.terminate()
    process.wait()
    connection.execute(
        "UPDATE notify_trades SET reported_at = reported_at - interval '31 days' WHERE tx_signature = 'a'"
    )
    connection.execute("UPDATE notify_clusters SET reported_at = reported_at - interval '31 days'")
    start(rules_of(receiver, ALL))
    assert eventually(lambda: connection.fetch_value("SELECT forgotten FROM notify_place") == 2)
    importer.remove_trades([trade("a"), trade("b", address=BEN)])
    assert eventually(lambda: receiver.reported()[3:] == [("removal", "b")])
    metrics = requests.get(f"{gunicorn().url}/metrics", timeout=60).text
    assert "wallet_api_notify_forgotten_total 2.0" in metrics
    assert 'wallet_api_notify_waiting{target="bot"} 0.0' in metrics


def test_dry_run_prints_what_would_be_sent_and_stores_nothing(
    receiver: Receiver, importer: Importer, connection: Connection, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(rules_of(receiver, ALL))
    printed = threading.Event()

    def import_some() -> None:
        number = 0
        while not printed.wait(0.5):
            importer.trades([trade(f"t{number}")])
            number += 1

    process = wallet_api("notify", "--rules", str(file), "--allow-private", "--dry-run", settings=settings)
    with process, ThreadPoolExecutor() as executor:
        # What comes before it follows is not printed.
        importing = executor.submit(import_some)
        assert process.stdout is not None
        line = next(line for line in process.stdout if line.startswith("bot  msg_"))
        printed.set()
        importing.result()
        [signature] = re.findall(r'"tx_signature":"(t\d+)"', line)
        importer.remove_trades([trade(signature)])
        assert any('"type":"removal"' in line and f'"{signature}"' in line for line in process.stdout)
        process.terminate()
    assert receiver.received == []
    for table in ("place", "trades", "clusters", "messages", "targets"):
        assert connection.execute(f"SELECT FROM notify_{table}").rowcount == 0


def test_a_target_that_leaves_the_rules_keeps_what_waits_until_it_is_back_or_dropped(
    receiver: Receiver,
    importer: Importer,
    start: Start,
    tmp_path: Path,
    settings: Settings,
) -> None:
    receiver.behaviours["/away"] = lambda body: 500
    own = {"bot": "/", "away": "/away"}
    process = start(rules_of(receiver, '[rules.all]\ntargets = ["bot", "away"]\n', **own))
    assert process.stdout is not None

    def reread(rules: str) -> None:
        (tmp_path / "rules.toml").write_text(rules)
        process.send_signal(signal.SIGHUP)
        assert any("read 1 rules" in text for text in process.stdout)

    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.accepted()) == 1)
    reread(rules_of(receiver, ALL))
    importer.trades([trade("b")])
    assert eventually(lambda: len(receiver.accepted()) == 2)
    receiver.behaviours.clear()
    time.sleep(3)
    assert receiver.accepted("/away") == []
    # With another secret: what waits is signed by that.
    other = "whsec_" + base64.b64encode(b"t" * 32).decode()
    reread(rules_of(receiver, '[rules.all]\ntargets = ["bot", "away"]\n', **own).replace(SECRET, other))
    assert eventually(lambda: receiver.reported("/away") == [("trade", "a")])
    importer.trades([trade("c")])
    assert eventually(lambda: receiver.reported("/away") == [("trade", "a"), ("trade", "c")])
    assert [one.is_signed for one in receiver.accepted("/away")] == [False, False]


def test_what_an_operator_drops_is_counted(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: 500
    start(rules_of(receiver, ALL))
    importer.trades([trade("a"), trade("b"), trade("c")])
    assert eventually(lambda: len(receiver.received) >= 1)
    dropped = run_command("notify", "resume", "bot", "--drop", settings=settings)
    assert "3 messages dropped." in dropped.output
    assert eventually(lambda: connection.fetch_value("SELECT dropped FROM notify_targets") == 3)
    receiver.behaviours.clear()
    importer.trades([trade("d")])
    assert eventually(lambda: receiver.reported() == [("trade", "d")])
    assert eventually(lambda: connection.fetch_value("SELECT waiting FROM notify_targets") == 0)

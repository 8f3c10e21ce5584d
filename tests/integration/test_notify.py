"""`wallet-api notify`: webhooks about the changes of the feed."""

import base64
import json
import os
import random
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.in_process import Importer, Row
from tests.ledger.rows import ANN, BEN, WALLETS, trade_row
from tests.lib.processes import Process, run_command, run_program, wallet_api
from tests.lib.receiver import SECRET, Receiver, receiving
from tests.lib.waiting import eventually
from wallet_api.database import Connection
from wallet_api.notify.messages import headers_of
from wallet_api.notify.rules import read_rules
from wallet_api.settings import Settings

DOCUMENT = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
NOW = datetime.now(UTC).replace(microsecond=0)
Start = Callable[..., Process[str]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def importer(database_url: str) -> Importer:
    own = Importer(database_url)
    own.wallets(WALLETS)
    return own


@pytest.fixture
def start(settings: Settings, tmp_path: Path) -> Iterator[Start]:
    """Write rules, start `notify` and wait until it follows."""
    with ExitStack() as stack:

        def run(rules: str) -> Process[str]:
            file = tmp_path / "rules.toml"
            file.write_text(rules)
            process = wallet_api("notify", "--rules", str(file), "--allow-private", settings=settings)
            stack.callback(process.communicate)
            stack.callback(process.kill)
            assert process.stdout is not None
            for line in process.stdout:
                if "targets" in line:
                    break
            return process

        yield run


def trade(signature: str, minutes: float = 60, address: str = ANN, **fields: Any) -> Row:
    """A buy of one token for one SOL, so many minutes ago."""
    return trade_row(address, signature, NOW - timedelta(minutes=minutes), **fields)


def rules_of(receiver: Receiver, rules: str, **paths: str) -> str:
    """Targets of the receiver by name, each with its path, and rules."""
    targets = "".join(
        f'[targets.{name}]\nurl = "{receiver.url}{path}"\nsecrets = ["{SECRET}"]\n'
        for name, path in (paths or {"bot": "/"}).items()
    )
    return targets + rules


ALL = '[rules.all]\ntargets = ["bot"]\n'


def begun(connection: Connection) -> bool:
    """Whether the place in the feed is kept."""
    return connection.execute("SELECT FROM notify_place").fetchone() is not None


def test_trades_corrections_and_removals_are_told_in_their_order(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    importer.trades([trade("before")])
    start(rules_of(receiver, '[rules.big]\ntargets = ["bot"]\nmin_value = 2\ntransaction_type = "buy"\n'))
    assert eventually(lambda: begun(connection))
    importer.trades(
        [trade("small"), trade("big", value="2.5"), trade("sold", transaction_type="sell", value="9")]
    )
    # What was reported is corrected also where it no longer matches; what was not is a trade once it matches.
    for change, reported in (
        (None, ("trade", "big")),
        (lambda: importer.trades([trade("big", value="1")]), ("correction", "big")),
        (lambda: importer.trades([trade("small", value="3")]), ("trade", "small")),
        (lambda: importer.remove_trades([trade("big"), trade("before")]), ("removal", "big")),
        (lambda: importer.trades([trade("big", value="2.5")]), ("trade", "big")),
    ):
        if change is not None:
            change()
        assert eventually(lambda reported=reported: receiver.reported()[-1:] == [reported]), (
            receiver.reported()
        )
    assert len(receiver.reported()) == 5
    assert all(one.is_signed for one in receiver.received)
    assert len({one.id for one in receiver.received}) == 5
    first = receiver.received[0].document
    assert (first["rule"], first["data"]["value"], first["data"]["profile"]["wallet_address"]) == (
        "big",
        2.5,
        ANN,
    )


def test_a_target_that_fails_delays_no_other_and_gets_all_under_the_same_ids(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    answers = iter([500, 302, 500])
    receiver.behaviours["/bad"] = lambda: next(answers, 200)
    rules = '[rules.all]\ntargets = ["bad", "good"]\n'
    start(rules_of(receiver, rules, bad="/bad", good="/good"))
    assert eventually(lambda: begun(connection))
    importer.trades([trade("a"), trade("b")])
    assert eventually(lambda: len(receiver.accepted("/good")) == 2, 5)
    assert len(receiver.accepted("/bad")) < 2
    assert eventually(lambda: receiver.reported("/bad") == [("trade", "a"), ("trade", "b")], 30)
    tries = [one.id for one in receiver.received if one.path == "/bad"]
    assert (len(tries), len(set(tries))) == (5, 2)
    assert not [one for one in receiver.received if one.path == "/elsewhere"]


def test_killed_at_any_instant_it_loses_nothing_and_repeats_only_under_the_same_id(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    chance = random.Random(5)
    receiver.behaviours["/"] = lambda: chance.choice([204, 204, 204, 500])
    process = start(rules_of(receiver, ALL))
    assert eventually(lambda: begun(connection))
    for number in range(6):
        importer.trades([trade(f"t{number}-{part}", 60 - number) for part in range(3)])
        time.sleep(chance.uniform(0, 0.8))
        process.kill()
        process.wait()
        process = start(rules_of(receiver, ALL))
    expected = [("trade", f"t{number}-{part}") for number in range(6) for part in range(3)]
    assert eventually(lambda: len(receiver.accepted()) == len(expected), 60)
    assert sorted(receiver.reported()) == expected
    assert [one[1][:2] for one in receiver.reported()] == [one[1][:2] for one in expected]
    ids: dict[str, str] = {}
    for one in receiver.received:
        assert ids.setdefault(one.id, one.body) == one.body


def test_what_is_told_again_after_a_restore_has_the_same_id(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    process = start(rules_of(receiver, ALL))
    assert eventually(lambda: begun(connection))
    cursor = connection.fetch_value("SELECT cursor FROM notify_place")
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) == 1)
    process.terminate()
    process.wait()
    connection.execute("UPDATE notify_place SET cursor = %(cursor)s", {"cursor": cursor})
    connection.execute("DELETE FROM notify_reported")
    start(rules_of(receiver, ALL))
    assert eventually(lambda: len(receiver.received) == 2)
    assert receiver.received[0].id == receiver.received[1].id


def test_a_cluster_is_told_once_and_what_breaks_it_too(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    start(rules_of(receiver, f'{ALL}transaction_type = "buy"\ncluster = {{wallets = 2, hours = 6}}\n'))
    assert eventually(lambda: begun(connection))
    importer.trades([trade("a", 50), trade("early", 600, BEN)])
    importer.trades([trade("b", 40, BEN)])
    importer.trades([trade("c", 30, BEN)])
    assert eventually(lambda: len(receiver.received) == 1)
    cluster = receiver.received[0].document
    assert (cluster["type"], sorted(cluster["wallets"])) == ("cluster", sorted([ANN, BEN]))
    importer.remove_trades([trade("a", 50)])
    assert eventually(lambda: receiver.reported()[1:] == [("cluster_broken", "a")])
    importer.trades([trade("a", 50)])
    assert eventually(
        lambda: [type for type, _ in receiver.reported()] == ["cluster", "cluster_broken", "cluster"]
    )


def test_a_removed_wallet_and_a_purge_take_back_what_was_reported(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    start(rules_of(receiver, ALL))
    assert eventually(lambda: begun(connection))
    importer.trades([trade("a"), trade("b", 60, BEN), trade("old", 60 * 24 * 90, BEN)])
    assert eventually(lambda: len(receiver.received) == 3)
    importer.remove_wallets([{"blockchain": "solana", "wallet_address": ANN}])
    assert eventually(lambda: receiver.reported()[3:] == [("wallet_removal", "")])
    assert receiver.received[3].document["data"]["profile"]["wallet_address"] == ANN


def test_a_flood_is_held_back_as_one_message(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    target = f'[targets.bot]\nurl = "{receiver.url}/"\nsecrets = ["{SECRET}"]\nper_minute = 3\n'
    start(target + ALL)
    assert eventually(lambda: begun(connection))
    importer.trades([trade(f"t{number}", 60 - number / 10) for number in range(40)])
    assert eventually(lambda: any("held_back" in one.body for one in receiver.received), 40)
    reported = [one.document for one in receiver.accepted()]
    held = next(one for one in reported if one["type"] == "held_back")
    assert len(reported) - 1 + held["data"]["count"] == 40
    result = run_command("notify", "status", "--json", settings=settings)
    assert f'"held_back":{held["data"]["count"]}' in result.output


def test_a_target_that_fails_for_three_days_is_paused_until_it_is_resumed(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda: 500
    start(rules_of(receiver, ALL))
    assert eventually(lambda: begun(connection))
    importer.trades([trade("a"), trade("b", 50)])
    failing = "UPDATE notify_targets SET failing_since = failing_since - interval '3 days'"
    assert eventually(lambda: connection.execute(failing).rowcount == 1)
    paused = "SELECT FROM notify_targets WHERE paused_at IS NOT NULL"
    assert eventually(lambda: connection.execute(paused).fetchone() is not None, 20)
    status = run_command("notify", "status", settings=settings)
    assert "paused: HTTP 500" in status.output
    receiver.behaviours.clear()
    resumed = run_command("notify", "resume", "bot", settings=settings)
    assert "2 messages will be sent." in resumed.output
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")], 20)
    assert "There is no target 'none'" in run_command("notify", "resume", "none", settings=settings).output


def test_the_rules_are_read_again_on_sighup_and_stay_with_faults(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, tmp_path: Path
) -> None:
    process = start(rules_of(receiver, f'{ALL}mint = "none"\n'))
    assert eventually(lambda: begun(connection))
    assert process.stdout is not None
    for rules, line in (("[rules.all]\n", "stay as they were"), (rules_of(receiver, ALL), "read 1 rules")):
        (tmp_path / "rules.toml").write_text(rules)
        process.send_signal(signal.SIGHUP)
        assert any(line in text for text in process.stdout)
    importer.trades([trade("a")])
    assert eventually(lambda: receiver.reported() == [("trade", "a")])


def test_a_template_makes_the_body_and_a_name_writes_no_json(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    template = """template = '{"text": "${wallet_name}: ${transaction_type} ${token_name}"}'\n"""
    target = f'[targets.bot]\nurl = "{receiver.url}/"\nsecrets = ["{SECRET}"]\n{template}'
    start(target + ALL)
    assert eventually(lambda: begun(connection))
    importer.trades([trade("a", token_name='"}, "admin": "')])
    assert eventually(lambda: len(receiver.received) == 1)
    assert receiver.received[0].document["text"].endswith('buy "}, "admin": "')


RECEIVERS = re.findall(r"^```(python|javascript)\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
USES = {
    "python": """
import json, sys
for headers, body in json.load(sys.stdin):
    try:
        print(receive(headers, body.encode()))
    except ValueError:
        print("refused")
""",
    "javascript": """
for (const [headers, body] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  try { console.log(receive(headers, body) ? "True" : "False"); } catch { console.log("refused"); }
}
""",
}


@pytest.mark.parametrize(("language", "program"), RECEIVERS, ids=[name for name, _ in RECEIVERS])
def test_the_printed_receivers_accept_each_message_once_and_no_forged_one(
    language: str, program: str
) -> None:
    key, body = base64.b64decode(SECRET.removeprefix("whsec_")), '{"type":"trade","data":{"token_name":"ü"}}'
    ours = headers_of([b"x" * 32, key], "msg_1", datetime.now(UTC), body)
    forged = headers_of([b"y" * 32], "msg_2", datetime.now(UTC), body)
    old = headers_of([key], "msg_3", datetime.now(UTC) - timedelta(minutes=10), body)
    messages = json.dumps([(ours, body), (ours, body), (forged, body), (ours, body + " "), (old, body)])
    interpreter = sys.executable if language == "python" else shutil.which("node")
    if interpreter is None:
        pytest.skip("needs node")
    command = [interpreter, "-c" if language == "python" else "-e", program + USES[language]]
    environment = os.environ | {"SECRETS": SECRET}
    done = run_program(command, input=messages, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["True", "False", "refused", "refused", "refused"]


def test_the_printed_rules_are_rules(tmp_path: Path) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    file = tmp_path / "rules.toml"
    file.write_text(text)
    rules = read_rules(file)
    assert sorted(rules.targets) == ["bot", "chat"]
    assert [rule.name for rule in rules.rules] == ["large-buys", "friends", "together"]

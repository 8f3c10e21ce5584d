"""What receivers refuse, limit and abort; what is set aside, retried and let go."""

import json
import random
import time
from typing import Any

from tests.ledger.in_process import Importer
from tests.lib.processes import run_command
from tests.lib.receiver import Receiver
from tests.lib.waiting import eventually
from tests.notify.rules import ALL, Start, rules_of, trade
from wallet_api.base.http import Response
from wallet_api.database import Connection
from wallet_api.notify.sending import outcome_of
from wallet_api.settings import Settings


def state_of(settings: Settings, target: str = "bot") -> dict[str, Any]:
    """The state of a target, as `notify status` prints it."""
    document = json.loads(run_command("notify", "status", "--json", settings=settings).stdout)
    found: list[dict[str, Any]] = [each for each in document["targets"] if each["target"] == target]
    # It is known from its first message on.
    return found[0] if found else dict.fromkeys(("refused", "paused_at", "waiting"))


def test_what_is_refused_is_set_aside_after_five_tries_and_the_next_goes_out(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: 400 if '"tx_signature":"bad"' in body else 204
    start(rules_of(receiver, ALL))
    importer.trades([trade("a", 60), trade("bad", 50), trade("c", 40)])
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "c")])
    tries = [one for one in receiver.received if "bad" in one.body]
    assert (len(tries), len({one.id for one in tries})) == (5, 1)
    state = state_of(settings)
    assert (state["refused"], state["waiting"], state["paused_at"]) == (1, 0, None)
    [message] = state["refused_messages"]
    assert message.keys() == {"message_id", "rule", "status", "refused_at"}
    assert (message["message_id"], message["rule"], message["status"]) == (tries[0].id, "all", 400)
    printed = run_command("notify", "status", settings=settings).stdout
    assert f"bot refused {tries[0].id} of all at {message['refused_at'][:19]}" in printed
    assert "HTTP 400" in printed
    # What was mended at the receiver is sent again, under the same id.
    receiver.behaviours.clear()
    assert "1 messages will be sent again." in run_command("notify", "retry", "bot", settings=settings).stdout
    assert eventually(lambda: len(receiver.accepted()) == 3)
    assert receiver.accepted()[2].id == tries[0].id
    assert eventually(lambda: state_of(settings)["refused"] == 0)


def test_what_was_refused_a_month_ago_is_dropped_and_counted(
    receiver: Receiver, connection: Connection, start: Start, settings: Settings
) -> None:
    connection.execute(
        "INSERT INTO notify_messages (target, rule, message_id, body, arrived_at, refused_at, status)"
        " SELECT 'bot', 'all', 'msg_' || days, '{}', now(), now() - days * interval '1 day', 400"
        " FROM unnest(ARRAY[29, 31]) AS days"
    )
    connection.execute("INSERT INTO notify_targets (target, waiting, refused) VALUES ('bot', 0, 2)")
    start(rules_of(receiver, ALL))
    assert eventually(lambda: state_of(settings)["dropped"] == 1)
    state = state_of(settings)
    assert (state["refused"], [one["message_id"] for one in state["refused_messages"]]) == (1, ["msg_29"])


def test_a_refused_message_can_be_let_go_by_its_id(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: (422, {"webhook-delivery": "abort-message"})
    start(rules_of(receiver, ALL))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) == 1)
    assert eventually(lambda: state_of(settings)["refused"] == 1)
    id = receiver.received[0].id
    assert run_command("notify", "drop", "bot", "msg_none", settings=settings).exit_code == 1
    assert run_command("notify", "drop", "bot", id, settings=settings).stdout == "1 message dropped.\n"
    state = state_of(settings)
    assert (state["refused"], state["refused_messages"], state["dropped"]) == (0, [], 1)
    assert run_command("notify", "retry", "none", settings=settings).exit_code == 1


def test_ten_refused_in_a_row_pause_the_target_and_lose_nothing(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: (403, {"webhook-delivery": "abort-message"})
    start(rules_of(receiver, ALL))
    importer.trades([trade(f"t{number:02}", 60 - number) for number in range(12)])
    assert eventually(lambda: state_of(settings)["paused_at"] is not None)
    time.sleep(1)
    state = state_of(settings)
    assert (len(receiver.received), state["refused"], state["waiting"]) == (10, 10, 2)
    assert state["failure"] == "HTTP 403"
    receiver.behaviours.clear()
    assert "is paused" in run_command("notify", "retry", "bot", settings=settings).stdout
    run_command("notify", "resume", "bot", settings=settings)
    expected = [("trade", f"t{number:02}") for number in range(12)]
    assert eventually(lambda: receiver.reported() == expected)


def test_a_message_that_is_aborted_is_set_aside_at_once_whatever_its_status(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    header = {"webhook-delivery": "abort-message"}
    receiver.behaviours["/"] = lambda body: (503, header) if '"bad"' in body else (204, header)
    start(rules_of(receiver, ALL))
    # Of one batch they are sent by their signatures.
    importer.trades([trade("bad", 60), trade("c", 50)])
    assert eventually(lambda: receiver.reported() == [("trade", "c")])
    assert len(receiver.received) == 2
    assert [each["status"] for each in state_of(settings)["refused_messages"]] == [503]


def test_a_target_that_is_gone_is_paused_and_sent_all_after_it_is_resumed(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: 410
    start(rules_of(receiver, ALL))
    importer.trades([trade("a", 60), trade("b", 50)])
    assert eventually(lambda: len(receiver.received) == 1)
    assert eventually(lambda: state_of(settings)["paused_at"] is not None)
    state = state_of(settings)
    assert (state["failure"], state["refused"], state["waiting"]) == ("HTTP 410", 0, 2)
    receiver.behaviours.clear()
    run_command("notify", "resume", "bot", settings=settings)
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")])


def test_a_receiver_that_limits_is_sent_the_next_after_the_time_that_it_states(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    receiver.behaviours["/"] = lambda body: (429, {"Retry-After": "4"}) if len(receiver.received) < 2 else 204
    start(rules_of(receiver, ALL))
    importer.trades([trade("a", 60), trade("b", 50)])
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("trade", "b")])
    first, second, third = (one.at for one in receiver.received[:3])
    assert min(second - first, third - second) >= 4
    assert state_of(settings)["refused"] == 0


def test_which_responses_are_refusals_and_how_long_one_waits_after_the_others() -> None:
    for status in (400, 401, 403, 404, 413, 422, 499):
        assert outcome_of(Response(status, {})).is_refused
    for status in (302, 408, 410, 425, 429, 500, 503):
        assert not outcome_of(Response(status, {})).is_refused
    for status, header, seconds in (
        *((429, "7", 7), (503, "1.2", 2), (429, "100000", 900), (429, "-5", None)),
        *((429, "soon", None), (400, "7", None), (503, "Fri, 01 Jan 2100 00:00:00 GMT", 900)),
    ):
        assert outcome_of(Response(status, {"Retry-After": header})).pause_seconds == seconds


def test_two_targets_at_one_receiver_have_messages_of_other_ids(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    rules = '[rules.all]\ntargets = ["bot", "chat"]\n'
    start(rules_of(receiver, rules, bot="/", chat="/"))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.accepted()) == 2)
    assert len({one.body for one in receiver.received}) == 1


def test_killed_at_any_instant_refusals_lose_and_repeat_nothing(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection, settings: Settings
) -> None:
    chance = random.Random(7)

    def answer(body: str) -> int:
        if '"bad' in body:
            return 400
        return chance.choice([204, 204, 204, 500])

    receiver.behaviours["/"] = answer
    process = start(rules_of(receiver, ALL))
    expected = []
    for number in range(4):
        importer.trades(
            [trade(f"{name}{number}", 60 - number * 2 - part) for part, name in enumerate(("t", "bad", "u"))]
        )
        expected += [("trade", f"t{number}"), ("trade", f"u{number}")]
        time.sleep(chance.uniform(0, 3))
        process.kill()
        process.wait()
        process = start(rules_of(receiver, ALL))
    assert eventually(lambda: len(receiver.accepted()) == 8, 120)
    assert eventually(lambda: state_of(settings)["refused"] == 4)
    assert sorted(receiver.reported()) == sorted(expected)
    assert [one[1][1:] for one in receiver.reported()] == [one[1][1:] for one in expected]
    aside = {each["message_id"] for each in state_of(settings)["refused_messages"]}
    assert aside == {one.id for one in receiver.received if '"bad' in one.body}
    assert connection.fetch_value("SELECT waiting FROM notify_targets") == 0

"""What receivers refuse, limit and abort; what is set aside, retried and let go."""

import time

import pytest

from tests.lib.waiting import eventually
from tests.notify.webhooks import ALL, Webhooks, trade
from wallet_api.base.http import Response
from wallet_api.notify.sending import outcome_of


def test_what_is_refused_is_set_aside_after_five_tries_and_the_next_goes_out(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 400 if '"tx_signature":"bad"' in body else 204
    webhooks.start(ALL)
    webhooks.trades(trade("a", 60), trade("bad", 50), trade("c", 40))
    webhooks.await_reported(("trade", "a"), ("trade", "c"))
    tries = [one for one in webhooks.receiver.received if "bad" in one.body]
    assert (len(tries), len({one.id for one in tries})) == (5, 1)
    state = webhooks.state()
    assert (state["refused"], state["waiting"], state["paused_at"]) == (1, 0, None)
    [message] = state["refused_messages"]
    assert message.keys() == {"message_id", "rule", "status", "refused_at"}
    assert (message["message_id"], message["rule"], message["status"]) == (tries[0].id, "all", 400)
    printed = webhooks.run("status")
    assert f"bot refused {tries[0].id} of all at {message['refused_at'][:19]}" in printed
    assert "HTTP 400" in printed
    # What was mended at the receiver is sent again, under the same id.
    webhooks.receiver.behaviours.clear()
    assert "1 messages will be sent again." in webhooks.run("retry", "bot")
    webhooks.await_count(3)
    assert webhooks.receiver.accepted()[2].id == tries[0].id
    webhooks.await_state("refused", 0)


def test_what_was_refused_a_month_ago_is_dropped_and_counted(webhooks: Webhooks) -> None:
    webhooks.connection.execute(
        "INSERT INTO notify_messages (target, rule, message_id, body, arrived_at, refused_at, status)"
        " SELECT 'bot', 'all', 'msg_' || days, '{}', now(), now() - days * interval '1 day', 400"
        " FROM unnest(ARRAY[29, 31]) AS days"
    )
    webhooks.connection.execute("INSERT INTO notify_targets (target, waiting, refused) VALUES ('bot', 0, 2)")
    webhooks.start(ALL)
    webhooks.await_state("dropped", 1)
    state = webhooks.state()
    assert (state["refused"], [one["message_id"] for one in state["refused_messages"]]) == (1, ["msg_29"])


@pytest.mark.parametrize(
    ("answer", "refused", "tries"), [((403, {"webhook-delivery": "abort-message"}), 10, 10), (410, 0, 1)]
)
def test_ten_refused_in_a_row_or_one_that_is_gone_pause_the_target_and_lose_nothing(
    webhooks: Webhooks, answer: int | tuple[int, dict[str, str]], refused: int, tries: int
) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: answer
    webhooks.start(ALL)
    webhooks.trades(*(trade(f"t{number:02}", 60 - number) for number in range(12)))
    assert eventually(lambda: webhooks.state()["paused_at"] is not None)
    time.sleep(1)
    state = webhooks.state()
    assert len(webhooks.receiver.received) == tries
    assert (state["refused"], state["waiting"]) == (refused, 12 - refused)
    assert state["failure"] == f"HTTP {answer if isinstance(answer, int) else answer[0]}"
    webhooks.receiver.behaviours.clear()
    assert "is paused" in webhooks.run("retry", "bot")
    webhooks.run("resume", "bot")
    webhooks.await_reported(*(("trade", f"t{number:02}") for number in range(12)))


def test_a_message_that_is_aborted_is_set_aside_at_once_and_let_go_by_its_id(webhooks: Webhooks) -> None:
    header = {"webhook-delivery": "abort-message"}
    webhooks.receiver.behaviours["/"] = lambda body: (503, header) if '"bad"' in body else (204, header)
    webhooks.start(ALL)
    # Of one batch they are sent by their signatures.
    webhooks.trades(trade("bad", 60), trade("c", 50))
    webhooks.await_reported(("trade", "c"))
    assert len(webhooks.receiver.received) == 2
    [message] = webhooks.state()["refused_messages"]
    assert message["status"] == 503
    assert "'bot' refused no message 'msg_none'" in webhooks.run("drop", "bot", "msg_none")
    assert webhooks.run("drop", "bot", message["message_id"]).endswith("\n1 message dropped.\n")
    state = webhooks.state()
    assert (state["refused"], state["refused_messages"], state["dropped"]) == (0, [], 1)
    assert "There is no target 'none'" in webhooks.run("retry", "none")


def test_a_receiver_that_limits_is_sent_the_next_after_the_time_that_it_states(webhooks: Webhooks) -> None:
    received = webhooks.receiver.received
    webhooks.receiver.behaviours["/"] = lambda body: (429, {"Retry-After": "4"}) if len(received) < 2 else 204
    webhooks.start(ALL)
    webhooks.trades(trade("a", 60), trade("b", 50))
    webhooks.await_reported(("trade", "a"), ("trade", "b"))
    first, second, third = (one.at for one in received[:3])
    assert min(second - first, third - second) >= 4
    assert webhooks.state()["refused"] == 0


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


def test_two_targets_at_one_receiver_have_messages_of_other_ids(webhooks: Webhooks) -> None:
    rules = '[rules.all]\ntargets = ["bot", "chat"]\n'
    webhooks.start(rules, bot="/", chat="/")
    webhooks.trades(trade("a"))
    webhooks.await_count(2)
    assert len({one.body for one in webhooks.receiver.received}) == 1

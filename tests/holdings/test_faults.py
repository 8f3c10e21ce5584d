"""A provider with every fault: the right response in time, no secret in it, and no useless request."""

import logging
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.holdings.conftest import (
    Hold,
    Send,
    SendAt,
    active,
    has_loaded,
    machine_delays,
    save_snapshot,
    until,
)
from tests.lib.waiting import calm_seconds
from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from wallet_api.database import Connection
from wallet_api.settings import Settings

WAIT = 1.5
GOOD = 200
DOWN = 503
LATER = "loading"
SECRETS = ("MORALIS-SECRET", "ALCHEMY-SECRET", "NODE-SECRET")


@dataclass(frozen=True)
class Fault:
    """A fault: the first and the last response, its name in the log, and the number of requests."""

    scenario: Scenario | None
    first: int | str = DOWN
    last: int = DOWN
    outcome: str = "malformed"
    requests: int | None = 3


def _faults(stub: Stub) -> dict[str, Fault]:
    slow = b"{" + b" " * 100 + b"}"
    retried = faults.in_turn(faults.status(500), faults.status(503))
    return {
        "none": Fault(None, GOOD, GOOD, "ok", 1),
        "429 then well": Fault(faults.in_turn(faults.status(429)), GOOD, GOOD, "ok", 2),
        "500 and 503 then well": Fault(retried, GOOD, GOOD, "ok", 3),
        "429 with a pause": Fault(faults.in_turn(faults.status(429, Retry_After="2")), LATER, GOOD, "ok", 2),
        "slow first byte": Fault(faults.hang(stub.release, 0.3), GOOD, GOOD, "ok", 1),
        "no byte": Fault(faults.hang(stub.release), LATER, DOWN, "timeout", None),
        "dripping body": Fault(faults.drip(slow, 0.1), LATER, DOWN, "timeout", None),
        "dripping headers": Fault(faults.drip_headers(0.1), LATER, DOWN, "timeout", None),
        "400": Fault(faults.status(400), outcome="rejected", requests=1),
        "401": Fault(faults.status(401, "Token is invalid format"), outcome="bad_key", requests=1),
        "403": Fault(faults.status(403), outcome="bad_key", requests=1),
        "404": Fault(faults.status(404), outcome="rejected", requests=1),
        "413": Fault(faults.status(413), outcome="too_large", requests=1),
        "429": Fault(faults.status(429), outcome="rate_limited"),
        "500": Fault(faults.status(500, SECRETS[0]), outcome="server_error"),
        "502 of a proxy": Fault(faults.raw(b"<html></html>", "text/html", 502), outcome="server_error"),
        "504": Fault(faults.status(504), outcome="server_error"),
        "redirect": Fault(faults.status(302, Location="https://elsewhere.example/")),
        "204": Fault(faults.status(204)),
        "HTML": Fault(faults.raw(b"<html>welcome</html>", "text/html")),
        "truncated": Fault(faults.raw(b'{"result": [')),
        "NaN": Fault(faults.raw(b'{"result": NaN}')),
        "Infinity": Fault(faults.raw(b'{"result": Infinity}')),
        "null": Fault(faults.raw(b"null")),
        "list": Fault(faults.raw(b"[]")),
        "empty": Fault(faults.raw(b"")),
        "deep": Fault(faults.raw(b'{"a":' + b"[" * 200_000)),
        "no UTF-8": Fault(faults.raw(b'{"a":"\xff\xfe"}')),
        "secret": Fault(faults.raw(SECRETS[0].encode())),
        "closed": Fault(faults.close(), outcome="unreachable"),
    }


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(
        settings,
        holdings_wait_seconds=WAIT,
        holdings_fetch_seconds=4.0,
        holdings_failure_seconds=60.0,
        web_threads=16,
    )


def _outcomes(caplog: pytest.LogCaptureFixture) -> Counter[str]:
    return Counter(re.findall(r"fetch provider=\S+ chain=\S+ outcome=(\S+)", caplog.text))


@pytest.mark.parametrize(
    ("chain", "provider"),
    [("eth", "moralis"), ("solana", "moralis"), ("base", "alchemy"), ("bnb", "rpc"), ("solana", "rpc")],
)
def test_every_fault_gets_the_right_response_in_time_without_a_key_in_it(
    send_at: SendAt, track: Hold, stub: Stub, caplog: pytest.LogCaptureFixture, chain: str, provider: str
) -> None:
    send = send_at(**{f"{chain}_provider": provider})
    wanted = _faults(stub)
    wallets = {name: track(chain, native=5) for name in wanted}
    stub.scenarios |= {wallets[name]: fault.scenario for name, fault in wanted.items() if fault.scenario}

    def call(name: str) -> tuple[float, TestResponse, TestResponse]:
        began = time.monotonic()
        first = send(chain, wallets[name])
        seconds = time.monotonic() - began
        return seconds, first, until(partial(send, chain, wallets[name]), has_loaded)

    # Fewer than half of the threads, so that each may wait.
    with caplog.at_level(logging.DEBUG), ThreadPoolExecutor(7) as pool, machine_delays(stub) as delays:
        found = dict(zip(wanted, pool.map(call, wanted), strict=True))
    states = {
        name: (LATER if first.status_code == GOOD and active(first)["loading"] else first.status_code, last)
        for name, (_, first, last) in found.items()
    }
    # A request that has waited for so long, as on a busy machine, is answered before there is an outcome.
    assert {name: (first, last.status_code) for name, (first, last) in states.items()} == {
        name: (LATER if found[name][0] >= WAIT else fault.first, fault.last) for name, fault in wanted.items()
    }
    limit = WAIT + 0.5 + max(delays)
    assert {name: seconds for name, (seconds, _, _) in found.items() if seconds > limit} == {}
    for _, first, last in found.values():
        if last.status_code == DOWN:
            assert int(last.headers["Retry-After"]) >= 1
        else:
            (native,) = active(last)["tokens"]
            assert (native["token_address"], native["amount"]) == ("native", "5")
        shown = f"{first.headers} {first.text} {last.headers} {last.text} {caplog.text}"
        assert [secret for secret in SECRETS if secret in shown] == []
    if (chain, provider) == ("eth", "moralis"):
        assert _outcomes(caplog) == Counter(fault.outcome for fault in wanted.values())
        requests = {name: stub.requested[wallets[name]] for name, fault in wanted.items() if fault.requests}
        assert requests == {name: fault.requests for name, fault in wanted.items() if fault.requests}


def test_a_provider_that_sends_too_much_for_every_wallet_gets_no_more_requests(
    send_at: SendAt, track: Hold, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    # A body without end is cut off.
    stub.scenarios["moralis"] = faults.endless(b"x" * 65536)
    send = send_at(holdings_fetch_seconds=20.0, holdings_breaker_failures=2)
    caplog.set_level(logging.INFO)
    for _ in range(2):
        address = track("eth")
        response = until(partial(send, "eth", address), has_loaded)
        assert (response.status_code, stub.requested[address]) == (DOWN, 1)
        assert "more tokens" not in response.json["error"]["message"]
        # It is not kept as long as a wallet that is too large.
        assert int(response.headers["Retry-After"]) < 100
    # A fault of the provider: the list of a wallet has pages.
    assert _outcomes(caplog) == {"oversized": 2}
    spared = track("eth")
    assert until(partial(send, "eth", spared), has_loaded).status_code == DOWN
    assert stub.requested[spared] == 0


def test_a_wallet_whose_list_is_too_large_for_its_node_is_no_fault_of_it(
    send_at: SendAt, track: Hold, stub: Stub
) -> None:
    address = track("solana")
    stub.scenarios["getTokenAccountsByOwner"] = faults.endless(b"x" * 65536)
    send = send_at(solana_provider="rpc", holdings_fetch_seconds=20.0)
    response = until(partial(send, "solana", address), has_loaded)
    assert response.status_code == DOWN
    assert "more tokens" in response.json["error"]["message"]


def test_the_pause_that_the_provider_requests_is_respected(send_at: SendAt, track: Hold, stub: Stub) -> None:
    send = send_at(holdings_wait_seconds=4.0)
    # A date has no fractions of a second.
    in_two_seconds = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    for pause, least_seconds in ((in_two_seconds, 0.5), ("1", 1.0)):
        address = track("eth")
        stub.scenarios[address] = faults.in_turn(faults.status(503, Retry_After=pause))
        began, calm = time.monotonic(), calm_seconds()
        assert active(send("eth", address))["loading"] is False
        assert time.monotonic() - began >= least_seconds
        assert calm_seconds() - calm < 3.0


@pytest.mark.parametrize(
    ("header", "seconds", "requests"),
    [("30", 30, 1), ("999999999", 60, 1), ("-5", 20, 3), ("soon", 20, 3), ("1e3", 20, 3)],
)
def test_a_pause_longer_than_the_time_left_is_passed_on(
    send_at: SendAt, track: Hold, stub: Stub, header: str, seconds: int, requests: int
) -> None:
    address = track("eth")
    stub.scenarios[address] = faults.status(429, Retry_After=header)
    response = send_at(holdings_failure_seconds=20.0)("eth", address)
    assert seconds - 5 <= int(response.headers["Retry-After"]) <= seconds
    assert stub.requested[address] == requests


def test_repeated_failures_end_requests_for_a_while_and_one_success_ends_that(
    send_at: SendAt, connection: Connection, track: Hold, stub: Stub
) -> None:
    known = track("eth")
    save_snapshot(connection, known, age_seconds=100)
    send = send_at(holdings_breaker_failures=2, holdings_breaker_seconds=1.0, holdings_wait_seconds=0.2)
    failing, spared, first, second = [track("eth"), track("eth")], track("eth"), track("eth"), track("eth")
    stub.scenarios |= dict.fromkeys(failing, faults.status(500))
    release = threading.Event()
    stub.scenarios[first] = faults.hang(release)
    for address in failing:
        assert until(partial(send, "eth", address), has_loaded).status_code == DOWN
    refused = send("eth", spared)
    # As long as the pause, and not as a failure is remembered.
    assert (refused.status_code, refused.headers["Retry-After"]) == (DOWN, "1")
    assert active(send("eth", known))["stale"] is True
    assert stub.requested[spared] == stub.requested[known] == 0
    # After the pause one fetch is tried before all others.
    tried = until(partial(send, "eth", first), lambda response: response.status_code == GOOD)
    assert active(tried)["loading"] is True
    assert send("eth", second).status_code == DOWN
    assert stub.requested[second] == 0
    release.set()
    assert until(partial(send, "eth", first), has_loaded).status_code == GOOD
    assert send("eth", track("eth")).status_code == GOOD


@pytest.mark.parametrize(
    ("scenario", "outcome", "failures"),
    [
        (faults.status(418), "banned", 1),
        (faults.raw(b"<html>error code: 1020</html>", "text/html", 403), "banned", 1),
        (faults.status(401, faults.QUOTA), "quota", 2),
        (faults.status(403, "Monthly capacity limit exceeded"), "quota", 2),
    ],
)
def test_faults_that_further_requests_make_worse_end_requests_soon(
    send: Send,
    track: Hold,
    stub: Stub,
    caplog: pytest.LogCaptureFixture,
    scenario: Scenario,
    outcome: str,
    failures: int,
) -> None:
    failing, spared = [track("eth") for _ in range(failures)], track("eth")
    stub.scenarios |= dict.fromkeys(failing, scenario)
    with caplog.at_level(logging.INFO):
        for address in failing:
            assert send("eth", address).status_code == DOWN
            assert stub.requested[address] == 1
    assert _outcomes(caplog) == {outcome: failures}
    assert send("eth", spared).status_code == DOWN
    assert stub.requested[spared] == 0


def test_faults_of_one_wallet_leave_the_others_alone(send_at: SendAt, track: Hold, stub: Stub) -> None:
    send = send_at(holdings_breaker_failures=1)
    for scenario in (faults.status(400), faults.status(413), faults.raw(b"null")):
        address = track("eth")
        stub.scenarios[address] = scenario
        assert send("eth", address).status_code == DOWN
    assert send("eth", track("eth")).status_code == GOOD


def test_each_fetch_writes_one_line_and_is_counted(
    client: FlaskClient, send: Send, track: Hold, stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    good, bad = track("eth"), track("eth")
    stub.scenarios[bad] = faults.status(500)
    with caplog.at_level(logging.INFO):
        for address in (good, bad):
            send("eth", address)
    lines = [record.getMessage() for record in caplog.records if "fetch provider=" in record.getMessage()]
    for line, outcome, calls in zip(lines, ("ok", "server_error"), (2, 3), strict=True):
        pattern = rf"provider=moralis chain=eth outcome={outcome} ms=\d+ bytes=\d+ calls={calls} left_out=0 "
        assert re.search(pattern, line)
    metrics = client.get("/metrics").text
    for outcome in ("ok", "server_error"):
        labels = f'{{chain="eth",outcome="{outcome}",provider="moralis"}}'
        assert f"wallet_api_holdings_fetches_total{labels} 1.0" in metrics
    labels = '{chain="eth",provider="moralis"}'
    assert f"wallet_api_holdings_fetch_seconds_count{labels} 2.0" in metrics
    assert re.search(rf"wallet_api_holdings_fetched_bytes_total{re.escape(labels)} [1-9]", metrics)

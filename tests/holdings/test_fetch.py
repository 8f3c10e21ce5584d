"""Fetches: no reply, however malformed, slow or large, exceeds the deadline or reveals a secret."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from wallet_api.providers.faults import (
    BadKey,
    Banned,
    BreakerOpen,
    Broken,
    Malformed,
    Overloaded,
    ProviderFault,
    QuotaExhausted,
    Rejected,
    TimedOut,
    TooLarge,
    Unreachable,
)
from wallet_api.providers.fetch import Fetcher, Limits
from wallet_api.providers.metrics import FetchMetrics
from wallet_api.providers.replies import Reply, read_json

LIMITS = Limits(
    connect_seconds=0.3,
    silence_seconds=0.3,
    total_seconds=1.0,
    max_bytes=1_000_000,
    backoff_seconds=0.01,
    breaker_failures=1000,
    breaker_seconds=0.2,
)
ADDRESS = "9Mt5Z4k49NYa1va4i91nziJURWS1KmkVMxSd6BiLhESL"
SECRET = "TOP-SECRET"

Go = Callable[..., Any]


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def make_fetcher(registry: CollectorRegistry) -> Callable[..., Fetcher]:
    def make(**limits: Any) -> Fetcher:
        return Fetcher("stub", replace(LIMITS, **limits), FetchMetrics(registry), {"X-API-Key": SECRET})

    return make


@pytest.fixture
def go(stub: Stub, make_fetcher: Callable[..., Fetcher]) -> Go:
    """Fetch the wallet once; the provider responds with this scenario."""

    def go(scenario: Scenario | None = None, fetcher: Fetcher | None = None, **limits: Any) -> Any:
        if scenario is not None:
            stub.scenarios[ADDRESS] = scenario
        with (fetcher or make_fetcher(**limits)).begin("solana") as fetch:
            return fetch.get(f"{stub.url}/account/mainnet/{ADDRESS}/balance", {"secret": SECRET}, read)

    return go


def read(reply: Reply) -> Any:
    return read_json(reply.body, dict[str, Any])


def test_a_good_reply_is_read(go: Go) -> None:
    assert go() == {"lamports": "0", "solana": "0"}


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(go: Go, stub: Stub, code: int) -> None:
    assert go(faults.in_turn(faults.status(code), faults.status(code))) == {"lamports": "0", "solana": "0"}
    assert stub.asked[ADDRESS] == 3


@pytest.mark.parametrize(
    ("scenario", "fault", "tries"),
    [
        (faults.status(400), Rejected, 1),
        (faults.status(401, "Token is invalid format"), BadKey, 1),
        (faults.status(401, faults.QUOTA), QuotaExhausted, 1),
        (faults.status(403), BadKey, 1),
        (faults.status(403, "Monthly capacity limit exceeded"), QuotaExhausted, 1),
        (faults.raw(b"<html>error code: 1020</html>", "text/html", 403), Banned, 1),
        (faults.status(404), Rejected, 1),
        (faults.status(413), TooLarge, 1),
        (faults.status(418), Banned, 1),
        (faults.status(429), Overloaded, 3),
        (faults.status(500), Broken, 3),
        (faults.raw(b"<html>bad gateway</html>", "text/html", 502), Broken, 3),
        (faults.status(302, Location="https://elsewhere.example/"), Malformed, 3),
        (faults.status(204), Malformed, 3),
        (faults.raw(b"<html>welcome</html>", "text/html"), Malformed, 3),
        (faults.raw(b'{"lamports": "1"'), Malformed, 3),
        (faults.raw(b'{"lamports": NaN}'), Malformed, 3),
        (faults.raw(b'{"lamports": Infinity}'), Malformed, 3),
        (faults.raw(b"null"), Malformed, 3),
        (faults.raw(b"[]"), Malformed, 3),
        (faults.raw(b""), Malformed, 3),
        (faults.raw(b'{"a":' + b"[" * 200_000), Malformed, 3),
        (faults.raw(b'{"a":"\xff\xfe"}'), Malformed, 3),
        (faults.close(), Unreachable, 3),
    ],
)
def test_each_refusal_is_named_and_only_what_may_pass_is_tried_again(
    go: Go, stub: Stub, scenario: Scenario, fault: type[ProviderFault], tries: int
) -> None:
    with pytest.raises(fault):
        go(scenario)
    assert stub.asked[ADDRESS] == tries


def test_a_port_without_a_listener_is_unreachable(make_fetcher: Callable[..., Fetcher]) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/{SECRET}"
        with pytest.raises(Unreachable), make_fetcher().begin("solana") as fetch:
            fetch.get(url, {}, read)


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(lambda release: faults.hang(release), id="silence"),
        pytest.param(
            lambda release: faults.drip(b'{"a": "' + b"x" * 1000 + b'"}', 0.1), id="a dripping body"
        ),
        pytest.param(lambda release: faults.drip_headers(0.1), id="dripping headers"),
    ],
)
def test_nothing_outlasts_the_deadline(go: Go, scenario: Callable[[threading.Event], Scenario]) -> None:
    began = time.monotonic()
    release = threading.Event()
    with pytest.raises(TimedOut):
        go(scenario(release))
    release.set()
    assert time.monotonic() - began < LIMITS.total_seconds + 0.3


def test_a_slow_reply_within_the_time_is_read(go: Go) -> None:
    assert go(faults.drip(b'{"a": 1}', 0.05)) == {"a": 1}


def test_a_body_without_end_is_cut_at_the_cap(go: Go) -> None:
    began = time.monotonic()
    with pytest.raises(TooLarge):
        go(faults.endless(b"x" * 65536), total_seconds=5.0)
    assert time.monotonic() - began < 3


def test_the_pause_that_the_provider_requests_is_respected(go: Go) -> None:
    began = time.monotonic()
    go(faults.in_turn(faults.status(429, Retry_After="1")), total_seconds=5.0)
    assert 1.0 <= time.monotonic() - began < 2.0


def test_the_pause_may_be_a_date(go: Go) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    began = time.monotonic()
    go(faults.in_turn(faults.status(503, Retry_After=date)), total_seconds=5.0)
    assert 0.5 <= time.monotonic() - began < 3.0


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120), ("999999999", 3600), ("-5", None), ("soon", None), ("1e3", None)]
)
def test_a_pause_longer_than_the_time_left_is_not_waited_for(
    go: Go, stub: Stub, header: str, seconds: float | None
) -> None:
    began = time.monotonic()
    with pytest.raises(Overloaded) as caught:
        go(faults.status(429, Retry_After=header))
    assert caught.value.retry_after_seconds == seconds
    assert stub.asked[ADDRESS] == (1 if seconds else 3)
    assert time.monotonic() - began < LIMITS.total_seconds


def test_repeated_failures_open_the_breaker_and_one_success_closes_it(
    go: Go, stub: Stub, make_fetcher: Callable[..., Fetcher]
) -> None:
    fetcher = make_fetcher(breaker_failures=2)
    stub.scenarios[ADDRESS] = faults.status(500)
    for _ in range(2):
        with pytest.raises(Broken):
            go(fetcher=fetcher)
    before = stub.asked[ADDRESS]
    with pytest.raises(BreakerOpen) as caught:
        go(fetcher=fetcher)
    assert 0 < caught.value.retry_after_seconds <= LIMITS.breaker_seconds
    assert stub.asked[ADDRESS] == before
    del stub.scenarios[ADDRESS]
    time.sleep(fetcher.breaker.remaining_seconds())
    assert go(fetcher=fetcher) == go(fetcher=fetcher)


def test_after_the_pause_one_fetch_is_admitted_before_all_others(
    go: Go, make_fetcher: Callable[..., Fetcher]
) -> None:
    fetcher = make_fetcher(breaker_failures=1)
    with pytest.raises(Broken):
        go(faults.status(500), fetcher=fetcher)
    time.sleep(fetcher.breaker.remaining_seconds())
    fetcher.breaker.admit()
    with pytest.raises(BreakerOpen):
        fetcher.breaker.admit()


@pytest.mark.parametrize(
    ("scenario", "failures"),
    [
        (faults.status(418), 1),
        (faults.raw(b"<html>1020</html>", "text/html", 403), 1),
        (faults.status(401, faults.QUOTA), 2),
    ],
)
def test_faults_that_further_requests_make_worse_open_the_breaker_soon(
    go: Go, make_fetcher: Callable[..., Fetcher], scenario: Scenario, failures: int
) -> None:
    fetcher = make_fetcher()
    for _ in range(failures):
        with pytest.raises(ProviderFault):
            go(scenario, fetcher=fetcher)
    with pytest.raises(BreakerOpen):
        go(fetcher=fetcher)


def test_failures_that_are_about_one_wallet_leave_the_breaker_shut(
    go: Go, make_fetcher: Callable[..., Fetcher]
) -> None:
    fetcher = make_fetcher(breaker_failures=1)
    for scenario in (faults.status(400), faults.status(413), faults.raw(b"null")):
        with pytest.raises(ProviderFault):
            go(scenario, fetcher=fetcher)
    assert go(faults.document({}), fetcher=fetcher) == {}


@pytest.mark.parametrize(
    "scenario",
    [
        faults.status(401, SECRET),
        faults.status(500, SECRET),
        faults.raw(SECRET.encode()),
        faults.close(),
        faults.drip(b"{", 0.4),
    ],
)
def test_no_fault_and_no_log_line_reveals_a_secret(
    go: Go, caplog: pytest.LogCaptureFixture, scenario: Scenario
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ProviderFault) as caught:
        go(scenario)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in f"{error!r} {error} {vars(error)}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    assert SECRET not in caplog.text


def test_each_fetch_writes_one_line_and_is_counted(
    go: Go,
    registry: CollectorRegistry,
    make_fetcher: Callable[..., Fetcher],
    caplog: pytest.LogCaptureFixture,
) -> None:
    fetcher = make_fetcher()
    with caplog.at_level(logging.INFO):
        go(fetcher=fetcher)
        with pytest.raises(Broken):
            go(faults.status(500), fetcher=fetcher)
    good, bad = (record.getMessage() for record in caplog.records)
    assert "provider=stub chain=solana outcome=ok ms=" in good
    assert "bytes=29 calls=1 left_out=0" in good
    assert "outcome=server_error" in bad
    assert "calls=3" in bad
    for outcome in ("ok", "server_error"):
        labels = {"provider": "stub", "chain": "solana", "outcome": outcome}
        assert registry.get_sample_value("wallet_api_holdings_fetches_total", labels) == 1
    labels = {"provider": "stub", "chain": "solana"}
    assert registry.get_sample_value("wallet_api_holdings_fetch_seconds_count", labels) == 2
    assert registry.get_sample_value("wallet_api_holdings_fetched_bytes_total", labels) > 29

"""`wallet-api sync trades` when the provider fails: no partial wallet, no delay of others, few requests."""

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, repeat
from typing import Any

import pytest
from flask import Response, request

from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from tests.stub.swaps import leg, swap
from tests.stub.transactions import WRAPPED
from tests.sync.operator import Operator, addresses
from tests.sync.solana import FART

WALLETS = addresses("solana", 12)
PAGE_ROWS = 4
ROWS = 10
NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(autouse=True)
def _world(stub: Stub, operator: Operator) -> None:
    """Twelve wallets with ten trades each, on three pages."""
    operator.track(*(("solana", address) for address in WALLETS))
    stub.swaps.page_rows = PAGE_ROWS
    for address in WALLETS:
        rows = (
            swap(f"{address}{n}", NOW - timedelta(minutes=50 - n), leg(FART, "1"), leg(WRAPPED, "1"), 1.0)
            for n in range(ROWS)
        )
        stub.swaps.add("solana", address, *rows)


def trades_of(operator: Operator, address: str) -> int:
    return sum(key[1] == address for key in operator.ledger())


def test_a_page_that_always_fails_fails_its_wallet_whole_and_no_other(stub: Stub, operator: Operator) -> None:
    bad = {
        WALLETS[1]: ("server_error", faults.status(500)),
        WALLETS[3]: ("rate_limited", faults.status(429)),
        WALLETS[4]: ("rejected", faults.status(400)),
        WALLETS[6]: ("malformed", faults.document({"cursor": None, "result": "none"})),
        WALLETS[9]: ("unreachable", faults.close()),
    }
    stub.scenarios |= {address: faults.later_pages(fault) for address, (_, fault) in bad.items()}
    outcomes = {address: outcome for address, (outcome, _) in bad.items()}
    done = operator.sync()
    assert (done.status, done.only["synced"]) == (3, 7)
    assert done.only["failures"] == dict.fromkeys(outcomes.values(), 1)
    assert {key[1] for key in operator.ledger()} == {*WALLETS} - {*bad}
    assert len(operator.ledger()) == 7 * ROWS
    rows = operator.fetch(
        "SELECT address, synced_until, failure FROM sync_wallets JOIN wallets USING (wallet_id)"
        " WHERE failure IS NOT NULL"
    )
    assert {row["address"]: row["failure"] for row in rows} == outcomes
    assert {row["synced_until"] for row in rows} == {None}
    stub.scenarios.clear()
    done = operator.sync()
    assert (done.status, done.only["changed"]) == (0, 5 * ROWS)
    assert len(operator.ledger()) == 12 * ROWS


def test_a_sync_without_a_network_warns_once_and_names_the_setting(operator: Operator) -> None:
    nowhere = "http://127.0.0.1:9"
    done = operator.sync(MORALIS_SOLANA_URL=nowhere, COINGECKO_URL=nowhere, BINANCE_URL=nowhere)
    assert (done.status, done.only["failures"]) == (1, {"unreachable": 12})
    (warning,) = [line for line in done.text.splitlines() if "WARNING" in line and "not synced" in line]
    assert " and 2 more; check the network and MORALIS_EVM_URL, MORALIS_SOLANA_URL" in warning
    assert done.text.count("WARNING") == 1, done.text


def test_what_passes_is_retried_and_nobody_notices(stub: Stub, operator: Operator) -> None:
    stub.scenarios["moralis"] = faults.in_turn(
        *(faults.status(429), None, faults.status(503), faults.raw(b"null"), None),
        *(faults.close(), faults.status(429, Retry_After="1"), faults.raw(b"<html>", "text/html")),
    )
    done = operator.sync()
    assert (done.status, done.only["changed"]) == (0, 12 * ROWS)


def test_a_rate_limit_pauses_the_requests_of_all_threads(stub: Stub, operator: Operator) -> None:
    on_their_way = threading.Barrier(8)

    def held() -> None:
        on_their_way.wait()
        # Until the refusal has arrived.
        time.sleep(1)

    def refused() -> Response | None:
        on_their_way.wait()
        return faults.status(429, Retry_After="3")()

    stub.scenarios["moralis"] = faults.in_turn(refused, *[held] * 7)
    assert operator.sync(SYNC_THREADS="8").status == 0
    moments = [call.moment for call in stub.calls]
    assert moments[8] - moments[7] > 2.5


# A cursor that comes again, and pages that never go on in time.
@pytest.mark.parametrize(("cursors", "rows", "requests"), [(repeat("again"), ROWS, 2), (count(), 0, 20)])
def test_pages_that_lead_nowhere_end_the_reading(
    stub: Stub, operator: Operator, cursors: Iterator[Any], rows: int, requests: int
) -> None:
    page = stub.swaps.rows["solana", WALLETS[0]][:rows]
    stub.scenarios[WALLETS[0]] = lambda: faults.document({"cursor": f"{next(cursors)}", "result": page})()
    done = operator.sync()
    assert (done.only["synced"], done.only["failures"]) == (11, {"malformed": 1})
    assert stub.requested[WALLETS[0]] == requests
    assert trades_of(operator, WALLETS[0]) == 0


def test_an_empty_page_with_a_cursor_is_not_the_end(stub: Stub, operator: Operator) -> None:
    stub.scenarios[WALLETS[0]] = faults.in_turn(faults.document({"cursor": "eyJwbGFjZSI6MH0=", "result": []}))
    assert operator.sync().status == 0
    assert trades_of(operator, WALLETS[0]) == ROWS


def test_a_quota_used_up_ends_the_round_politely_until_midnight(stub: Stub, operator: Operator) -> None:
    out_of_quota = faults.status(401, faults.QUOTA)
    stub.scenarios["moralis"] = lambda: (
        out_of_quota() if sum(stub.requested[address] for address in WALLETS) > 20 else None
    )
    done = operator.sync(SYNC_THREADS="2")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).replace(hour=0, minute=0, second=0)
    assert done.status == 3
    assert done.only["stopped"] == "the provider's quota of the day is used up"
    assert done.only["pause_seconds"] == pytest.approx((tomorrow - datetime.now(UTC)).total_seconds(), abs=60)
    assert (done.only["failed"], done.only["left"]) == (0, 12 - done.only["synced"])
    # One refusal for each reader, and no more.
    assert len(stub.calls) <= 20 + 2
    assert len(operator.ledger()) == done.only["synced"] * ROWS
    del stub.scenarios["moralis"]
    stub.calls.clear()
    assert operator.sync(SYNC_THREADS="1").only["changed"] == done.only["left"] * ROWS
    # Those that had no turn come first now.
    first = {call.subject for call in stub.calls[: 3 * done.only["left"]]}
    assert len(first) == done.only["left"]


@pytest.mark.parametrize(
    ("fault", "reason", "seconds"),
    [
        (
            faults.status(401, "Token is invalid format"),
            "the provider does not accept our key (MORALIS_API_KEY)",
            600,
        ),
        (faults.raw(b"<html>1020</html>", "text/html", 403), "the provider has shut us out for a while", 600),
        (faults.status(451), "the provider does not serve this location (HTTP 451)", 365 * 86_400),
    ],
)
def test_a_refusal_that_means_all_of_us_ends_the_round_at_once(
    stub: Stub, operator: Operator, fault: Scenario, reason: str, seconds: int
) -> None:
    stub.scenarios["moralis"] = fault
    done = operator.sync()
    assert (done.status, done.only["left"], done.only["stopped"]) == (1, 12, reason)
    assert done.only["pause_seconds"] == seconds
    assert len(stub.calls) <= 4
    assert "stub" not in done.text


def test_a_provider_that_is_down_is_not_asked_for_every_wallet(stub: Stub, operator: Operator) -> None:
    operator.track(*(("solana", address) for address in addresses("solana", 200)[12:]))
    stub.scenarios["moralis"] = faults.status(500)
    done = operator.sync()
    assert (done.status, done.only["stopped"]) == (
        1,
        "the provider of MORALIS_EVM_URL, MORALIS_SOLANA_URL seems to be down",
    )
    assert 20 <= done.only["failed"] <= 20 + 3 * 4
    assert done.only["left"] == 200 - done.only["failed"]
    assert done.text.count("not synced: server_error status 500: ") == 1


def test_wallets_that_fail_in_a_row_for_their_own_reasons_hold_up_nobody(
    stub: Stub, operator: Operator
) -> None:
    # More than those after which a provider counts as down.
    bad = addresses("solana", 42)[12:]
    operator.track(*(("solana", address) for address in bad))
    stub.scenarios |= dict.fromkeys(bad, faults.status(400, "The address is not valid"))
    done = operator.sync()
    assert (done.only["synced"], done.only["failures"], done.only["stopped"]) == (12, {"rejected": 30}, None)


def test_a_slow_wallet_holds_up_nobody(stub: Stub, operator: Operator) -> None:
    release = threading.Event()
    stub.scenarios[WALLETS[0]] = faults.in_turn(faults.hang(release))
    seen: list[float] = []

    def watch() -> None:
        seen.append(time.monotonic())
        if len(seen) == 11 * 3:
            release.set()

    stub.scenarios["moralis"] = lambda: None if WALLETS[0] in request.path else watch()
    done = operator.sync()
    assert (done.status, done.only["synced"]) == (0, 12)

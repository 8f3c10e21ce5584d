"""Two gunicorn workers, and a provider with every fault: the right response in time, and never a 500."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psutil
import pytest
import requests

from tests.holdings.conftest import Hold, evm_token, solana_token
from tests.processes import Gunicorn, StartGunicorn
from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from wallet_api.settings import Settings

WAIT = 1.2
GOOD = 200
DOWN = 503
LATER = "loading"


@dataclass(frozen=True)
class Case:
    """A wallet, the fault of its provider, and the first and the last response to callers."""

    name: str
    chain: str
    at_first: int | str
    at_last: int
    scenario: Scenario | None = None
    native: int = 5


@dataclass
class Told:
    """A response, and the time it took."""

    response: requests.Response
    seconds: float

    @property
    def state(self) -> int | str:
        if self.response.status_code == GOOD and self.active["loading"]:
            return LATER
        return self.response.status_code

    @property
    def active(self) -> dict[str, Any]:
        return dict(self.response.json()["data"]["active_holdings"])


Call = Callable[[str, str], Told]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(
        settings,
        base_provider="alchemy",
        bnb_provider="rpc",
        holdings_wait_seconds=WAIT,
        holdings_fetch_seconds=4.0,
        holdings_failure_seconds=60.0,
    )


@pytest.fixture
def call_at(api_key: str) -> Callable[[Gunicorn], Call]:
    def at(server: Gunicorn) -> Call:
        def call(chain: str, address: str) -> Told:
            began = time.monotonic()
            response = requests.get(
                f"{server.url}/v1/wallets/holdings",
                params={"blockchain": chain, "address": address},
                headers={"Authorization": f"Bearer {api_key}"},
                timeout=30,
            )
            return Told(response, time.monotonic() - began)

        return call

    return at


def cases(chain: str, stub: Stub) -> list[Case]:
    """Return the faults that every provider can have, in any wire shape."""
    slow = b"{" + b" " * 100 + b"}"
    return [
        Case("normal", chain, GOOD, GOOD),
        Case("empty wallet", chain, GOOD, GOOD, native=0),
        Case("429 then well", chain, GOOD, GOOD, faults.in_turn(faults.status(429))),
        Case("429 with a pause", chain, LATER, GOOD, faults.in_turn(faults.status(429, Retry_After="2"))),
        Case("429 for ever", chain, DOWN, DOWN, faults.status(429)),
        Case("500 then well", chain, GOOD, GOOD, faults.in_turn(faults.status(500), faults.status(500))),
        Case("500 for ever", chain, DOWN, DOWN, faults.status(500)),
        Case("401 bad key", chain, DOWN, DOWN, faults.status(401, "Token is invalid format")),
        Case("401 quota", chain, DOWN, DOWN, faults.status(401, faults.QUOTA)),
        Case("slow first byte", chain, GOOD, GOOD, faults.hang(stub.release, 0.3)),
        Case("no byte at all", chain, LATER, DOWN, faults.hang(stub.release)),
        Case("drip", chain, LATER, DOWN, faults.drip(slow, 0.1)),
        Case("dripping headers", chain, LATER, DOWN, faults.drip_headers(0.1)),
        Case("truncated JSON", chain, DOWN, DOWN, faults.raw(b'{"result": [')),
        Case("HTML with 200", chain, DOWN, DOWN, faults.raw(b"<html></html>", "text/html")),
        Case("null with 200", chain, DOWN, DOWN, faults.document(None)),
        Case("connection closed", chain, DOWN, DOWN, faults.close()),
    ]


@pytest.mark.parametrize("solana_provider", ["moralis", "rpc"])
def test_every_fault_gets_the_right_response_in_time_without_a_key_in_it(
    gunicorn: StartGunicorn,
    settings: Settings,
    stub: Stub,
    track: Hold,
    call_at: Callable[[Gunicorn], Call],
    solana_provider: str,
) -> None:
    chains = ("eth", "bnb", "base", "solana") if solana_provider == "moralis" else ("solana",)
    wallets = []
    for case in (case for chain in chains for case in cases(chain, stub)):
        address = track(case.chain, native=case.native)
        if case.scenario is not None:
            stub.scenarios[address] = case.scenario
        wallets.append((case, address))
    server = gunicorn(replace(settings, solana_provider=solana_provider), workers=2, threads=16)
    call = call_at(server)
    # Fewer than half of a worker's threads, so that each may wait.
    with ThreadPoolExecutor(7) as pool, machine_delays(stub) as delays:
        first = list(pool.map(lambda wallet: call(wallet[0].chain, wallet[1]), wallets))
        last = list(pool.map(lambda wallet: _settled(call, wallet[0].chain, wallet[1]), wallets))
    met = [case for case, _ in wallets]
    told = {(case.chain, case.name): (a.state, b.state) for case, a, b in zip(met, first, last, strict=True)}
    assert told == {(case.chain, case.name): (case.at_first, case.at_last) for case in met}
    limit = WAIT + 0.5 + max(delays)
    assert [(case.name, a.seconds) for case, a in zip(met, first, strict=True) if a.seconds > limit] == []
    for case, answer in zip(met, last, strict=True):
        if answer.state == DOWN:
            assert int(answer.response.headers["Retry-After"]) >= 1
        else:
            _is_whole(answer.active, case)
    _tells_no_key(server, [*first, *last])


@contextmanager
def machine_delays(stub: Stub) -> Iterator[list[float]]:
    """Measure how long requests to the stub take in this block, as a busy machine delays all of them."""
    delays = [0.0]
    ended = threading.Event()

    def ask_on() -> None:
        while not ended.wait(0.05):
            began = time.monotonic()
            requests.get(stub.url, timeout=30)
            delays.append(time.monotonic() - began)

    asking = threading.Thread(target=ask_on)
    asking.start()
    try:
        yield delays
    finally:
        ended.set()
        asking.join()


def _settled(call: Call, chain: str, address: str) -> Told:
    """Repeat the request while it is loading, and return the response."""
    deadline = time.monotonic() + 10
    while (told := call(chain, address)).state == LATER:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return told


def _is_whole(active: dict[str, Any], case: Case) -> None:
    (native,) = active["tokens"]
    assert (native["token_address"], native["amount"]) == ("native", str(case.native)), case.name
    assert active["count"] == 1


def _tells_no_key(server: Gunicorn, answers: list[Told]) -> None:
    master = psutil.Process(server.process.pid)
    commands = [" ".join(process.cmdline()) for process in (master, *master.children(recursive=True))]
    metrics = requests.get(f"{server.url}/metrics", timeout=10).text
    told = [f"{each.response.headers} {each.response.text}" for each in answers]
    for text in (server.log, metrics, *commands, *told):
        for secret in ("MORALIS-SECRET", "ALCHEMY-SECRET", "NODE-SECRET"):
            assert secret not in text
    lines = [line for line in server.log.splitlines() if "fetch provider=" in line]
    assert all(part in lines[0] for part in ("chain=", "outcome=", "ms=", "bytes="))


def test_a_hundred_concurrent_first_requests_lead_to_one_fetch(
    gunicorn: StartGunicorn, stub: Stub, track: Hold, call_at: Callable[[Gunicorn], Call]
) -> None:
    address = track("eth", native=5, tokens=tuple(evm_token(number, 1) for number in range(250)))
    stub.scenarios[address] = faults.hang(stub.release, 0.1)
    call = call_at(gunicorn(workers=2, threads=8))
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda _: call("eth", address), range(100)))
    assert {told.response.status_code for told in answers} == {200}
    assert _settled(call, "eth", address).active["count"] == 251
    # Once each page.
    assert stub.asked[address] == 3


def test_while_a_provider_hangs_the_others_work(
    gunicorn: StartGunicorn,
    settings: Settings,
    stub: Stub,
    track: Hold,
    api_key: str,
    call_at: Callable[[Gunicorn], Call],
) -> None:
    addresses = [track("eth") for _ in range(40)]
    for address in addresses:
        stub.scenarios[address] = faults.hang(stub.release)
    patient = replace(settings, holdings_wait_seconds=3.0, holdings_fetch_seconds=60.0)
    server = gunicorn(patient, workers=2, threads=4)
    call = call_at(server)
    with ThreadPoolExecutor(40) as pool, machine_delays(stub) as delays:
        hanging = [pool.submit(call, "eth", address) for address in addresses]
        for _ in range(20):
            began = time.monotonic()
            query = {"blockchain": "eth", "type": "kol", "api_key": api_key}
            assert requests.get(f"{server.url}/v1/wallets", params=query, timeout=10).status_code == 200
            assert time.monotonic() - began < 1.5 + max(delays)
        told = [each.result() for each in hanging]
        assert {each.state for each in told} == {LATER}
        assert 3.0 <= max(each.seconds for each in told) < 3.0 + 0.5 + max(delays)


def test_a_worker_killed_while_it_reads_blocks_the_wallet_for_a_short_time_only(
    gunicorn: StartGunicorn, settings: Settings, stub: Stub, track: Hold, call_at: Callable[[Gunicorn], Call]
) -> None:
    address = track("eth", native=5)
    stub.scenarios[address] = faults.in_turn(faults.hang(stub.release))
    hasty = replace(settings, holdings_wait_seconds=0.5, holdings_fetch_seconds=3.0)
    server = gunicorn(hasty, workers=2, threads=4)
    call = call_at(server)
    assert call("eth", address).state == LATER
    for worker in psutil.Process(server.process.pid).children():
        worker.kill()
    # The claim lasts as long as a fetch may, and two seconds.
    assert _settled(call, "eth", address).active["tokens"][0]["amount"] == "5"


@pytest.mark.parametrize("provider", ["moralis", "rpc"])
def test_ten_thousand_token_accounts_take_little_memory(
    gunicorn: StartGunicorn,
    settings: Settings,
    track: Hold,
    call_at: Callable[[Gunicorn], Call],
    provider: str,
) -> None:
    small = track("solana", native=5, tokens=(solana_token(1, 5),))
    many = tuple(solana_token(number, 10**9 + number) for number in range(10_000))
    large = track("solana", native=5, tokens=many)
    patient = replace(settings, holdings_fetch_seconds=30.0, holdings_ttl_seconds=1.0)
    server = gunicorn(replace(patient, solana_provider=provider), workers=1, threads=4)
    call = call_at(server)
    _settled(call, "solana", small)
    (worker,) = psutil.Process(server.process.pid).children()
    before = worker.memory_info().rss
    assert _settled(call, "solana", large).active["count"] == 10_001
    assert _peak(worker.pid) - before < 50 * 2**20
    # Past its time the snapshot leaves the cache with the next that comes in.
    time.sleep(1.1)
    for _ in range(3):
        _settled(call, "solana", small)
    assert worker.memory_info().rss - before < 25 * 2**20


def _peak(pid: int) -> int:
    """Return the peak memory of the process in bytes."""
    with open(f"/proc/{pid}/status") as status:
        (line,) = (line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024

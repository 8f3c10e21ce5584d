"""Several gunicorn workers: one fetch for all, and no request waits because a provider hangs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import requests

from tests.holdings.conftest import Hold, evm_token, machine_delays
from tests.lib.processes import Gunicorn, StartGunicorn
from tests.lib.waiting import calm_seconds, eventually
from tests.stub import faults
from tests.stub.server import Stub
from wallet_api.settings import Settings

WAIT = 3.0

Call = Callable[[str], requests.Response]


@pytest.fixture
def server(gunicorn: StartGunicorn, settings: Settings) -> Gunicorn:
    patient = replace(settings, holdings_wait_seconds=WAIT, holdings_fetch_seconds=60.0)
    return gunicorn(patient, workers=2, threads=4)


@pytest.fixture
def call(server: Gunicorn, api_key: str) -> Call:
    def call(address: str) -> requests.Response:
        query = {"blockchain": "eth", "address": address, "api_key": api_key}
        response = requests.get(f"{server.url}/v1/wallets/holdings", params=query, timeout=60)
        assert response.status_code == 200, response.text
        return response

    return call


def test_a_hundred_concurrent_first_requests_lead_to_one_fetch(call: Call, stub: Stub, track: Hold) -> None:
    address = track("eth", native=5, tokens=tuple(evm_token(number, 1) for number in range(250)))
    stub.scenarios[address] = faults.hang(stub.release, 0.1)
    with ThreadPoolExecutor(100) as pool:
        list(pool.map(call, [address] * 100))
    assert eventually(lambda: call(address).json()["data"]["active_holdings"]["count"] == 251)
    # Once each page.
    assert stub.requested[address] == 3


def test_while_a_provider_hangs_the_others_work(
    server: Gunicorn, call: Call, stub: Stub, track: Hold, api_key: str
) -> None:
    addresses = [track("eth") for _ in range(40)]
    stub.scenarios |= dict.fromkeys(addresses, faults.hang(stub.release))
    with ThreadPoolExecutor(40) as pool, machine_delays(stub) as delays:
        hanging = [pool.submit(call, address) for address in addresses]
        for _ in range(20):
            began = calm_seconds()
            query = {"blockchain": "eth", "type": "kol", "api_key": api_key}
            assert requests.get(f"{server.url}/v1/wallets", params=query, timeout=60).status_code == 200
            assert calm_seconds() - began < 1.5 + max(delays)
        responses = [each.result() for each in hanging]
    assert all(response.json()["data"]["active_holdings"]["loading"] for response in responses)
    waited = max(response.elapsed.total_seconds() for response in responses)
    assert WAIT <= waited < WAIT + 0.5 + max(delays)

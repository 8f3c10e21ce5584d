"""The metrics: correct counts of all workers, and access to them."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests
import yaml
from flask import Flask
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from tests.demo_service import demo_service
from tests.processes import StartGunicorn, reload
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.providers.trades.swaps import Block
from wallet_api.settings import Settings
from wallet_api.sync.blocks import save_blocks
from wallet_api.sync.heartbeats import Round, save_heartbeats
from wallet_api.sync.left_out import save_reasons
from wallet_api.sync.nodes import save_methods

MakeApp = Callable[[Settings], Flask]
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

GROUP = {"blockchain": "solana", "type": "kol"}


def _samples(text: str) -> Samples:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0.0)


def _scrape(client: FlaskClient) -> Samples:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain")
    return _samples(answer.text)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_requests_are_counted_by_operation_and_status(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller")
    for _ in range(3):
        client.get("/v1/wallets", query_string=GROUP, headers=_bearer(key))
    client.get("/v1/wallets", query_string={"blockchain": "solana"}, headers=_bearer(key))
    client.get("/v1/wallets")
    client.get("/nowhere")
    told = _scrape(client)
    count = "wallet_api_requests_total"
    assert _value(told, count, operation="wallets", status="200") == 3
    assert _value(told, count, operation="wallets", status="400") == 1
    assert _value(told, count, operation="wallets", status="401") == 1
    assert _value(told, count, operation="none", status="404") == 1
    assert _value(told, "wallet_api_request_seconds_count", operation="wallets") == 5
    assert 0 < _value(told, "wallet_api_request_seconds_sum", operation="wallets") < 60
    assert _value(told, "wallet_api_request_seconds_bucket", operation="wallets", le="+Inf") == 5


def test_an_alias_counts_as_its_operation(client: FlaskClient) -> None:
    client.get("/v1/wallet/holdings")
    client.get("/v1/wallets/holdings")
    told = _scrape(client)
    assert _value(told, "wallet_api_requests_total", operation="holdings", status="401") == 2


def test_refusals_are_counted_by_code_and_reason(client: FlaskClient, connection: Connection) -> None:
    slow = create_key(connection, "slow", rate="1/hour")
    spent = create_key(connection, "spent", credits=0)
    for key in (slow, slow, slow, spent, "nobody's"):
        client.get("/v1/wallets", query_string=GROUP, headers=_bearer(key))
    told = _scrape(client)
    count = "wallet_api_refusals_total"
    assert _value(told, count, operation="wallets", code="rate_limited", reason="") == 2
    assert _value(told, count, operation="wallets", code="forbidden", reason="insufficient_credits") == 1
    assert _value(told, count, operation="wallets", code="forbidden", reason="invalid_api_key") == 1


def test_credits_are_counted_as_they_are_charged(
    settings: Settings, make_app: MakeApp, connection: Connection
) -> None:
    client = make_app(replace(settings, credit_cost=3)).test_client()
    limited = create_key(connection, "limited", credits=10)
    unlimited = create_key(connection, "unlimited")
    for key in (limited, limited, limited, limited, unlimited):
        client.get("/v1/wallets", query_string=GROUP, headers=_bearer(key))
    client.get("/v1/wallets", headers=_bearer(limited))
    assert _value(_scrape(client), "wallet_api_credits_charged_total", operation="wallets") == 9


def test_responses_from_a_cache_are_counted(client: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "caller")
    arguments = GROUP | {"period": "1d"}
    cached = [
        client.get("/v1/wallet/leaderboard", query_string=arguments, headers=_bearer(key)).json["meta"][
            "cached"
        ]
        for _ in range(3)
    ]
    told = _scrape(client)
    assert cached == [False, True, True]
    assert _value(told, "wallet_api_cached_answers_total", operation="leaderboard") == 2


def test_requests_that_a_worker_counts_alone_are_counted(
    settings: Settings, make_app: MakeApp, connection: Connection
) -> None:
    # Each request asks the store for so small a limit.
    client = make_app(replace(settings, valkey_url="valkey://127.0.0.1:9")).test_client()
    key = create_key(connection, "caller", rate="40/hour")
    for _ in range(2):
        assert client.get("/v1/wallets", query_string=GROUP, headers=_bearer(key)).status_code == 200
    assert _value(_scrape(client), "wallet_api_limiter_fallback_calls_total") == 2


def _save_node(connection: Connection) -> None:
    """Save what two rounds asked of a node, and the newest block that they read, a minute old."""
    now = datetime.now(UTC)
    for _ in range(2):
        save_methods(connection, "eth", {"eth_getLogs": 6}, 5.0, now)
    save_blocks(connection, "eth", [Block(4711, "0xab", now - timedelta(minutes=1))])


def test_the_age_of_the_data_is_a_metric(
    settings: Settings, make_app: MakeApp, connection: Connection
) -> None:
    now = datetime.now(UTC)
    save_heartbeats(connection, "trades", {"eth": Round(10, 2, 4.5)}, now - timedelta(seconds=90))
    for _ in range(2):
        one = Counter({("eth", "no_value"): 1, ("eth", "no_trade"): 7})
        save_reasons(connection, ["eth"], new=one, met=one)
    _save_node(connection)
    with demo_service(settings) as service:
        client = make_app(service.settings).test_client()
        wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
        client.get("/v1/wallets/holdings", query_string=wallet, headers=service.headers)
        told = _scrape(client)
    assert _value(told, "wallet_api_database_up") == 1
    assert 90 <= _value(told, "wallet_api_sync_age_seconds", job="trades", blockchain="eth") < 150
    assert _value(told, "wallet_api_sync_failed_wallets", job="trades", blockchain="eth") == 2
    assert _value(told, "wallet_api_sync_delay_seconds", blockchain="eth") == 4.5
    assert _value(told, "wallet_api_sync_newest_block", blockchain="eth") == 4711
    assert 60 <= _value(told, "wallet_api_sync_newest_block_age_seconds", blockchain="eth") < 120
    assert _value(told, "wallet_api_sync_node_calls_total", blockchain="eth", method="eth_getLogs") == 12
    assert _value(told, "wallet_api_sync_left_out_total", chain="eth", reason="no_value") == 2
    assert _value(told, "wallet_api_sync_left_out_total", chain="eth", reason="no_trade") == 14
    assert _value(told, "wallet_api_sync_left_out_total", chain="eth", reason="unreadable") == 0
    newest = connection.execute(
        "SELECT max(priced_at) AS at FROM native_prices WHERE currency = 'SOL'"
    ).fetchone()
    age_seconds = (datetime.now(UTC) - newest["at"]).total_seconds()
    told_seconds = _value(told, "wallet_api_newest_price_age_seconds", currency="SOL")
    assert age_seconds - 30 < told_seconds <= age_seconds
    assert 0 <= _value(told, "wallet_api_newest_trade_age_seconds", blockchain="solana", type="kol") < 86_400
    assert (
        _value(told, "wallet_api_holdings_fetches_total", provider="alchemy", chain="solana", outcome="ok")
        == 1
    )


def test_without_the_database_metrics_report_that_and_have_the_counters(
    settings: Settings, make_app: MakeApp
) -> None:
    away = str(settings.database_url).replace("host=", "host=%2Fnonexistent")
    client = make_app(replace(settings, database_url=away)).test_client()
    client.get("/healthz")
    told = _scrape(client)
    assert _value(told, "wallet_api_database_up") == 0
    assert _value(told, "wallet_api_requests_total", operation="healthz", status="200") == 1


@pytest.mark.parametrize(
    ("changes", "address", "headers", "status"),
    [
        pytest.param({}, "127.0.0.1", {}, 200, id="from this machine"),
        pytest.param({}, "::1", {}, 200, id="from this machine by IPv6"),
        pytest.param({}, "10.0.0.7", {}, 403, id="from elsewhere"),
        pytest.param({}, "", {}, 403, id="from nowhere"),
        pytest.param({}, "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 403, id="through an unknown proxy"),
        pytest.param({"metrics_networks": "10.0.0.0/24"}, "10.0.0.7", {}, 200, id="from an allowed network"),
        pytest.param({"metrics_networks": "10.0.0.0/24"}, "127.0.0.1", {}, 403, id="from one not allowed"),
        pytest.param(
            {"proxy_hops": 1}, "127.0.0.1", {"X-Forwarded-For": "10.0.0.7"}, 403, id="through the known proxy"
        ),
        pytest.param(
            {"proxy_hops": 1},
            "127.0.0.1",
            {"X-Forwarded-For": "127.0.0.1, 10.0.0.7"},
            403,
            id="with a forged address through the known proxy",
        ),
        pytest.param(
            {"proxy_hops": 1},
            "10.0.0.7",
            {"X-Forwarded-For": "127.0.0.1"},
            403,
            id="with a forged address past the known proxy",
        ),
        pytest.param({"proxy_hops": 1}, "127.0.0.1", {}, 200, id="from this machine past the known proxy"),
        pytest.param({"metrics_networks": ""}, "127.0.0.1", {}, 403, id="from this machine, when none may"),
        pytest.param(
            {"metrics_token": "t"},
            "127.0.0.1",
            {"Authorization": "Bearer t", "X-Forwarded-For": "10.0.0.7"},
            200,
            id="with the token through a proxy",
        ),
        pytest.param(
            {"metrics_token": "t"}, "10.0.0.7", {"Authorization": "Bearer t"}, 200, id="with the token"
        ),
        pytest.param(
            {"metrics_token": "t"}, "10.0.0.7", {"Authorization": "Bearer u"}, 403, id="with another"
        ),
        pytest.param(
            {}, "10.0.0.7", {"Authorization": "Bearer None"}, 403, id="with a token when there is none"
        ),
    ],
)
def test_metrics_are_not_for_everyone(
    settings: Settings,
    make_app: MakeApp,
    changes: dict[str, object],
    address: str,
    headers: dict[str, str],
    status: int,
) -> None:
    client = make_app(replace(settings, **changes)).test_client()
    answer = client.get("/metrics", headers=headers, environ_overrides={"REMOTE_ADDR": address})
    assert answer.status_code == status
    if status == 403:
        assert answer.json["error"]["reason"] == "metrics_not_allowed"


@pytest.mark.parametrize("hops", [0, 1])
def test_any_header_of_a_proxy_makes_a_local_request_not_local(
    settings: Settings, make_app: MakeApp, hops: int
) -> None:
    client = make_app(replace(settings, proxy_hops=hops)).test_client()

    def status(headers: dict[str, str]) -> int:
        local = {"REMOTE_ADDR": "127.0.0.1"}
        return client.get("/metrics", headers=headers, environ_overrides=local).status_code

    assert status({"X-Request-ID": "1", "Accept": "*/*", "User-Agent": "Prometheus/3.0"}) == 200
    for header in (
        *("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Server"),
        *("X-Forwarded", "Forwarded-For", "X-Original-Forwarded-For", "Via", "X-Real-IP", "X-Client-IP"),
        *("X-ProxyUser-Ip", "X-Cluster-Client-IP", "True-Client-IP", "CF-Connecting-IP", "Fastly-Client-IP"),
        *("X-Originating-IP", "X-Remote-IP", "X-Remote-Addr", "X-Azure-ClientIP", "X-Appengine-User-IP"),
        *("X-Envoy-External-Address", "CDN-Loop", "x-forwarded-port"),
    ):
        assert status({header: "127.0.0.1"}) == 403, header


def test_counters_are_sums_over_all_workers_and_survive_a_reload(
    gunicorn: StartGunicorn, settings: Settings, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="100000/second")
    server = gunicorn(workers=3, threads=2)
    url = f"{server.url}/v1/wallets"
    workers = set()
    for _ in range(30):
        # A new connection each time, so that any worker may take it.
        requests.get(url, params=GROUP, headers=_bearer(key) | {"Connection": "close"}, timeout=20)
    for _ in range(10):
        told = _samples(
            requests.get(f"{server.url}/metrics", headers={"Connection": "close"}, timeout=20).text
        )
        workers.add(_value(told, "wallet_api_requests_total", operation="wallets", status="200"))
    assert workers == {30}
    reload(server)
    told = _samples(requests.get(f"{server.url}/metrics", timeout=20).text)
    assert _value(told, "wallet_api_requests_total", operation="wallets", status="200") == 30


@pytest.mark.parametrize("name", ["grafana-dashboard.json", "alerts.yml"])
def test_dashboard_and_alerts_use_existing_metrics(
    settings: Settings, make_app: MakeApp, connection: Connection, name: str
) -> None:
    text = (Path(__file__).parent.parent.parent / "config" / name).read_text()
    document = yaml.safe_load(text)
    assert document.get("panels") or document["groups"][0]["rules"]
    save_heartbeats(connection, "prices", {"eth": Round(delay_seconds=1.0)}, datetime.now(UTC))
    save_reasons(connection, ["eth"], new=Counter(), met=Counter())
    _save_node(connection)
    with demo_service(replace(settings, valkey_url="valkey://127.0.0.1:9")) as service:
        client = make_app(service.settings).test_client()
        limited = _bearer(create_key(connection, "limited", credits=10))
        wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
        client.get("/v1/wallets/holdings", query_string=wallet, headers=limited)
        for _ in range(2):
            client.get("/v1/wallet/leaderboard", query_string=GROUP | {"period": "1d"}, headers=limited)
        client.get("/nowhere")
        told = {sample for sample, _ in _scrape(client)}
    asked = set(re.findall(r"\bwallet_api_\w+", text))
    assert len(asked) >= 7
    assert asked - told == set()

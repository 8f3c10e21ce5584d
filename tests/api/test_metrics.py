"""The metrics: correct counts of all workers, and access to them; which server is up is in test_health.py."""

import math
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from tests.api.conftest import ClientOf, NewCaller
from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer
from tests.ledger.rows import ANN, price_row, trade_row
from tests.lib.demo_service import demo_service
from tests.lib.processes import StartGunicorn, reload
from wallet_api.api.keys import create_key
from wallet_api.chain.providers.trades.source import Block
from wallet_api.chain.sync import report
from wallet_api.chain.sync.finality import save_blocks
from wallet_api.database import Connection
from wallet_api.settings import Settings

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]

BOARD = "/wallet/leaderboard?blockchain=solana&type=kol&period=1d"


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


def test_requests_and_refusals_are_counted_by_operation(client: FlaskClient, new_caller: NewCaller) -> None:
    caller, slow, spent = new_caller(), new_caller("slow", rate="1/hour"), new_caller("spent", credits=0)
    assert caller.statuses(3) == [200] * 3
    assert [bool(caller.document(BOARD)["meta"]["cached"]) for _ in range(3)] == [False, True, True]
    caller.send("/wallets")
    client.get("/v1/wallets")
    client.get("/nowhere")
    slow.statuses(3)
    spent.send()
    replace(spent, key="nobody's").send()
    # Another path of an operation counts as that.
    for path in ("/v1/wallet/holdings", "/v1/wallets/holdings"):
        client.get(path)
    samples = _scrape(client)
    requests = {
        (dict(labels)["operation"], dict(labels)["status"]): value
        for (name, labels), value in samples.items()
        if name == "wallet_api_requests_total"
    }
    assert requests == {
        ("list_wallets", "200"): 4,
        ("list_wallets", "400"): 1,
        ("list_wallets", "401"): 1,
        ("list_wallets", "403"): 2,
        ("list_wallets", "429"): 2,
        ("get_leaderboard", "200"): 3,
        ("none", "404"): 1,
        ("get_holdings", "401"): 2,
    }
    refusals = partial(_value, samples, "wallet_api_refusals_total", operation="list_wallets")
    assert refusals(code="rate_limited", reason="") == 2
    assert refusals(code="forbidden", reason="insufficient_credits") == 1
    assert refusals(code="forbidden", reason="invalid_api_key") == 1
    assert _value(samples, "wallet_api_request_seconds_count", operation="list_wallets") == 10
    assert 0 < _value(samples, "wallet_api_request_seconds_sum", operation="list_wallets") < 60
    assert _value(samples, "wallet_api_request_seconds_bucket", operation="list_wallets", le="+Inf") == 10
    assert _value(samples, "wallet_api_cached_answers_total", operation="get_leaderboard") == 2


@pytest.mark.settings(credit_cost=3)
def test_credits_are_counted_as_they_are_charged_or_would_be(
    client: FlaskClient, new_caller: NewCaller
) -> None:
    limited = new_caller(credits=10)
    assert limited.statuses(4) == [200, 200, 200, 403]
    limited.send("/wallets")
    new_caller("unlimited").send()
    assert _value(_scrape(client), "wallet_api_credits_charged_total", operation="list_wallets") == 9 + 3


def _save_node(connection: Connection) -> None:
    """Save what two rounds requested from a node, and the newest block that they read, a minute old."""
    now = datetime.now(UTC)
    for _ in range(2):
        report.add(connection, report.call_facts(connection, "eth", {"eth_getLogs": 6}, 5.0, now))
    save_blocks(connection, "eth", [Block(4711, "0xab", now - timedelta(minutes=1))])


def _save_follows(connection: Connection, *delays: float, saved_at: datetime | None = None) -> None:
    """Save twice how a chain is followed, and the delays of its trades."""
    now = saved_at or datetime.now(UTC)
    watched = partial(
        report.watch_facts, wallets=9, watched=5, is_connected=True, reconnects=2, gaps=7, now=now
    )
    for _ in range(2):
        report.add(connection, watched("solana", "logsSubscribe"))
        report.add(connection, report.delay_facts("solana", delays))


def test_how_a_chain_is_followed_is_a_metric(client: FlaskClient, connection: Connection) -> None:
    _save_follows(connection, 0.5, 1.0, 2.5, 7000.0)
    value = partial(_value, _scrape(client), blockchain="solana")
    assert value("wallet_api_sync_follow_up") == 1
    assert value("wallet_api_sync_follow_wallets", is_followed="true") == 5
    assert value("wallet_api_sync_follow_wallets", is_followed="false") == 4
    assert value("wallet_api_sync_follow_reconnects_total") == 4
    assert value("wallet_api_sync_follow_gaps_total") == 14
    seconds = "wallet_api_sync_trade_delay_seconds"
    for bound, trades in (("1.0", 4), ("2.0", 4), ("3.0", 6), ("3600.0", 6), ("+Inf", 8)):
        assert value(f"{seconds}_bucket", le=bound) == trades
    assert (value(f"{seconds}_count"), value(f"{seconds}_sum")) == (8, 14008)
    _save_follows(connection, saved_at=datetime.now(UTC) - timedelta(minutes=6))
    # No process goes on with it.
    assert _value(_scrape(client), "wallet_api_sync_follow_up", blockchain="solana") == 0


def test_the_age_of_the_data_is_a_metric(
    client: FlaskClient, importer: Importer, connection: Connection
) -> None:
    now = datetime.now(UTC)
    ended_at = now - timedelta(seconds=90)
    report.add(connection, report.round_facts("eth", "trades", 10, 2, succeeded_at=ended_at))
    report.add(connection, report.delay_facts("eth", [1.0, 4.5, 5.0]))
    for _ in range(2):
        one = Counter({("eth", "no_value"): 1, ("eth", "no_trade"): 7})
        report.add(connection, report.count_facts("left_out", one))
        report.add(connection, report.round_left_out_facts(["eth"], one))
    _save_node(connection)
    importer.trades([trade_row(ANN, "s", now - timedelta(seconds=50))])
    importer.prices([price_row("150", now - timedelta(seconds=40))])
    samples = _scrape(client)
    # Prometheus labels what it reads with these, and would rename ours.
    assert not {name for _, labels in samples for name, _ in labels} & {"job", "instance"}
    value = partial(_value, samples)
    assert value("wallet_api_database_up") == 1
    assert 90 <= value("wallet_api_sync_age_seconds", sync="trades", blockchain="eth") < 150
    assert value("wallet_api_sync_failed_wallets", sync="trades", blockchain="eth") == 2
    assert value("wallet_api_sync_delay_seconds", blockchain="eth") == 4.5
    assert value("wallet_api_sync_newest_block", blockchain="eth") == 4711
    assert 60 <= value("wallet_api_sync_newest_block_age_seconds", blockchain="eth") < 120
    assert value("wallet_api_sync_node_calls_total", blockchain="eth", method="eth_getLogs") == 12
    for reason, count in (("no_value", 2), ("no_trade", 14), ("unreadable", 0)):
        assert value("wallet_api_sync_left_out_total", chain="eth", reason=reason) == count
    # An alert sees an increase only in what was there before.
    for chain in ("base", "bnb", "eth", "solana"):
        assert value("wallet_api_sync_left_out_total", chain=chain, reason="unclear") == 0
    assert value("wallet_api_sync_wallets", sync="trades", blockchain="eth") == 10
    # Tracked, but without any price.
    assert value("wallet_api_newest_price_age_seconds", currency="ETH") == math.inf
    assert 39 <= value("wallet_api_newest_price_age_seconds", currency="SOL") < 100
    assert 49 <= value("wallet_api_newest_trade_age_seconds", blockchain="solana", type="kol") < 110


LOCAL, NEAR = "127.0.0.1", "10.0.0.7"
VIA, TOKEN = "X-Forwarded-For", {"Authorization": "Bearer t"}
# Headers in which a proxy names itself or the caller.
OF_PROXIES = (
    *("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Server"),
    *("X-Forwarded", "Forwarded-For", "X-Original-Forwarded-For", "Via", "X-Real-IP", "X-Client-IP"),
    *("X-ProxyUser-Ip", "X-Cluster-Client-IP", "True-Client-IP", "CF-Connecting-IP", "Fastly-Client-IP"),
    *("X-Originating-IP", "X-Remote-IP", "X-Remote-Addr", "X-Azure-ClientIP", "X-Appengine-User-IP"),
    *("X-Envoy-External-Address", "CDN-Loop", "x-forwarded-port"),
)
# An address, headers, and whether the metrics are shown.
Visit = tuple[str, dict[str, str], bool]


@pytest.mark.parametrize(
    ("changes", "visits"),
    [
        (
            {},
            [
                (LOCAL, {}, True),
                ("::1", {}, True),
                (LOCAL, {"X-Request-ID": "1", "Accept": "*/*", "User-Agent": "Prometheus/3.0"}, True),
                (NEAR, {}, False),
                ("", {}, False),
                (NEAR, {"Authorization": "Bearer None"}, False),
                *((LOCAL, {header: LOCAL}, False) for header in OF_PROXIES),
            ],
        ),
        ({"metrics_networks": "10.0.0.0/24"}, [(NEAR, {}, True), (LOCAL, {}, False)]),
        ({"metrics_networks": ""}, [(LOCAL, {}, False)]),
        (
            {"proxy_hops": 1},
            [
                (LOCAL, {}, True),
                (LOCAL, {VIA: NEAR}, False),
                # With a forged address through the known proxy, and past it.
                (LOCAL, {VIA: f"{LOCAL}, {NEAR}"}, False),
                (NEAR, {VIA: LOCAL}, False),
                *((LOCAL, {header: LOCAL}, False) for header in OF_PROXIES),
            ],
        ),
        (
            {"metrics_token": "t"},
            [
                (NEAR, TOKEN, True),
                (LOCAL, TOKEN | {VIA: NEAR}, True),
                (NEAR, {"Authorization": "Bearer u"}, False),
            ],
        ),
    ],
)
def test_metrics_are_not_for_everyone(
    client_of: ClientOf, changes: dict[str, Any], visits: list[Visit]
) -> None:
    client = client_of(**changes)
    for address, headers, are_shown in visits:
        answer = client.get("/metrics", headers=headers, environ_overrides={"REMOTE_ADDR": address})
        assert answer.status_code == (200 if are_shown else 403), (address, headers)
        assert are_shown or answer.json["error"]["reason"] == "metrics_not_allowed"


def test_counters_are_sums_over_all_workers_and_survive_a_reload(
    gunicorn: StartGunicorn, connection: Connection
) -> None:
    key = create_key(connection, "caller", rate="100000/second")
    server = gunicorn(workers=3, threads=2)

    def get(path: str) -> str:
        # A new connection each time, so that any worker may take it.
        headers = {"Authorization": f"Bearer {key}", "Connection": "close"}
        return requests.get(server.url + path, headers=headers, timeout=60).text

    def counted() -> float:
        metrics = _samples(get("/metrics"))
        return _value(metrics, "wallet_api_requests_total", operation="list_wallets", status="200")

    for _ in range(30):
        get(f"/v1{LIST}")
    assert {counted() for _ in range(10)} == {30}
    reload(server)
    assert counted() == 30


def test_dashboard_and_alerts_use_existing_metrics(
    settings: Settings, client_of: ClientOf, connection: Connection
) -> None:
    report.add(connection, report.round_facts("solana", "trades", succeeded_at=datetime.now(UTC)))
    report.add(connection, report.round_left_out_facts(["eth"], Counter()))
    _save_node(connection)
    _save_follows(connection, 1.0)
    connection.execute("INSERT INTO notify_targets (target) VALUES ('bot')")
    with demo_service(replace(settings, valkey_url="valkey://127.0.0.1:9")) as service:
        client = client_of(**vars(service.settings))
        limited = Caller.new(client, connection, "limited", credits=10)
        limited.send("/wallets/holdings", blockchain="solana", address=service.wallet("solana", "kol"))
        for _ in range(2):
            limited.send(BOARD)
        client.get("/nowhere")
        metrics = _scrape(client)
    outcome = {"provider": "demo", "chain": "solana", "outcome": "ok"}
    assert _value(metrics, "wallet_api_holdings_fetches_total", **outcome) == 1
    for name in ("grafana-dashboard.json", "alerts.yml"):
        text = (Path(__file__).parents[2] / "config" / name).read_text()
        document = yaml.safe_load(text)
        assert document.get("panels") or document["groups"][0]["rules"]
        used = set(re.findall(r"\bwallet_api_\w+", text))
        assert len(used) >= 7
        assert used - {name for name, _ in metrics} == set()


def test_keys_that_are_short_of_credits_are_a_metric(
    client: FlaskClient, connection: Connection, new_caller: NewCaller
) -> None:
    """Each key was charged 70 credits in the last week."""
    today = datetime.now(UTC).date()
    # A key of each month needs no more than until the next one begins.
    for name, options in {
        "unlimited": {},
        "empty": {"credits": 0},
        "low": {"credits": 69},
        "enough": {"credits": 70},
        "low plan": {"credits": 1, "monthly": 10_000},
        "plan": {"credits": 10_000, "monthly": 10_000},
        "revoked": {"credits": 1},
    }.items():
        new_caller(name, **options)
    connection.execute("UPDATE api_keys SET revoked_at = now() WHERE name = 'revoked'")
    use = "INSERT INTO key_use SELECT key_id, %s, 'get_volume', 9, %s, now() FROM api_keys"
    for day, credits in ((0, 30), (6, 40), (7, 1000)):
        connection.execute(use, [today - timedelta(days=day), credits])
    # One that is new has used nothing.
    new_caller("new", credits=5)
    value = partial(_value, _scrape(client), "wallet_api_keys_short_of_credits")
    is_last_hours = (datetime.now(UTC) + timedelta(hours=4)).month != datetime.now(UTC).month
    assert value(state="empty") == 1
    assert value(state="low") == (1 if is_last_hours else 2)

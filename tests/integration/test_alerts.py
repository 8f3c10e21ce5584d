"""Each alert fires on the series that it is for, and on no others: by Prometheus's own promtool."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lib.processes import run_program

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool")

RULES = Path(__file__).parents[2] / "config" / "alerts.yml"
EXPRESSIONS = {
    rule["alert"]: rule["expr"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
}

# Prometheus adds the job and the instance.
SYNC = 'wallet_api_sync_age_seconds{job="wallet-api", instance="a:8000", sync="%s", blockchain="solana"}'
TRADES_SYNC, PRICES_SYNC = SYNC % "trades", SYNC % "prices"
# Both syncs work.
SYNCED = {TRADES_SYNC: "60x180", PRICES_SYNC: "60x180"}
REQUESTS = 'wallet_api_requests_total{operation="get_history", status="%s"}'
FETCHES = 'wallet_api_holdings_fetches_total{provider="alchemy", chain="eth", outcome="%s"}'
LATENCY = 'wallet_api_request_seconds_bucket{operation="get_history", le="%s"}'
DELAY = 'wallet_api_sync_trade_delay_seconds_bucket{blockchain="eth", le="%s"}'
WALLETS = 'wallet_api_%s{sync="trades", blockchain="solana"}'
LEFT_OUT = 'wallet_api_sync_left_out_total{chain="%s", reason="%s"}'
FOLLOWED = 'wallet_api_sync_follow_up{blockchain="eth"}'
NEWEST_BLOCK = 'wallet_api_sync_newest_block_age_seconds{blockchain="eth"}'
BEHIND = "wallet_api_notify_behind_seconds"
NEWEST_PRICE = 'wallet_api_newest_price_age_seconds{currency="BNB"}'

# By alert: series that are well for an hour and then have its fault for the first time, and others that it
# leaves alone. A counter appears, or leaves the 0 with which it began; a gauge changes.
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "WalletApiDown": ({'up{job="wallet-api"}': "1x60 0x120"}, {'up{job="other"}': "0x180"}),
    "WalletApiDatabaseDown": ({"wallet_api_database_up": "1x60 0x120"}, {"wallet_api_database_up": "1x180"}),
    "WalletApiPrimaryDown": ({"wallet_api_primary_up": "1x60 0x120"}, {"wallet_api_primary_up": "1x180"}),
    "WalletApiErrors": (
        {REQUESTS % 200: "0+98x180", REQUESTS % 503: "_x60 2+2x120"},
        {REQUESTS % 200: "0+98x180", REQUESTS % 404: "_x60 2+2x120"},
    ),
    "WalletApiSlow": (
        {
            LATENCY % "1.0": "_x60 90+90x120",
            LATENCY % "2.5": "_x60 100+100x120",
            LATENCY % "+Inf": "_x60 100+100x120",
        },
        {LATENCY % "1.0": "0+100x180", LATENCY % "2.5": "0+100x180", LATENCY % "+Inf": "0+100x180"},
    ),
    "WalletApiCountsAlone": (
        {"wallet_api_limiter_fallback_calls_total": "0x60 1+1x120"},
        {"wallet_api_limiter_fallback_calls_total": "7x180"},
    ),
    "WalletApiProviderFails": (
        {FETCHES % "ok": "0+4x180", FETCHES % "timeout": "_x60 6+6x120"},
        {FETCHES % "ok": "0+6x180", FETCHES % "timeout": "_x60 4+4x120"},
    ),
    "WalletApiWebhooksPaused": (
        {'wallet_api_notify_paused{target="bot"}': "0x60 1x120"},
        {'wallet_api_notify_paused{target="bot"}': "0x180"},
    ),
    "WalletApiWebhooksFail": (
        {'wallet_api_notify_failing{target="bot"}': "0x60 1x120"},
        # A part of an hour now and then.
        {'wallet_api_notify_failing{target="bot"}': "0x60 1x50 0x10 1x50 0x10"},
    ),
    "WalletApiWebhooksRefused": (
        {'wallet_api_notify_refused{target="bot"}': "0x60 1x120"},
        {'wallet_api_notify_refused{target="bot"}': "0x180"},
    ),
    # A dead process reads nothing, however little arrives.
    "WalletApiWebhooksBehind": (
        {BEHIND: "0x60 60+60x120"},
        {BEHIND: "0x60 0+60x9 0x111"},
    ),
    # The age is that of the first try where none was successful.
    "WalletApiSyncStopped": (SYNCED | {TRADES_SYNC: "60x60 60+60x120"}, SYNCED),
    # A round in which a part of the wallets fails is a success.
    "WalletApiSyncWalletsFail": (
        {WALLETS % "sync_wallets": "40x180", WALLETS % "sync_failed_wallets": "0x60 20x120"},
        {WALLETS % "sync_wallets": "40x180", WALLETS % "sync_failed_wallets": "0x60 2x120"},
    ),
    "WalletApiSyncMissing": ({PRICES_SYNC: "60x180", TRADES_SYNC: "60x60 _x120"}, SYNCED),
    "WalletApiSyncLeavesOut": (
        {LEFT_OUT % ("eth", "no_value"): "0x60 1x120"},
        {LEFT_OUT % ("eth", "unsigned"): "0x60 1+1x120"},
    ),
    "WalletApiSyncBlocksOld": ({NEWEST_BLOCK: "60x60 60+60x120"}, {NEWEST_BLOCK: "60x180"}),
    "WalletApiNotFollowed": ({FOLLOWED: "1x60 0x120"}, {FOLLOWED: "1x180"}),
    "WalletApiTradesLate": (
        {
            DELAY % "60.0": "_x60 8+8x120",
            DELAY % "120.0": "_x60 10+10x120",
            DELAY % "+Inf": "_x60 10+10x120",
            FOLLOWED: "1x180",
        },
        {DELAY % "60.0": "_x60 10+10x120", DELAY % "+Inf": "_x60 10+10x120", FOLLOWED: "1x180"},
    ),
    # No price at all is older than any.
    "WalletApiPricesOld": ({NEWEST_PRICE: "60x60 +Inf+0x120"}, {NEWEST_PRICE: "60x180"}),
    "WalletApiKeysShortOfCredits": (
        {'wallet_api_keys_short_of_credits{state="low"}': "0x60 1x120"},
        {'wallet_api_keys_short_of_credits{state="empty"}': "1x180"},
    ),
    "WalletApiKeysExpire": (
        {"wallet_api_keys_expiring": "0x60 1x120"},
        {"wallet_api_keys_expiring": "0x180"},
    ),
}


def _test(name: str, series: dict[str, str], *expected: tuple[int, str, int | None]) -> dict[str, Any]:
    """Return a test of promtool: the values of expressions, each at a minute of these series."""
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": expression,
                "eval_time": f"{minute}m",
                "exp_samples": [] if value is None else [{"labels": "{}", "value": value}],
            }
            for minute, expression, value in expected
        ],
    }


def _faults(folder: Path, *tests: dict[str, Any]) -> str:
    """Return what promtool finds wrong."""
    file = folder / "test.yml"
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}
    file.write_text(json.dumps(document))
    run = run_program(
        ("promtool", "test", "rules", file), check=False, capture_output=True, text=True, timeout=60
    )
    return "" if run.returncode == 0 else run.stdout + run.stderr


def test_each_alert_fires_for_the_first_occurrence_of_its_fault_and_only_then(tmp_path: Path) -> None:
    assert CASES.keys() == EXPRESSIONS.keys()
    tests, quiet = [], SYNCED
    for alert, (fires, silent) in CASES.items():
        # Without a sync, another alert fires.
        synced = {} if alert.startswith("WalletApiSync") else SYNCED
        firing = f'count(count_over_time(ALERTS{{alertname="{alert}", alertstate="firing"}}[%s]))'
        tests += [_test(alert, synced | fires, (60, firing % "1h", None), (180, firing % "2h", 1))]
        assert not [name for name in quiet.keys() & silent if quiet[name] != silent[name]]
        quiet = quiet | silent
    tests += [_test("silent", quiet, (180, 'count(count_over_time(ALERTS{alertstate="firing"}[3h]))', None))]
    assert not _faults(tmp_path, *tests)


def test_an_hour_of_good_health_with_one_chain_of_four_in_use_is_silent(tmp_path: Path) -> None:
    chains, reasons = ("base", "bnb", "eth", "solana"), ("no_value", "unclear", "unreadable", "no_trade")
    series = {
        'up{job="wallet-api"}': "1x70",
        "wallet_api_database_up": "1x70",
        "wallet_api_primary_up": "1x70",
        REQUESTS % 200: "0+600x70",
        REQUESTS % 404: "0+30x70",
        LATENCY % "0.1": "0+595x70",
        LATENCY % "1.0": "0+600x70",
        LATENCY % "+Inf": "0+600x70",
        "wallet_api_limiter_fallback_calls_total": "0x70",
        (FETCHES % "ok").replace("eth", "solana"): "0+20x70",
        (FETCHES % "timeout").replace("eth", "solana"): "0+1x70",
        WALLETS % "sync_wallets": "1000x70",
        WALLETS % "sync_failed_wallets": "3x70",
        DELAY.replace("eth", "solana") % "60.0": "0+20x70",
        DELAY.replace("eth", "solana") % "+Inf": "0+20x70",
        FOLLOWED.replace("eth", "solana"): "1x70",
        NEWEST_BLOCK.replace("eth", "solana"): "20x70",
        NEWEST_PRICE.replace("BNB", "SOL"): "60x70",
        'wallet_api_notify_paused{target="bot"}': "0x70",
        'wallet_api_notify_failing{target="bot"}': "0x70",
        'wallet_api_notify_refused{target="bot"}': "0x70",
        BEHIND: "0x30 5x3 0x37",
        "wallet_api_keys_expiring": "0x70",
        'wallet_api_keys_short_of_credits{state="low"}': "0x70",
    }
    for chain in chains:
        # As `sync trades` saves them also where there is no wallet.
        for sync in ("trades", "prices", "tokens"):
            series[(SYNC % sync).replace("solana", chain)] = "30x70"
        for name in () if chain == "solana" else ("sync_wallets", "sync_failed_wallets"):
            series[(WALLETS % name).replace("solana", chain)] = "0x70"
        for reason in reasons:
            used = chain == "solana" and reason == "no_trade"
            series[LEFT_OUT % (chain, reason)] = "0+5x70" if used else "0x70"
    # Each metric of a rule is there, so that none is silent for want of it.
    named = {
        name for expression in EXPRESSIONS.values() for name in re.findall(r"wallet_api_\w+", expression)
    }
    assert named <= {name.partition("{")[0] for name in series}
    assert not _faults(tmp_path, _test("health", series, (70, "count(count_over_time(ALERTS[70m]))", None)))

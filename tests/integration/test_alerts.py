"""Each alert fires on the series that it is for, and on no others: by Prometheus's own promtool."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool")

RULES = Path(__file__).parents[2] / "config" / "alerts.yml"

# Prometheus adds the job and the instance.
SYNC = 'wallet_api_sync_age_seconds{job="wallet-api", instance="a:8000", sync="%s", blockchain="solana"}'
TRADES_SYNC, PRICES_SYNC = SYNC % "trades", SYNC % "prices"
# Both syncs work.
SYNCED = {TRADES_SYNC: "60x240", PRICES_SYNC: "60x240"}
REQUESTS = 'wallet_api_requests_total{operation="get_history", status="%s"}'
FETCHES = 'wallet_api_holdings_fetches_total{provider="alchemy", chain="eth", outcome="%s"}'
LATENCY = 'wallet_api_request_seconds_bucket{operation="get_history", le="%s"}'
DELAY = 'wallet_api_sync_trade_delay_seconds_bucket{blockchain="eth", le="%s"}'
WALLETS = 'wallet_api_%s{sync="trades", blockchain="solana"}'
LEFT_OUT = 'wallet_api_sync_left_out_total{chain="%s", reason="%s"}'
FOLLOWED = 'wallet_api_sync_follow_up{blockchain="eth"}'

# By alert: series with which it fires within two hours, and others with which it does not.
CASES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "WalletApiDown": ({'up{job="wallet-api"}': "0x240"}, {'up{job="wallet-api"}': "1x240"}),
    "WalletApiDatabaseDown": ({"wallet_api_database_up": "0x240"}, {"wallet_api_database_up": "1x240"}),
    "WalletApiPrimaryDown": ({"wallet_api_primary_up": "0x240"}, {"wallet_api_primary_up": "1x240"}),
    "WalletApiErrors": (
        {REQUESTS % 200: "0+98x240", REQUESTS % 503: "0+2x240"},
        {REQUESTS % 200: "0+98x240", REQUESTS % 404: "0+2x240"},
    ),
    "WalletApiSlow": (
        {LATENCY % "1.0": "0+90x240", LATENCY % "2.5": "0+100x240", LATENCY % "+Inf": "0+100x240"},
        {LATENCY % "1.0": "0+100x240", LATENCY % "2.5": "0+100x240", LATENCY % "+Inf": "0+100x240"},
    ),
    "WalletApiCountsAlone": (
        {"wallet_api_limiter_fallback_calls_total": "0+1x240"},
        {"wallet_api_limiter_fallback_calls_total": "7x240"},
    ),
    "WalletApiProviderFails": (
        {FETCHES % "ok": "0+4x240", FETCHES % "timeout": "0+6x240"},
        {FETCHES % "ok": "0+6x240", FETCHES % "timeout": "0+4x240"},
    ),
    # A key that was mistyped on the first day: tried, and never successful.
    "WalletApiSyncStopped": (SYNCED | {TRADES_SYNC: "0+60x240"}, SYNCED),
    # A round in which a part of the wallets fails is a success.
    "WalletApiSyncWalletsFail": (
        {WALLETS % "sync_wallets": "40x240", WALLETS % "sync_failed_wallets": "20x240"},
        {WALLETS % "sync_wallets": "40x240", WALLETS % "sync_failed_wallets": "2x240"},
    ),
    "WalletApiSyncMissing": ({PRICES_SYNC: "60x240"}, SYNCED),
    "WalletApiSyncLeavesOut": (
        # The first one of all, an hour ago.
        {LEFT_OUT % ("eth", "no_value"): "0x70 1x240"},
        {LEFT_OUT % ("eth", "unsigned"): "0+1x240"},
    ),
    "WalletApiSyncBlocksOld": (
        {'wallet_api_sync_newest_block_age_seconds{blockchain="eth"}': "0+60x240"},
        {'wallet_api_sync_newest_block_age_seconds{blockchain="eth"}': "60x240"},
    ),
    "WalletApiNotFollowed": (
        {FOLLOWED: "0x240"},
        {FOLLOWED: "1x240"},
    ),
    "WalletApiTradesLate": (
        {
            DELAY % "60.0": "0+8x240",
            DELAY % "+Inf": "0+10x240",
            DELAY % "120.0": "0+10x240",
            FOLLOWED: "1x240",
        },
        {DELAY % "60.0": "0+10x240", DELAY % "+Inf": "0+10x240", FOLLOWED: "1x240"},
    ),
    # No price at all is older than any.
    "WalletApiPricesOld": (
        {'wallet_api_newest_price_age_seconds{currency="BNB"}': "+Inf+0x240"},
        {'wallet_api_newest_price_age_seconds{currency="BNB"}': "60x240"},
    ),
    "WalletApiKeysExpire": ({"wallet_api_keys_expiring": "2x240"}, {"wallet_api_keys_expiring": "0x240"}),
}


def _check(folder: Path, alert: str, series: dict[str, str], fires: bool) -> str:
    """Let promtool check whether an alert fires after two hours of these series; return what is wrong."""
    # Without a sync, another alert fires.
    series = series if alert.startswith("WalletApiSync") else SYNCED | series
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {
                "expr": f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})',
                "eval_time": "2h",
                "exp_samples": [{"labels": "{}", "value": 1}] if fires else [],
            }
        ],
    }
    return _promtool(folder, test)


def _promtool(folder: Path, test: dict[str, Any]) -> str:
    """Let promtool run a test of the rules; return what is wrong."""
    document: dict[str, Any] = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
    file = folder / "test.yml"
    file.write_text(yaml.safe_dump(document))
    run = subprocess.run(
        ("promtool", "test", "rules", file), check=False, capture_output=True, text=True, timeout=60
    )
    return "" if run.returncode == 0 else run.stdout + run.stderr


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_when_it_should_and_only_then(alert: str, tmp_path: Path) -> None:
    fires, silent = CASES[alert]
    assert _check(tmp_path, alert, fires, fires=True) == ""
    assert _check(tmp_path, alert, silent, fires=False) == ""


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
        'wallet_api_newest_price_age_seconds{currency="SOL"}': "60x70",
        "wallet_api_keys_expiring": "0x70",
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
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"expr": "count(ALERTS)", "eval_time": f"{minute}m", "exp_samples": []}
            for minute in range(0, 70, 5)
        ],
    }
    assert _promtool(tmp_path, test) == ""


def test_every_alert_is_checked() -> None:
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    assert [rule["alert"] for rule in rules] == list(CASES)

"""The summary of a round, as data and as a line of text."""

from collections.abc import Mapping
from typing import Any

from wallet_api.sync.importer import TradesSummary
from wallet_api.sync.prices import PricesSummary


def trades_data(summary: TradesSummary) -> dict[str, Any]:
    """Return the counts of a round of trades."""
    return {
        "wallets": summary.wallets,
        "synced": summary.synced,
        "failed": sum(summary.failed.values()),
        "failures": dict(summary.failed),
        "behind": summary.behind,
        "left": summary.left,
        "swaps": summary.swaps,
        "trades": summary.trades,
        "changed": summary.changed,
        "wraps": summary.wraps,
        "no_trades": summary.counts.no_trades,
        "left_out": sum(summary.counts.left_out.values()),
        "left_out_reasons": _by_reason(summary.counts.left_out),
        "new_left_out": summary.counts.new,
        "unreadable": summary.counts.unreadable,
        "stopped": summary.stopped,
        "pause_seconds": round(summary.pause_seconds),
    }


def trades_words(data: Mapping[str, Any]) -> str:
    """Return the counts as text."""
    words = [
        f"{data['synced']} of {data['wallets']} wallets",
        f"{data['changed']} trades new or corrected ({data['swaps']} swaps read)",
    ]
    if data["wraps"]:
        words.append(f"{data['wraps']} wraps")
    if data["no_trades"]:
        words.append(f"{data['no_trades']} no trades")
    if data["left_out"]:
        reasons = "; ".join(
            f"{reason}: {_counted(details)}" for reason, details in sorted(data["left_out_reasons"].items())
        )
        words.append(f"{data['left_out']} left out, {data['new_left_out']} of them new ({reasons})")
    if data["unreadable"]:
        words.append(f"{data['unreadable']} unreadable, tried again once a day")
    if data["failed"]:
        words.append(f"{data['failed']} wallets failed ({_counted(data['failures'])})")
    if data["behind"]:
        words.append(f"{data['behind']} wallets continued in the next round")
    if data["left"]:
        words.append(f"{data['left']} wallets not tried")
    words.append(f"{data['requests']} requests in {data['seconds']} s")
    if data["stopped"]:
        words.append(f"stopped: {data['stopped']}, pause of {data['pause_seconds']} s")
    return "; ".join(words)


def prices_data(summary: PricesSummary) -> dict[str, Any]:
    """Return the counts of a round of prices."""
    return {
        "changed": summary.changed,
        "sources": sorted(summary.sources),
        "missing": list(summary.missing),
        "missing_hours": summary.missing_hours,
        "failures": list(summary.failures),
    }


def prices_words(data: Mapping[str, Any]) -> str:
    """Return the counts as text."""
    words = [f"{data['changed']} new{' from ' + ' and '.join(data['sources']) if data['sources'] else ''}"]
    if data["missing"]:
        words.append(f"no current price for {', '.join(data['missing'])}")
    if data["missing_hours"]:
        words.append(f"{data['missing_hours']} past hours without a price")
    if data["failures"]:
        words.append(f"failed: {', '.join(data['failures'])}")
    words.append(f"{data['requests']} requests in {data['seconds']} s")
    return "; ".join(words)


def _by_reason(left_out: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return the counts by reason and detail."""
    reasons: dict[str, dict[str, int]] = {}
    for (reason, detail), count in left_out.items():
        reasons.setdefault(str(reason), {})[detail] = count
    return reasons


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))

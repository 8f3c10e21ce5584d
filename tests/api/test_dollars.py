"""Dollars have an age: the time of the native price is shown, and an old one is warned of."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import NewCaller
from tests.documents.described import Described
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, GROUP, price_row, trade_row
from wallet_api.database import Connection

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
OLD, FRESH = NOW - timedelta(hours=7), NOW - timedelta(hours=5)
# What has figures in dollars, but not the price that they use: the response of a feed would change with it.
WITHOUT_PRICE = {
    *("/v1/transactions/latest", "/v1/transactions/timerange", "/v1/transactions/volume"),
    "/v1/wallet/pnl_calendar",
}
WITHOUT_DOLLARS = {
    *("/v1/key", "/v1/wallets", "/v1/wallets/lookup", "/v1/wallets/connections", "/v1/wallets/holdings"),
    *("/v1/transactions/count", "/v1/search", "/v1/wallets/copy"),
}


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _warning(moment: datetime) -> str:
    return f"The latest price of SOL is of {_shown(moment)}: dollars by it are as old."


def _find(data: Any, name: str) -> list[Any]:
    """Return the values of all members of this name."""
    if isinstance(data, list):
        return [value for each in data for value in _find(each, name)]
    if not isinstance(data, dict):
        return []
    return [
        *([data[name]] if name in data else []),
        *(value for each in data.values() for value in _find(each, name)),
    ]


def _questions(described: Described) -> list[tuple[str, dict[str, Any]]]:
    """Return every operation that has dollars, of one wallet, its group and its token."""
    own = GROUP | {"address": ANN, "mint": mint_of("mint")}
    questions = []
    for path in described.keyed_paths:
        if path not in WITHOUT_DOLLARS:
            required = described.required(path)
            questions.append((path, {name: own.get(name, value) for name, value in required.items()}))
    return questions


def test_every_response_with_dollars_warns_of_an_old_price_and_shows_its_time(
    caller: Caller, importer: Importer, described: Described
) -> None:
    importer.trades([trade_row(ANN, "buy", NOW - timedelta(minutes=30))])
    importer.prices([price_row("150", OLD)])
    for path, arguments in _questions(described):
        data = caller.get(path.removeprefix("/v1"), **arguments)
        assert data["warnings"] == [_warning(OLD)], path
        found = set(_find(data, "native_price_at"))
        assert found == (set() if path in WITHOUT_PRICE else {_shown(OLD)}), path
        assert len(_find(data, "native_price_usd")) == len(_find(data, "native_price_at"))
        assert path in WITHOUT_PRICE or _find(data, "native_price_usd") == [150]
    # A copy is warned of in any case.
    for path in WITHOUT_DOLLARS - {"/v1/wallets/holdings", "/v1/wallets/copy"}:
        arguments = described.required(path)
        own = {name: ANN if name == "address" else value for name, value in arguments.items()}
        assert "warnings" not in caller.get(path.removeprefix("/v1"), **own), path


def test_a_price_that_is_young_enough_is_not_warned_of_and_without_one_there_is_no_time(
    caller: Caller, importer: Importer, caller_of: NewCaller
) -> None:
    path, board = "/wallet/leaderboard", GROUP | {"period": "7d"}
    data = caller.get(path, **board)
    assert (data["native_price_at"], "warnings" in data) == (None, False)
    importer.prices([price_row("150", FRESH)])
    # Prices are looked up again after a second, or by another service.
    assert "warnings" not in caller_of().get(path, **board)
    sooner = caller_of(native_price_max_age_seconds=4 * 3600.0)
    assert sooner.get(path, **board)["warnings"] == [_warning(FRESH)]


def test_tables_have_the_warning_in_a_header_and_a_feed_of_all_chains_names_those_with_wallets(
    caller: Caller, importer: Importer
) -> None:
    importer.prices([price_row("150", OLD), {**price_row("600", OLD), "currency": "BNB"}])
    board = caller.send("/wallet/leaderboard", **GROUP, period="7d", format="csv")
    assert _warning(OLD) in board.headers["X-Warnings"]
    feed = caller.get("/transactions/latest", after="now")
    assert feed["warnings"] == [_warning(OLD)]


def test_at_a_moment_the_price_of_then_counts(caller: Caller, importer: Importer) -> None:
    importer.prices([price_row("150", NOW - timedelta(days=9)), price_row("160", FRESH)])
    then = NOW - timedelta(days=5)
    for path, arguments in (
        ("/tokens/prices", {"blockchain": "solana", "mint": mint_of("mint")}),
        ("/signals", GROUP | {"mode": "cluster"}),
    ):
        assert "warnings" not in caller.get(path, **arguments)
        data = caller.get(path, **arguments, as_of=then.isoformat())
        assert data["warnings"] == [_warning(NOW - timedelta(days=9))]
        data = caller.get(path, **arguments, as_of=(NOW - timedelta(days=9, hours=-1)).isoformat())
        assert "warnings" not in data


def test_health_is_degraded_while_a_price_of_tracked_wallets_is_old(
    importer: Importer, caller_of: NewCaller, connection: Connection
) -> None:
    def health() -> tuple[str, str, dict[str, str]]:
        body = caller_of().send("/health").get_json()
        return body["status"], body["components"]["prices"], body["reasons"]

    assert health() == ("ok", "none", {})
    importer.prices([price_row("150", FRESH)])
    assert health() == ("ok", "ok", {})
    # Nobody's chain: no wallet on it is tracked.
    importer.prices([{**price_row("600", OLD), "currency": "BNB"}])
    assert health() == ("ok", "ok", {})
    importer.prices([{**price_row("3000", OLD), "currency": "ETH"}])
    assert health() == ("degraded", "stale", {"prices": "stale"})
    connection.execute("DROP TABLE native_prices CASCADE")
    assert health() == ("ok", "none", {})

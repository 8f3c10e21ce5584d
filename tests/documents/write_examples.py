"""Write wallet_api/api/responses/examples.json from responses to a small ledger: `make examples`."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.ledger.alone import ledger_alone
from tests.ledger.figures import net_flows
from tests.ledger.in_process import Importer, Row, clear, exact, parsed
from tests.ledger.loaded import loaded
from wallet_api.api.openapi import operations
from wallet_api.api.responses.examples import ADDRESS, META, MINT
from wallet_api.api.responses.operation import Operation
from wallet_api.api.schemas.calendar import CalendarArguments
from wallet_api.api.schemas.copies import CopyArguments
from wallet_api.api.schemas.history import HistoryArguments
from wallet_api.api.schemas.shapes import columns_of
from wallet_api.api.schemas.tokens import (
    TokenHoldersArguments,
    TokenStatsArguments,
)
from wallet_api.api.schemas.tracker import TrackerArguments
from wallet_api.api.schemas.wallet_tokens import ExplainArguments, WalletTokensArguments
from wallet_api.app import create_app
from wallet_api.base.periods import Bounds
from wallet_api.chain.sync.outcomes import decide_outcomes, keep_signals
from wallet_api.database import Connection, connect, row_count
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries.analytics import analytics_data, read_most_traded
from wallet_api.queries.brief import WINDOWS, wallet_brief
from wallet_api.queries.calendar import wallet_calendar
from wallet_api.queries.connections import wallet_connections
from wallet_api.queries.copies import copy_wallet
from wallet_api.queries.explain import explain_position
from wallet_api.queries.feed import latest_trades, trades_within
from wallet_api.queries.history import wallet_history
from wallet_api.queries.leaderboard_page import leaderboard_page, read_board
from wallet_api.queries.lookup import look_up_addresses
from wallet_api.queries.prices import token_prices
from wallet_api.queries.search import search_names
from wallet_api.queries.signal_outcomes import read_signal_outcomes
from wallet_api.queries.signals import SignalOptions, group_signals
from wallet_api.queries.spans import span_of
from wallet_api.queries.token_price import DEFAULT_RULE
from wallet_api.queries.tokens import token_holders, token_stats, token_transactions
from wallet_api.queries.tracker import track_wallet
from wallet_api.queries.volume import count_trades, group_volume
from wallet_api.queries.volume_trend import volume_trend
from wallet_api.queries.wallet_tokens import wallet_tokens
from wallet_api.queries.wallets import list_wallets
from wallet_api.settings import Settings

FILE = Path(__file__).parents[2] / "wallet_api" / "api" / "responses" / "examples.json"
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
# The time of all examples.
NOW = datetime.fromisoformat(META["timestamp"])
GROUP: dict[str, Any] = {"blockchain": "solana", "type": "kol"}
JANUARY = Bounds(datetime.fromisoformat("2026-01-01T00:00:00+01:00"), datetime(2026, 2, 1, tzinfo=UTC))
SMART = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
SECOND = "So11111111111111111111111111111111111111112"
QUIET = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
UNTRACKED = "4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw"
OTHER_MINT = "DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263"
SIGNATURE = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"


def main() -> None:
    """Replace the data of all examples that the ledger gives; those of balances, keys and servers stay."""
    with ledger_alone() as settings, connect(str(settings.database_url)) as connection:
        text = written(FILE.read_text(encoding="utf-8"), str(settings.database_url), connection)
        FILE.write_text(text, encoding="utf-8")


def written(text: str, database_url: str, connection: Connection) -> str:
    """Return the file with its examples as they should be, after making a ledger in an empty database.

    Cursors are opaque and of each ledger its own: those of the file stay.
    """
    examples: dict[str, dict[str, Any]] = json.loads(text)
    for (operation, name), data in _responses(database_url, connection).items():
        named = examples[operation]
        cursor = named.get(name, {}).get("pagination", {}).get("next_cursor")
        if cursor and data["pagination"]["next_cursor"]:
            data["pagination"]["next_cursor"] = cursor
        named[name] = data
    text = json.dumps(examples, indent=1, ensure_ascii=False, default=float)
    # As in responses, without an exponent.
    return re.sub(r"\b\d[\d.]*e-\d+", lambda number: f"{Decimal(number[0]):f}", text) + "\n"


def _wallets() -> Iterator[Row]:
    """A wallet whose record the examples show, two that trade the same, and one that never traded."""
    for address, type, name in (
        (ADDRESS, "kol", "0xLarkCalls"),
        (SECOND, "kol", "Otto"),
        (SMART, "smart", "Vera"),
        (QUIET, "whale", ""),
    ):
        yield {
            "blockchain": "solana",
            "type": type,
            "wallet_address": address,
            "name": name,
            "image_url": name and f"https://images.example/{name.lower()}.png",
            "twitter": name and f"https://x.example/{name}",
            "copytrade_link": f"https://copytrade.example/solana/{address}",
        }


def _trades() -> Iterator[Row]:
    """Buys and sells of two tokens; the last one is the newest of the examples."""
    for address, signature, mint, side, amount, value, at in (
        (ADDRESS, "3" * 64, MINT, "buy", "2500000", "3.5", "2026-01-29T13:11:02Z"),
        (SMART, "4" * 64, MINT, "buy", "1000000", "1.8", "2026-01-29T16:20:40Z"),
        (SECOND, "5" * 64, MINT, "buy", "600000", "1.2", "2026-01-30T10:02:13Z"),
        (ADDRESS, "6" * 64, MINT, "sell", "1000000", "2", "2026-01-30T11:30:45Z"),
        (ADDRESS, "7" * 64, OTHER_MINT, "buy", "80", "0.75", "2026-01-30T12:03:20Z"),
        (ADDRESS, SIGNATURE, MINT, "buy", "1250000", "2.5", "2026-01-30T12:40:57Z"),
    ):
        yield {
            "blockchain": "solana",
            "wallet_address": address,
            "tx_signature": signature,
            "mint": mint,
            "token_name": "Doge Club" if mint == MINT else "Neon King",
            "transaction_type": side,
            "token_amount": amount,
            "value": value,
            "value_usd": str(150 * Decimal(value)),
            "created_at": at,
        }


def _fill(database_url: str, later: timedelta = timedelta()) -> None:
    """Import the ledger of the examples, with all times this much later."""
    importer = Importer(database_url)
    importer.wallets(_wallets())
    at = datetime.fromisoformat("2026-01-30T12:00:00Z")
    importer.prices([{"currency": "SOL", "usd": "150", "priced_at": (at + later).isoformat()}])
    importer.trades(
        row | {"created_at": (datetime.fromisoformat(row["created_at"]) + later).isoformat()}
        for row in _trades()
    )


def _answers(connection: Connection) -> dict[tuple[str, str], Any]:
    """Return the data of each example, by path and name."""
    wallet = {"blockchain": "solana", "address": ADDRESS}
    token = {"blockchain": "solana", "mint": MINT, "type": "kol"}
    at_its_prices = loaded(CopyArguments, window=JANUARY, delay=0, limit=3)
    calendar = loaded(CalendarArguments)
    tracked = find_wallet(connection, **wallet)
    quiet = find_wallet(connection, "solana", QUIET)
    week, month = (GROUP | {"period": period} for period in ("7d", "30d"))
    january = GROUP | {"period": JANUARY}
    board = read_board(connection, NOW, week)
    # Its steps are days, whose sums are kept for ever.
    charted = read_board(connection, NOW, month, with_charts=True)
    traded = read_most_traded(connection, NOW, week)
    flows = net_flows(connection, NOW, **GROUP, period="1d", limit=1)
    trend = volume_trend(connection, NOW, GROUP | {"period": "6h"}).buckets
    best = leaderboard_page(board, week | {"sort": "realized_pnl", "limit": 1})["leaderboard"]
    return {
        ("/v1/wallets", "page"): list_wallets(connection, **GROUP, limit=1),
        ("/v1/wallets/lookup", "found"): look_up_addresses(connection, [ADDRESS]),
        ("/v1/wallets/lookup", "not_found"): look_up_addresses(connection, [UNTRACKED]),
        ("/v1/wallets/lookup", "several"): look_up_addresses(connection, [ADDRESS, UNTRACKED]),
        ("/v1/search", "by_name"): search_names(connection, "doge"),
        ("/v1/wallets/brief", "of_a_wallet"): wallet_brief(
            connection,
            tracked,
            NOW,
            {period: read_board(connection, NOW, GROUP | {"period": period}) for period in WINDOWS.values()},
        ),
        ("/v1/wallets/explain", "steps"): explain_position(
            connection, tracked, NOW, loaded(ExplainArguments, mint=MINT)
        ),
        ("/v1/wallets/copy", "at_its_prices"): copy_wallet(connection, tracked, NOW, at_its_prices),
        ("/v1/wallets/history", "page"): wallet_history(
            connection, tracked, NOW, loaded(HistoryArguments, limit=1)
        ),
        ("/v1/wallets/tokens", "page"): wallet_tokens(
            connection, tracked, NOW, loaded(WalletTokensArguments, limit=1)
        ),
        ("/v1/wallet/pnl_calendar", "a_month"): wallet_calendar(connection, tracked, NOW, calendar),
        ("/v1/wallet/pnl_calendar", "never_traded"): wallet_calendar(connection, quiet, NOW, calendar),
        ("/v1/wallets/connections", "the_first"): wallet_connections(connection, tracked, NOW, {"limit": 1}),
        ("/v1/transactions/latest", "page"): latest_trades(connection, NOW, GROUP | {"limit": 1}),
        ("/v1/transactions/latest", "of_a_token"): latest_trades(
            connection, NOW, GROUP | {"limit": 1, "mint": MINT}
        ),
        ("/v1/wallet/leaderboard", "first_page"): leaderboard_page(board, week | {"limit": 1}),
        ("/v1/wallet/leaderboard", "with_charts"): leaderboard_page(charted, month | {"limit": 1}),
        ("/v1/wallet/leaderboard", "of_a_window"): leaderboard_page(
            read_board(connection, NOW, january), january | {"limit": 1}
        ),
        ("/v1/tokens/transactions", "page"): token_transactions(connection, NOW, token | {"limit": 1}),
        ("/v1/tokens/stats", "traders"): token_stats(connection, NOW, loaded(TokenStatsArguments, **token)),
        ("/v1/tokens/prices", "two"): token_prices(
            connection, NOW, {"blockchain": "solana", "mint": [MINT, UNTRACKED]}
        ),
        ("/v1/tokens/holders", "one_holder"): token_holders(
            connection, NOW, loaded(TokenHoldersArguments, **token, limit=1)
        ),
        ("/v1/signals", "cluster"): group_signals(
            connection,
            NOW,
            SignalOptions(**GROUP, mode="cluster", min_wallets=2, as_of=NOW - timedelta(minutes=1)),
        ),
        **{
            ("/v1/analytics", mode): analytics_data(
                GROUP | {"mode": mode, "limit": most},
                span_of(NOW, period),
                total,
                board.native_price,
                **rows,
            )
            for mode, period, most, total, rows in (
                ("most_traded", "7d", 1, traded.total, {"tokens": traded.tokens}),
                ("net_flow", "1d", 1, len(flows), {"net_flows": columns_of(flows)}),
                ("volume_trend", "6h", 3, row_count(trend), {"buckets": trend}),
                ("top_performers", "7d", 1, len(board), {"leaderboard": best}),
            )
        },
        ("/v1/analytics", "signal_outcomes"): _outcomes(connection, NOW),
    }


def _outcomes(connection: Connection, now: datetime) -> dict[str, Any]:
    """Return what became of the signals of the last two days, which are kept before."""
    latest = now.replace(minute=0, second=0)
    hours = [latest - timedelta(hours=number) for number in range(48, -1, -1)]
    for hour in hours:
        keep_signals(connection, hour, **GROUP)
    for _ in decide_outcomes(connection, now, [GROUP["blockchain"]], DEFAULT_RULE):
        pass
    asked = GROUP | {"period": Bounds(hours[0], latest), "signal": "entry"}
    kept = read_signal_outcomes(connection, now, asked)
    options, total = GROUP | {"mode": "signal_outcomes", "limit": 2}, row_count(kept.rows)
    data = analytics_data(options, kept.span, total, kept.native_price, outcomes=kept.rows)
    return data | {"signal": "entry"}


def _trackers(connection: Connection, now: datetime) -> dict[tuple[str, str], Any]:
    """Return the same of trackers, whose sums of hours reach back for a month."""
    tracked = find_wallet(connection, "solana", ADDRESS)
    return {
        ("/v1/wallets/tracker", "a_day"): track_wallet(connection, tracked, now, loaded(TrackerArguments))
    }


def _windows(connection: Connection, now: datetime) -> dict[tuple[str, str], Any]:
    """Return the same of the operations with a window, whose rollups reach back for a day or two."""
    hour, day, days = ({"window_seconds": seconds} for seconds in (3600, 86_400, 172_800))
    return {
        ("/v1/transactions/volume", "a_day"): group_volume(connection, now, GROUP | day),
        ("/v1/transactions/volume", "capped"): group_volume(connection, now, GROUP | days | {"mint": MINT}),
        ("/v1/transactions/timerange", "an_hour"): trades_within(
            connection, now, GROUP | hour | {"limit": 1}
        ),
        ("/v1/transactions/timerange", "of_a_token"): trades_within(
            connection, now, GROUP | hour | {"mint": MINT, "limit": 50}
        ),
        ("/v1/transactions/count", "a_day"): count_trades(connection, now, GROUP | day),
        ("/v1/transactions/count", "capped"): count_trades(connection, now, GROUP | days),
    }


def _operations(database_url: str) -> dict[str, Operation]:
    """Return each operation by its path."""
    app = create_app(Settings(database_url=database_url))
    with closing(app.extensions["wallet_api"]):
        return {rule.rule: operation for rule, operation in operations(app)}


def _responses(database_url: str, connection: Connection) -> dict[tuple[str, str], Any]:
    """Return the data of all examples, by operation and name, of a ledger that is made and cleared."""
    described = _operations(database_url)
    _fill(database_url)
    found = {
        (described[path].name, name): exact(described[path].data, data)
        for (path, name), data in _answers(connection).items()
    }
    later = datetime.now(UTC).replace(microsecond=0) - NOW
    # After whole days, hours of the day are as they were.
    for answers, shift in ((_trackers, timedelta(days=later.days)), (_windows, later)):
        clear(connection)
        _fill(database_url, shift)
        for (path, name), data in answers(connection, NOW + shift).items():
            text = described[path].data.write([data])[0]
            found[described[path].name, name] = parsed(_earlier(text, shift).encode())
    return found


def _earlier(text: str, shift: timedelta) -> str:
    """Return the text with its times as the examples have them."""
    return re.sub(
        MOMENT,
        lambda moment: f"{datetime.fromisoformat(moment[0]) - shift:%Y-%m-%dT%H:%M:%SZ}",
        text,
    )


if __name__ == "__main__":
    main()

"""Fifty questions of people, answered by tools alone: right, in at most two calls and 30 kB read each."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.naive.ledger import Ledger

CHAIN = {"blockchain": "solana"}
TYPES = ("kol", "smart", "whale")
# Calls a tool.
Call = Callable[..., Any]
# A question, how an assistant finds the answer, and the answer of the model at a time.
Question = tuple[str, Callable[[Call], Any], Callable[[datetime], Any]]


class Assistant:
    """Calls tools, and counts the calls and the bytes of one question."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self.calls = self.bytes = 0

    def call(self, tool: str, **arguments: Any) -> Any:
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {"Authorization": f"Bearer {self._caller.key}"}
        response = self._caller.client.post("/mcp", json=body, headers=headers)
        content = response.get_json()["result"]["content"]
        self.calls += 1
        self.bytes += sum(len(block["text"].encode()) for block in content)
        return json.loads(content[0]["text"], parse_float=Decimal)["data"]


def _of_wallets(ledger: Ledger, wallets: list[dict[str, Any]]) -> Iterator[Question]:
    for wallet in wallets:
        name, address, group = wallet["name"], wallet["wallet_address"], ("solana", wallet["type"])

        def found(call: Call, name: str = name) -> dict[str, Any]:
            [profile] = call("search_names", q=name)["wallets"]
            return CHAIN | {"address": profile["wallet_address"]}

        def rank(now: datetime, group: Any = group, address: str = address) -> int | None:
            board = ledger.leaderboard(now, *group, "30d", "pnl_without_best_token")
            return next((entry["rank"] for entry in board if entry["wallet"] == address), None)

        def days(now: datetime, address: str = address) -> list[dict[str, Any]]:
            months = ledger.calendar(now, "solana", address)["months"]
            return [day for month in months for day in month["dates"]]

        def best_day(rows: list[dict[str, Any]]) -> str:
            return max((day["realized_pnl"], day["date"]) for day in rows)[1]

        def all_days(data: Any) -> list[dict[str, Any]]:
            return [day for month in data["months"] for day in month["dates"]]

        yield (
            f"What did {name} make in its life?",
            lambda call, found=found: call("get_brief", **found(call))["all"]["realized_pnl"],
            lambda now, a=address: ledger.history(now, "solana", a)["lifetime_stats"]["realized_pnl"],
        )
        yield (
            f"Which rank has {name} this month, without luck?",
            lambda call, found=found: call("get_brief", **found(call))["rank"],
            rank,
        )
        yield (
            f"On which day did {name} make most?",
            lambda call, found=found: best_day(all_days(call("get_calendar", **found(call)))),
            lambda now, days=days: best_day(days(now)),
        )
        yield (
            f"What did {name} trade last?",
            lambda call, found=found: call("get_brief", **found(call))["latest"][0]["tx_signature"],
            lambda now, a=address: ledger.history(now, "solana", a)["trades"][0]["tx_signature"],
        )


def _of_tokens(ledger: Ledger, tokens: list[tuple[str, str]]) -> Iterator[Question]:
    for name, mint in tokens:

        def token(call: Call, name: str = name) -> dict[str, Any]:
            return CHAIN | {"mint": call("search_names", q=name)["tokens"][0]["mint"]}

        yield (
            f"How many of ours trade {name}?",
            lambda call, name=name: call("search_names", q=name)["tokens"][0]["wallet_count"],
            lambda now, mint=mint: len(ledger.token_order(now, "solana", mint, "first_buy", "asc", None)),
        )
        yield (
            f"Who was first in {name}?",
            lambda call, token=token: call("get_token_stats", **token(call), sort="first_buy", limit=1)[
                "traders"
            ][0]["profile"]["wallet_address"],
            lambda now, mint=mint: ledger.token_order(now, "solana", mint, "first_buy", "asc", None)[0],
        )
        yield (
            f"Who holds most of {name}?",
            lambda call, token=token: call("list_holders", **token(call), limit=1)["holders"][0]["profile"][
                "wallet_address"
            ],
            lambda now, mint=mint: (ledger.token_holders(now, "solana", mint, None) or {})["holders"][0][
                "profile"
            ]["wallet_address"],
        )


def _of_groups(ledger: Ledger) -> Iterator[Question]:
    for type in TYPES:
        group = CHAIN | {"type": type}
        for sort in ("realized_pnl", "total_volume", "win_rate_low"):
            board = {"period": "7d", "sort": sort}
            yield (
                f"Which {type} is best by {sort} this week?",
                lambda call, group=group, board=board: call("get_leaderboard", **group, **board, limit=1)[
                    "leaderboard"
                ][0]["wallet"],
                lambda now, type=type, sort=sort: ledger.leaderboard(now, "solana", type, "7d", sort)[0][
                    "wallet"
                ],
            )
        yield (
            f"What did {type}s trade in a day?",
            lambda call, group=group: call("get_volume", **group)["volume"],
            lambda now, type=type: ledger.volume(now, "solana", type, 86_400)["volume"],
        )
        yield (
            f"Which token do most {type}s trade?",
            lambda call, group=group: call("get_analytics", **group, mode="most_traded", limit=1)["tokens"][
                0
            ]["mint"],
            lambda now, type=type: ledger.analytics(now, "solana", type, "7d")[0]["mint"],
        )


def test_fifty_questions_have_the_right_answers(caller: Caller, database_url: str) -> None:
    now = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1)
    wallets = [row | {"name": f"Trader {number:02}"} for number, row in enumerate(random_trades.wallets(60))]
    rows = random_trades.trades(4000, 60, now, days=20)
    for row in rows:
        row["token_name"] = f"{row['mint'].rstrip('z')} coin"
    ledger = random_trades.import_all(
        Importer(database_url), wallets=wallets, prices=random_trades.prices(now, 20), trades=rows
    )
    mints = list(dict.fromkeys(row["mint"] for row in rows))[:5]
    tokens = [(f"{mint.rstrip('z')} coin", mint) for mint in mints]
    questions = [*_of_wallets(ledger, wallets[:5]), *_of_tokens(ledger, tokens), *_of_groups(ledger)]
    assert len(questions) == 50
    wrong = []
    for question, plan, answer in questions:
        assistant = Assistant(caller)
        began = datetime.now(UTC).replace(microsecond=0)
        found = plan(assistant.call)
        # A trade may have left its window meanwhile.
        if found not in (answer(began), answer(datetime.now(UTC).replace(microsecond=0))):
            wrong.append((question, found, answer(began)))
        assert assistant.calls <= 2, question
        assert assistant.bytes <= 30_000, (question, assistant.bytes)
    assert len(wrong) <= 2, wrong

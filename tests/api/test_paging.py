"""Paging of all operations to the end: each row once, in order, at any limit, also while rows change."""

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger import random_trades
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, SMART, trade_row
from wallet_api.api.schemas.tokens import TRADER_SORTS
from wallet_api.base.orders import BOARD_SORTS

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
LATEST, OF_TOKEN = "/transactions/latest", "/tokens/transactions"
STATS, HOLDERS = "/tokens/stats", "/tokens/holders"
HISTORY, BOARD = "/wallets/history", "/wallet/leaderboard"
TOKEN = {"blockchain": "solana", "mint": mint_of("mint-0")}
WINDOW = {"since": (NOW - timedelta(days=2)).isoformat(), "until": (NOW - timedelta(days=1)).isoformat()}
KOLS = [row["wallet_address"] for row in random_trades.wallets(12) if row["type"] == "kol"]
# By operation: what its rows are called, and questions of which none has another's cursors.
PAGED: dict[str, tuple[str, list[Row]]] = {
    "/wallets": ("wallets", [GROUP, GROUP | {"type": "smart"}]),
    HISTORY: (
        "trades",
        [
            own | bounds
            for own in (
                GROUP | {"address": random_trades.wallets(4)[number]["wallet_address"]} for number in (0, 3)
            )
            for bounds in (
                {},
                {"since": "2020-01-01"},
                {"since": "2020-01-02"},
                {"since": "2020-01-01", "until": "2100-01-01"},
                {"mint": mint_of("mint-0")},
            )
        ],
    ),
    LATEST: (
        "transactions",
        [
            *(GROUP, GROUP | {"type": "smart"}, GROUP | TOKEN),
            *(GROUP | {name: "0.1"} for name in ("min_value", "min_value_usd")),
            *(GROUP | {"transaction_type": side} for side in ("buy", "sell")),
            *(GROUP | {"address": addresses} for addresses in (KOLS[0], f"{KOLS[0]},{KOLS[1]}")),
        ],
    ),
    OF_TOKEN: ("transactions", [TOKEN, TOKEN | {"type": "kol"}, TOKEN | {"mint": mint_of("mint-1")}]),
    STATS: (
        "traders",
        [
            *(TOKEN, TOKEN | {"type": "kol"}, TOKEN | {"order": "asc"}, TOKEN | {"mint": mint_of("mint-1")}),
            *(TOKEN | {"sort": sort} for sort in TRADER_SORTS if sort != "buy"),
        ],
    ),
    HOLDERS: ("holders", [TOKEN, TOKEN | {"sort": "buy"}, TOKEN | {"still_holding": "true"}]),
    BOARD: (
        "leaderboard",
        [
            GROUP | {"period": "6h"},
            *(GROUP | {"period": "7d"} | order for order in ({}, {"sort": "realized_pnl"}, {"min_txn": 2})),
        ],
    ),
}


def test_pages_have_each_row_once_in_order_at_any_limit(caller: Caller, database_url: str) -> None:
    # Many at the same moment, and of the same transaction.
    ledger = random_trades.import_coinciding(Importer(database_url), 400, NOW, mints=2)
    address = random_trades.wallets(1)[0]["wallet_address"]
    trades = ledger.history(NOW, "solana", address)["trades"]
    questions: list[tuple[str, Row, list[Row]]] = [
        (HISTORY, GROUP | {"address": address}, trades),
        *(
            (
                HISTORY,
                GROUP | {"address": address, "mint": mint},
                [row for row in trades if row["mint"] == mint],
            )
            for mint in (mint_of("mint-0"), mint_of("mint-1"))
        ),
        *((STATS, TOKEN | {"sort": sort}, []) for sort in TRADER_SORTS),
        (HOLDERS, TOKEN, []),
        (LATEST, GROUP, ledger.latest(NOW, "solana", "kol")),
        (OF_TOKEN, TOKEN | {"type": "kol"}, ledger.token_transactions(NOW, **TOKEN, type="kol")),
        *(
            (BOARD, GROUP | {"period": "7d"} | {"sort": sort, "min_txn": (None, 3)[place % 2]}, [])
            for place, sort in enumerate((None, *BOARD_SORTS, None))
        ),
        ("/wallets", GROUP, []),
        (LATEST, GROUP | WINDOW, []),
    ]
    for path, question, expected in questions:
        rows = PAGED[path][0]
        if not expected:
            expected = caller.get(path, **question, limit=1000)[rows]
        assert len(expected) >= 4
        for limit in {1, 7, len(expected) - 1, len(expected), 1000}:
            # Page after page of one row takes long.
            if limit > 1 or len(expected) < 60:
                assert caller.pages(path, rows, **question, limit=limit) == expected, (path, question, limit)


def test_a_cursor_belongs_to_its_operation_and_its_question(caller: Caller, database_url: str) -> None:
    importer = Importer(database_url)
    importer.wallets(random_trades.wallets(12))
    importer.trades(random_trades.trades(400, 12, NOW, days=1))
    for path, (_, questions) in PAGED.items():
        for number, question in enumerate(questions):
            cursor = caller.get(path, **question, limit=1)["pagination"]["next_cursor"]
            assert cursor, (path, question)
            # By each other question of its operation, and by one of each other operation in turn.
            others = [(path, other) for other in questions if other is not question]
            others += [(one, own[number % len(own)]) for one, (_, own) in PAGED.items() if one != path]
            assert caller.document(path, **question, limit=1, cursor=cursor)["success"], (path, question)
            for other, arguments in others:
                document = caller.document(other, **arguments, limit=1, cursor=cursor)
                assert document["success"] is False, (path, question, other, arguments)
                assert document["error"]["parameter"] == "cursor"
    # The same question in other words.
    for path, question, words in (
        (BOARD, GROUP | {"period": "7d"}, {"sort": "total_volume", "min_txn": 1}),
        (STATS, TOKEN, {"sort": "buy", "order": "desc"}),
        (STATS, TOKEN | {"sort": "first_buy"}, {"order": "asc"}),
        (HISTORY, PAGED[HISTORY][1][1], {"since": "2020-01-01T01:00:00+01:00"}),
        (LATEST, PAGED[LATEST][1][3], {"min_value": "0.10"}),
        (LATEST, PAGED[LATEST][1][8], {"address": f"{KOLS[1]},{KOLS[0]},{KOLS[1]}"}),
    ):
        cursor = caller.get(path, **question, limit=1)["pagination"]["next_cursor"]
        assert caller.document(path, **question | words, limit=1, cursor=cursor)["success"]


def test_a_cursor_whose_position_was_altered_is_refused_by_every_worker(
    caller: Caller, caller_of: Callable[..., Caller], importer: Importer
) -> None:
    importer.trades([trade_row(ANN, f"s{number}", NOW - timedelta(minutes=5)) for number in range(6)])
    importer.trades([trade_row(BEN, f"b{number}", NOW - timedelta(minutes=6)) for number in range(2)])
    mint = {"blockchain": "solana", "mint": mint_of("mint")}
    other_worker = caller_of()
    for path, place, question in (
        ("/wallets", "cursor", GROUP),
        (BOARD, "cursor", GROUP | {"period": "7d"}),
        (HISTORY, "cursor", GROUP | {"address": ANN}),
        (STATS, "cursor", mint),
        (LATEST, "cursor", GROUP),
        (LATEST, "after", GROUP | {"after": "start"}),
        (OF_TOKEN, "after", mint | {"after": "start"}),
    ):
        first = caller.get(path, **question, limit=1)["pagination"]["next_cursor"]
        second = caller.get(path, **question | {place: first}, limit=1)["pagination"]["next_cursor"] or "A"
        # Each character changed, the seal left out, and that of another page.
        altered = [
            first[:at] + ("B" if character != "B" else "C") + first[at + 1 :]
            for at, character in enumerate(first)
        ]
        others = [first[12:], first[:12] + second[12:], f"{first}=", f"{first}A"]
        for worker, wrong in ((caller, altered + others), (other_worker, altered[::20] + others)):
            assert worker.document(path, **question | {place: first}, limit=1)["success"]
            for cursor in wrong:
                error = worker.refused(path, **question | {place: cursor}, limit=1)
                assert (error["code"], error["parameter"]) == ("invalid_parameter", place), (path, cursor)


def test_a_page_says_how_many_rows_there_are(caller: Caller, importer: Importer) -> None:
    importer.trades([trade_row(ANN, f"s{number}", NOW - timedelta(minutes=5)) for number in range(3)])
    importer.trades([trade_row(SMART, "s", NOW - timedelta(minutes=5))])
    mint = {"blockchain": "solana", "mint": mint_of("mint")}
    for path, question, total in (
        ("/wallets", GROUP, 2),
        (LATEST, GROUP, 3),
        (OF_TOKEN, mint, 4),
        (STATS, mint, 2),
    ):
        pagination = caller.get(path, **question, limit=total - 1)["pagination"]
        cursor = pagination.pop("next_cursor")
        assert pagination == {"limit": total - 1, "total": total, "has_more": True}
        document = caller.document(path, **question, limit=total - 1, cursor=cursor)
        assert document["data"]["pagination"] == pagination | {"has_more": False, "next_cursor": None}
        # Of feeds it is also beside the data.
        assert document.get("pagination", path) == (
            path if path in ("/wallets", STATS) else document["data"]["pagination"]
        )
    own = GROUP | {"address": ANN}
    first = caller.get(HISTORY, **own, limit=2)
    second = caller.get(HISTORY, **own, limit=2, cursor=first["pagination"]["next_cursor"])
    assert (len(first.pop("trades")), len(second.pop("trades"))) == (2, 1)
    assert (first.pop("pagination")["has_more"], second.pop("pagination")["has_more"]) == (True, False)
    # Each page of a history has all figures.
    assert first == second


def test_wallets_that_are_added_meanwhile_cost_and_repeat_none(caller: Caller, database_url: str) -> None:
    importer, wallets = Importer(database_url), [row | GROUP for row in random_trades.wallets(92)]
    importer.wallets(wallets[:12])

    def add(pages: int) -> None:
        if pages < 8:
            importer.wallets(wallets[10 * pages + 2 : 10 * pages + 12])

    found = [row["wallet_address"] for row in caller.pages("/wallets", "wallets", add, **GROUP, limit=5)]
    assert found == sorted(set(found), key=str.encode)
    assert set(found) >= {row["wallet_address"] for row in wallets[:12]}


def test_trades_that_change_between_pages_cost_and_repeat_no_other(caller: Caller, database_url: str) -> None:
    importer = Importer(database_url, batch_rows=50)
    wallets = random_trades.wallets(12)
    address = wallets[0]["wallet_address"]
    importer.wallets(wallets)
    rows = random_trades.trades(600, 12, NOW, days=3, late=0)
    # So that what is added is older and newer than what is there.
    random.Random(1).shuffle(rows)
    start, added = rows[:240], rows[240:]
    moved, removed, left = start[:30], start[30:60], start[60:]
    importer.trades(start)

    def change() -> None:
        for number in range(6):
            importer.trades(added[number::6])
            importer.trades([row | {"created_at": NOW.isoformat()} for row in moved[number::6]])
            importer.remove_trades(removed[number::6])

    types = {row["wallet_address"]: row["type"] for row in wallets}
    seen: dict[str, set[int]] = {}
    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        while not changing.done():
            for path, question in ((LATEST, GROUP), (HISTORY, GROUP | {"address": address})):
                found = caller.pages(path, PAGED[path][0], **question, limit=20)
                times = [row["created_at"] for row in found]
                assert times == sorted(times, reverse=True)
                shown = Counter(row["tx_signature"] for row in found)
                own = [
                    row["tx_signature"]
                    for row in left
                    if row["wallet_address"] == question.get("address", row["wallet_address"])
                    and types[row["wallet_address"]] == "kol"
                ]
                assert {shown[name] for name in own} == {1}
                assert {shown[row["tx_signature"]] for row in (*added, *removed)} <= {0, 1}
                seen.setdefault(path, set()).add(len(found))
        changing.result()
    # Else this test has seen nothing of the changes.
    assert all(len(counts) > 3 for counts in seen.values()), seen

"""The order of trades: the chain's, where their sources state it, whatever order files arrive in."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.ledger import in_process
from tests.ledger.caller import Caller
from tests.ledger.contents import contents
from tests.ledger.figures import compare, figures
from tests.ledger.follower import LATEST, Follower
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, WALLETS, price_row, trade_row
from tests.naive.ledger import Ledger
from wallet_api.chain.sync.finality import forget_final, save_final
from wallet_api.database import Connection
from wallet_api.ledger.wallet import find_wallet
from wallet_api.queries import cursors
from wallet_api.queries.feed_page import feed_window, parameters_after
from wallet_api.queries.history import wallet_history

Row = dict[str, Any]

pytestmark = pytest.mark.settings(answer_ttl_seconds=0.0)

NOW = datetime.now(UTC).replace(microsecond=0)
AT = NOW - timedelta(hours=2)
HISTORY = "/wallets/history"
ANNS = {**GROUP, "address": ANN}
# The order in the chain is that of the signatures backwards: bought for 1, sold for 2, bought for 3.
BOUGHT = trade_row(ANN, "z", AT - timedelta(seconds=9), token_amount="100")
SOLD = trade_row(ANN, "y", AT, token_amount="100", value="2", transaction_type="sell")
BOUGHT_AGAIN = trade_row(ANN, "x", AT, token_amount="100", value="3")


def _within(row: Row, milliseconds: int) -> Row:
    at = datetime.fromisoformat(row["created_at"]) + timedelta(milliseconds=milliseconds)
    return row | {"created_at": at.isoformat()}


PLACE = ("created_at", "block", "block_index")
# With what the chain says of their order.
PLACED = {
    "parts of the second": (_within(SOLD, 200), _within(BOUGHT_AGAIN, 600)),
    "blocks": (SOLD | {"block": 8}, BOUGHT_AGAIN | {"block": "9.0"}),
    "places in a block": (
        SOLD | {"block": 8, "block_index": 9},
        BOUGHT_AGAIN | {"block": 8, "block_index": 10},
    ),
}


@pytest.fixture
def importer(database_url: str) -> in_process.Importer:
    """An importer of a ledger with the wallets that most tests track."""
    importer = in_process.Importer(database_url)
    importer.wallets(WALLETS)
    return importer


@pytest.fixture
def caller(client: FlaskClient, connection: Connection) -> Caller:
    return Caller.new(client, connection, "order")


def _gain(caller: Caller) -> tuple[float, float]:
    stats = caller.get(HISTORY, **ANNS)["lifetime_stats"]
    return stats["realized_pnl"], stats["open_cost"]


def _places(caller: Caller) -> dict[str, tuple[int | None, int | None]]:
    trades = caller.get(HISTORY, **ANNS)["trades"]
    return {row["tx_signature"]: (row.get("block"), row.get("block_index")) for row in trades}


def _dollars(connection: Connection) -> dict[str, Any]:
    rows = connection.execute("SELECT tx_signature, value_usd FROM trades")
    return {row["tx_signature"]: row["value_usd"] for row in rows}


def test_of_one_second_purchases_come_first_where_no_source_states_a_place(
    importer: in_process.Importer, caller: Caller
) -> None:
    importer.trades([BOUGHT, SOLD, BOUGHT_AGAIN])
    assert _gain(caller) == (0, 2)
    # A trade with a block comes after those without.
    importer.trades([SOLD | {"block": 0}])
    assert _gain(caller) == (0, 2)
    importer.trades([BOUGHT_AGAIN | {"block": 0}, SOLD | {"block": 0, "block_index": 0}])
    assert _gain(caller) == (0, 2)
    importer.trades([BOUGHT_AGAIN | {"block": 0, "block_index": 1}])
    assert _gain(caller) == (1, 3)


@pytest.mark.parametrize("rows", PLACED.values(), ids=PLACED)
def test_a_place_that_is_learned_moves_figures_and_is_no_change_for_followers(
    importer: in_process.Importer, caller: Caller, connection: Connection, rows: tuple[Row, Row]
) -> None:
    importer.prices([price_row("100", AT - timedelta(minutes=30))])
    importer.trades([BOUGHT, SOLD, BOUGHT_AGAIN])
    # A nearer price that comes later values no trade again.
    importer.prices([price_row("500", AT)])
    follower = Follower(caller, LATEST, "start", **GROUP)
    follower.read()
    dollars = _dollars(connection)
    summary = importer.trades([BOUGHT, *rows])
    assert (summary.landed, summary.changed) == (3, 2)
    assert _gain(caller) == (1, 3)
    assert follower.read() == []
    assert _dollars(connection) == dollars
    # A source that lacks it takes nothing away; nor does a correction by it.
    assert importer.trades([BOUGHT, SOLD, BOUGHT_AGAIN]).changed == 0
    assert _gain(caller) == (1, 3)
    importer.trades([SOLD | {"value": "4"}])
    assert [row["event"] for row in follower.read()] == ["correction"]
    assert _gain(caller) == (3, 3)


def test_another_block_alone_is_no_change_for_followers_and_has_no_index_of_the_first_one(
    importer: in_process.Importer, caller: Caller
) -> None:
    importer.trades([BOUGHT, SOLD | {"block": 8, "block_index": 4}, BOUGHT_AGAIN | {"block": 9}])
    follower = Follower(caller, LATEST, "start", **GROUP)
    follower.read()
    importer.trades([SOLD | {"block": 11}])
    assert _places(caller) == {"x": (9, None), "y": (11, None), "z": (None, None)}
    assert _gain(caller) == (0, 2)
    importer.trades([SOLD | {"block": 8, "block_index": 4}])
    assert _places(caller)["y"] == (8, 4)
    assert _gain(caller) == (1, 3)
    assert follower.read() == []


def test_a_trade_is_final_when_its_block_is_and_without_a_block(
    importer: in_process.Importer, caller: Caller, connection: Connection
) -> None:
    importer.trades([BOUGHT, SOLD | {"block": 8}, BOUGHT_AGAIN | {"block": 9}])

    def final() -> dict[str, bool]:
        return {row["tx_signature"]: row["final"] for row in caller.get(LATEST, **GROUP)["transactions"]}

    assert final() == {"x": True, "y": True, "z": True}
    save_final(connection, "base", 30)
    for number in (7, 8, 7):
        save_final(connection, "solana", number)
    assert final() == {"x": False, "y": True, "z": True}
    forget_final(connection, ["solana"])
    assert final() == {"x": True, "y": True, "z": True}


@pytest.mark.parametrize("batch_rows", [1, 100])
def test_rows_of_one_file_that_state_other_places_are_rejected(
    database_url: str, importer: in_process.Importer, caller: Caller, batch_rows: int
) -> None:
    importer = in_process.Importer(database_url, batch_rows=batch_rows)
    placed = _within(SOLD, 200) | {"block": 8}
    summary = importer.trades(
        [
            *(SOLD, placed, SOLD, SOLD | {"block": 8, "block_index": 2}),
            *(placed | {"block": 9}, _within(SOLD, 300), SOLD | {"block": 8, "block_index": 3}),
        ]
    )
    assert (summary.landed, summary.rejected) == (4, 3)
    assert _places(caller) == {"y": (8, 2)}


def test_a_cursor_from_before_trades_had_places_goes_on(
    importer: in_process.Importer, connection: Connection
) -> None:
    importer.trades([trade_row(ANN, signature, AT) for signature in "abcd"])
    wallet = find_wallet(connection, "solana", ANN)
    key = [AT, False, "c", 0, mint_of("mint")]
    cursor = cursors.encode_cursor(("history", "solana", wallet.type, ANN), key)
    page = wallet_history(connection, wallet, NOW, {"limit": 50, "cursor": cursor})
    assert list(page["trades"]["tx_signature"]) == ["b", "a"]
    scope = ("feed",)
    after = parameters_after(cursors.encode_cursor(scope, [*key, ANN]), scope, feed_window(NOW, None))
    assert (after["tx_signature"], after["address"], after["block"]) == ("c", ANN, -1)


@pytest.mark.parametrize("seed", range(3))
def test_wallets_with_several_trades_a_second_have_the_figures_of_the_order_of_the_chain(
    database_url: str, reader: Connection, seed: int
) -> None:
    """Of each trade come versions with and without its place, in any order, over many files."""
    chance = random.Random(seed)
    rows = list(_of_fast_wallets(chance, 400))
    versions = [*rows, *(_less(chance, row) for row in rows for _ in range(chance.randint(0, 2)))]
    chance.shuffle(versions)
    importer = in_process.Importer(database_url, batch_rows=50)
    importer.wallets(WALLETS)
    while versions:
        size = chance.choice([1, 20, 300])
        # Several versions of one trade in one file, too: what one lacks is no difference.
        importer.trades(versions[:size])
        del versions[:size]
    ledger = Ledger()
    ledger.add_wallets(WALLETS)
    ledger.add_trades(rows)
    mints = [("solana", mint_of(f"token {number}")) for number in range(2)]
    compare(figures(reader, NOW, [3600], mints, limit=100), ledger)


def _of_fast_wallets(chance: random.Random, count: int) -> Iterator[Row]:
    """Trades of two wallets in two tokens within a minute, with places in blocks of 200 ms."""
    for number in range(count):
        block = chance.randrange(300)
        at = AT + timedelta(milliseconds=200 * block)
        yield trade_row(
            chance.choice([ANN, BEN]),
            f"{chance.randrange(10**9)}-{number}",
            at if chance.random() < 0.5 else at.replace(microsecond=0),
            mint=mint_of(f"token {chance.randrange(2)}"),
            transaction_type=chance.choice(["buy", "sell"]),
            token_amount=str(chance.randint(1, 100)),
            value=str(chance.randint(1, 100)),
            block=block,
            block_index=number,
        )


def _whole(row: Row) -> Row:
    """A row as a source has it that states no place."""
    at = datetime.fromisoformat(row["created_at"]).replace(microsecond=0)
    return {name: value for name, value in row.items() if name not in PLACE} | {"created_at": at.isoformat()}


def _less(chance: random.Random, row: Row) -> Row:
    """A row without a part of its place."""
    return chance.choice(
        [_whole(row), _whole(row) | {"block": row["block"]}, row | {"created_at": _whole(row)["created_at"]}]
    )


def test_no_figure_depends_on_how_a_signature_is_spelled(database_url: str, connection: Connection) -> None:
    """Where the places of trades are whole, other signatures in another order give the same ledger."""
    rows = list(_of_fast_wallets(random.Random(5), 400))
    importer = in_process.Importer(database_url, batch_rows=50)
    importer.wallets(WALLETS)
    ledgers = []
    for seed in (1, 2):
        names = [f"{number:04d}" for number in range(len(rows))]
        random.Random(seed).shuffle(names)
        spelled = [row | {"tx_signature": name} for row, name in zip(rows, names, strict=True)]
        importer.trades(spelled)
        found = contents(connection, NOW)
        # Each trade by its place instead.
        found["trades"] = {
            (*key[:3], trade["block_index"]): {**trade, "tx_signature": None}
            for key, trade in found["trades"].items()
        }
        ledgers.append(found)
        importer.remove_trades(spelled)
    assert len(ledgers[0]["trades"]) == len(rows)
    assert ledgers[0] == ledgers[1]

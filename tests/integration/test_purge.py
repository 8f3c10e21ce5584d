"""`wallet-api remove trades` by time and by token, and the tokens that imports leave out."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.integration.test_ledger_properties import NOW
from tests.ledger import in_process, random_trades, strategies
from tests.ledger.contents import contents
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import trade_row, written
from tests.lib.backups import at, done, refused
from tests.lib.processes import run_command
from tests.naive.walk import trade_of, walk
from wallet_api.database import Connection, connect
from wallet_api.ledger.rebuild import rebuild_ledger
from wallet_api.settings import Settings

Row = dict[str, Any]
Effects = tuple[list[Row], int, int]


def removed(settings: Settings, *options: str | Path) -> Row:
    """Run the command, and return its summary."""
    return done("remove", "trades", *options, "--yes", settings=settings)


def effects_of(rows: Iterable[Row], before: datetime, *, include_open: bool) -> Effects:
    """Return what a purge removes, the later sells that lose their cost, and the positions held then.

    The first are rows, the others numbers.
    """
    positions = defaultdict(list)
    for row in rows:
        trade = trade_of(row, lambda identity: None)
        positions[*trade.wallet, trade.mint].append((trade, row))
    gone: list[Row] = []
    sells = held = 0
    for position in positions.values():
        position.sort(key=lambda own: own[0].order)
        trades = [trade for trade, _ in position]
        old = sum(trade.at < before for trade in trades)
        is_open = walk(trades[:old]).still_holding
        held += is_open
        if is_open and not include_open:
            continue
        gone += [row for _, row in position[:old]]
        holdings = walk(trades).holdings[old - 1 :] if old else []
        for trade, (quantity, _) in zip(trades[old:], holdings, strict=False):
            if quantity == 0:
                break
            sells += trade.is_sell
    return gone, sells, held


def _at(row: Row) -> datetime:
    return datetime.fromisoformat(row["created_at"])


_COSTS = """
SELECT wallet_id, token_id, tx_signature, event_index, realized_cost
  FROM trades
 WHERE realized_cost IS NOT NULL
   AND created_at >= %(before)s
"""


def _costs(connection: Connection, before: datetime) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in connection.execute(_COSTS, {"before": before})}


@strategies.for_any(data=st.data())
def test_a_purge_by_time_removes_what_was_not_held_and_counts_what_loses_its_cost(
    data: st.DataObject, database_url: str, connection: Connection
) -> None:
    rows = data.draw(strategies.distinct(strategies.trades(NOW), strategies.trade_key, most=25).filter(bool))
    before = data.draw(st.sampled_from(rows).map(_at) | strategies.moments(NOW).map(datetime.fromisoformat))
    include_open = data.draw(st.booleans())
    importer = in_process.Importer(database_url)
    in_process.clear(connection)
    importer.wallets(strategies.wallets())
    importer.trades(rows)
    gone, sells, held = effects_of(rows, before, include_open=include_open)
    costs = _costs(connection, before)

    options = ("--before", before.isoformat(), *(("--open",) if include_open else ()))
    summary = removed(at(database_url), *options)

    found = {name: summary[name] for name in ("removed", "later_sells", "open_positions")}
    assert found == {"removed": len(gone), "later_sells": sells, "open_positions": held}
    assert len(costs - _costs(connection, before)) <= sells
    left = contents(connection, NOW)
    with connect(database_url) as rebuilding:
        assert set(rebuild_ledger(rebuilding).values()) == {0}
    assert contents(connection, NOW) == left
    keys = {strategies.trade_key(row) for row in gone}
    in_process.clear(connection)
    importer.wallets(strategies.wallets())
    importer.trades(row for row in rows if strategies.trade_key(row) not in keys)
    assert contents(connection, NOW) == left


def _trade(mint: str, blockchain: str = "solana", **fields: Any) -> Row:
    address = strategies.SOLANA[0] if blockchain == "solana" else strategies.EVM
    place = {"blockchain": blockchain, "mint": mint, "token_amount": "10"}
    return trade_row(address, "s", NOW - timedelta(days=3), **place | fields)


def _sell(mint: str, **fields: Any) -> Row:
    return _trade(mint, transaction_type="sell", created_at=(NOW - timedelta(days=1)).isoformat(), **fields)


def test_the_effects_are_shown_before_anything_is_removed(database_url: str, connection: Connection) -> None:
    importer = in_process.Importer(database_url)
    importer.wallets(strategies.wallets())
    importer.trades([_trade(mint_of("held")), _sell(mint_of("held"), tx_signature="t"), _trade(mint_of("b"))])
    before = contents(connection, NOW)
    day = (NOW - timedelta(days=2)).date().isoformat()
    shown = run_command("remove", "trades", "--before", day, "--open", "--dry-run", settings=at(database_url))
    assert "2 positions were held then. Without --open their trades stay." in shown.stderr
    assert "1 later sells lose their cost, in whole or in part." in shown.stderr
    assert "This would remove 2 trades of 1 wallet" in shown.stdout
    closed = run_command("remove", "trades", "--before", day, "--yes", settings=at(database_url))
    assert "0 later sells lose their cost" in closed.stderr
    assert closed.stdout.startswith("Removed 0 trades of 0 wallets from ")
    assert "no terminal" in run_command("remove", "trades", "--before", day, settings=at(database_url)).stderr
    assert contents(connection, NOW) == before


def test_a_token_goes_from_the_chain_that_is_named_or_from_all(
    database_url: str, connection: Connection
) -> None:
    importer = in_process.Importer(database_url)
    spam = evm_mint_of("ab")
    importer.wallets(
        [*strategies.wallets(), {"blockchain": "bnb", "type": "kol", "wallet_address": strategies.EVM}]
    )
    good = [_trade(mint_of("good")), _trade(evm_mint_of("cd"), "eth")]
    importer.trades(good)
    before = contents(connection, NOW)
    importer.trades([_trade(spam, "eth"), _trade(spam, "bnb"), _trade(mint_of("spam"))])
    settings = at(database_url)
    assert (
        removed(settings, "--mint", spam.upper().replace("0X", "0x"), "--blockchain", "bnb")["removed"] == 1
    )
    assert removed(settings, "--mint", spam, "--mint", mint_of("spam"))["removed"] == 2
    assert removed(settings, "--mint", spam)["removed"] == 0
    assert contents(connection, NOW) == before
    assert "is no address of any chain" in refused(
        "remove", "trades", "--mint", "spam", "--yes", settings=settings
    )


def test_one_selection_is_given_with_its_own_options(database_url: str) -> None:
    for options in (
        (),
        ("file.csv", "--denied"),
        ("--open", "--denied"),
        ("--denied", "--blockchain", "eth"),
    ):
        assert run_command("remove", "trades", "--yes", *options, settings=at(database_url)).exit_code == 2


def test_denied_tokens_are_left_out_of_imports_and_removed_when_asked(
    database_url: str, connection: Connection, tmp_path: Path
) -> None:
    wallets, rows = random_trades.wallets(3), random_trades.trades(300, 3, NOW, 3, late=0)
    importer = in_process.Importer(database_url)
    importer.wallets(wallets)
    spam = sorted({row["mint"] for row in rows})[:3]
    denylist = tmp_path / "denied.csv"
    denylist.write_text("blockchain,mint,why\n" + "".join(f"solana,{mint},spam\n" for mint in spam))
    settings = Settings(database_url=database_url, token_denylist=str(denylist))
    denied = sum(row["mint"] in spam for row in rows)
    path = written(tmp_path / "trades.ndjson", *rows)

    result = run_command("import", "trades", path, settings=settings)

    assert result.exit_code == 0
    assert f"Left out {denied} rows of denied tokens (TOKEN_DENYLIST)." in result.stdout
    again = done("import", "trades", path, settings=settings)
    (warning,) = again.pop("warnings")
    assert warning.startswith("the tx_signature of")
    expected = {"landed": len(rows) - denied, "changed": 0, "rejected": 0, "denied": denied}
    assert again == expected | {"seconds": again["seconds"]}
    without = contents(connection, NOW)
    importer.trades(rows)
    keys = {strategies.trade_key(row) for row in rows if row["mint"] in spam}
    assert removed(settings, "--denied")["removed"] == len(keys)
    assert contents(connection, NOW) == without


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("mint\nx\n", "the header lacks blockchain"),
        ("blockchain,mint\nsolana,x\n", "line 2 of"),
    ],
)
def test_a_list_that_cannot_be_read_stops_the_command(
    database_url: str, tmp_path: Path, content: str | None, message: str
) -> None:
    path = tmp_path / "denied.csv"
    if content is not None:
        path.write_text(content)
    settings = Settings(database_url=database_url, token_denylist=str(path))
    result = run_command("remove", "trades", "--denied", "--yes", settings=settings)
    assert result.exit_code == 1
    assert "Error: TOKEN_DENYLIST: " in result.stderr
    assert message in result.stderr
    unset = run_command("remove", "trades", "--denied", "--yes", settings=at(database_url))
    assert "TOKEN_DENYLIST is not set" in unset.stderr

"""Repeated rows and files of a wallet or trade: what changes, what is kept, and the warnings."""

from decimal import Decimal
from pathlib import Path

import pytest

from tests.ledger.command import EVM, SOLANA, WALLETS, TakeIn, changed, taking_in, trade
from tests.ledger.in_process import Row
from wallet_api.database import Connection


@pytest.fixture
def take_in(database_url: str, tmp_path: Path) -> TakeIn:
    """Imports rows with the command."""
    return taking_in(database_url, tmp_path)


@pytest.fixture
def tracked(take_in: TakeIn) -> None:
    """A ledger that tracks the two wallets."""
    assert take_in("wallets", *WALLETS).status == 0


def profile(connection: Connection) -> Row:
    """Return the stored profile of the Solana wallet."""
    row = connection.execute(
        "SELECT type, name, image_url, twitter, telegram, copytrade_link FROM wallets"
        " WHERE blockchain = 'solana'"
    ).fetchone()
    assert row is not None
    return row


def test_the_same_wallets_again_are_no_change(take_in: TakeIn) -> None:
    assert changed(take_in("wallets", *WALLETS)) == (2, 2)
    assert changed(take_in("wallets", *WALLETS)) == (2, 0)
    assert changed(take_in("wallets", WALLETS[0], WALLETS[1] | {"name": "New"})) == (2, 1)
    twice = (WALLETS[0] | {"type": "smart"}, WALLETS[0])
    assert changed(take_in("wallets", *twice)) == (2, 0)
    assert changed(take_in("wallets", *twice)) == (2, 0)


FULL = {
    **WALLETS[0],
    **{"name": "Sol", "image_url": "i", "twitter": "t", "telegram": "g", "copytrade_link": "c"},
}
EMPTY = {"type": "kol", "name": "", "image_url": "", "twitter": "", "telegram": "", "copytrade_link": ""}


def test_a_csv_of_addresses_alone_leaves_profiles_as_they_are(
    take_in: TakeIn, connection: Connection
) -> None:
    take_in("wallets", FULL)
    known = profile(connection)
    lines = (b"blockchain,type,wallet_address", f"solana,kol,{SOLANA}".encode())
    assert changed(take_in("wallets", *lines, name="file.csv")) == (1, 0)
    assert profile(connection) == known
    lines = (b"blockchain,type,wallet_address,twitter", f"solana,whale,{SOLANA},new".encode())
    assert changed(take_in("wallets", *lines, name="file.csv")) == (1, 1)
    assert profile(connection) == {**known, "type": "whale", "twitter": "new"}


def test_an_empty_cell_clears_a_field(take_in: TakeIn, connection: Connection) -> None:
    take_in("wallets", FULL)
    lines = (b"blockchain,type,wallet_address,name,twitter", f"solana,kol,{SOLANA},,t".encode())
    assert changed(take_in("wallets", *lines, name="file.csv")) == (1, 1)
    assert profile(connection)["name"] == ""
    assert profile(connection)["twitter"] == "t"


def test_null_and_an_empty_text_clear_a_field_and_a_missing_member_leaves_it(
    take_in: TakeIn, connection: Connection
) -> None:
    take_in("wallets", FULL)
    assert changed(take_in("wallets", WALLETS[0] | {"twitter": None, "telegram": ""})) == (1, 1)
    assert profile(connection) == {
        **EMPTY,
        **{"name": "Sol", "image_url": "i", "copytrade_link": "c"},
    }


def test_a_new_wallet_has_empty_texts_for_what_is_left_out(take_in: TakeIn, connection: Connection) -> None:
    lines = (b"blockchain,type,wallet_address", f"solana,kol,{SOLANA}".encode())
    assert changed(take_in("wallets", *lines, name="file.csv")) == (1, 1)
    assert profile(connection) == EMPTY


def test_what_a_later_row_of_a_wallet_leaves_out_is_as_an_earlier_row_gives_it(
    take_in: TakeIn, connection: Connection
) -> None:
    identity = {name: WALLETS[0][name] for name in ("blockchain", "type", "wallet_address")}
    take_in("wallets", identity | {"twitter": "known"})
    rows = [identity | {"name": "a"}, identity | {"telegram": "b"}, identity | {"name": None}, identity]
    outcome = take_in("wallets", *rows)
    assert changed(outcome) == (4, 1)
    assert profile(connection) == {**EMPTY, "telegram": "b", "twitter": "known"}
    assert outcome.summary["warnings"] == [
        f"wallet {SOLANA} on solana is in lines 1, 2, 3, 4 with a different name; the last one is used"
    ]


def test_a_wallet_that_is_in_a_file_twice_with_other_values_is_warned_of_and_the_last_one_is_used(
    take_in: TakeIn, connection: Connection
) -> None:
    rows = [
        WALLETS[0] | {"type": "whale", "name": "Old"},
        WALLETS[1],
        WALLETS[1] | {"wallet_address": EVM.lower()},
        WALLETS[0],
    ]
    outcome = take_in("wallets", *rows)
    assert outcome.summary["warnings"] == [
        f"wallet {SOLANA} on solana is in lines 1, 4 with a different type (whale, kol), name;"
        " the last one is used"
    ]
    assert f"Warning: {outcome.summary['warnings'][0]}\n" in outcome.text
    assert profile(connection) == {**EMPTY, "name": "Sol"}
    assert "warnings" not in take_in("wallets", WALLETS[0], WALLETS[0], WALLETS[1]).summary


def test_a_file_of_many_repeated_wallets_gives_few_warnings(take_in: TakeIn) -> None:
    addresses = [f"0x{number:040x}" for number in range(30)]
    rows = [
        {"blockchain": "bnb", "type": type, "wallet_address": address}
        for type in ("kol", "smart", "kol", "smart", "kol", "smart")
        for address in addresses
    ]
    warnings = take_in("wallets", *rows).summary["warnings"]
    assert len(warnings) == 11
    assert "is in lines 1, 31, 61, 91, 121, … with a different type (kol, smart);" in warnings[0]
    assert warnings[-1] == "the same holds for 20 more wallets"


def stored(connection: Connection) -> list[Row]:
    """Return the optional fields of the stored trades, by signature."""
    return connection.execute(
        "SELECT token_name, value_usd, usd_derived, event_index FROM trades"
        " ORDER BY tx_signature, event_index"
    ).fetchall()


def stored_as(name: str | None, usd: str | None, *, derived: bool = False) -> list[Row]:
    """Return the optional fields of the only stored trade."""
    number = None if usd is None else Decimal(usd)
    return [{"token_name": name, "value_usd": number, "usd_derived": derived, "event_index": 0}]


PRICE = {"currency": "SOL", "usd": "100", "priced_at": "2026-01-30T12:51:16Z"}
LATER_PRICE = {"currency": "SOL", "usd": "200", "priced_at": "2026-01-30T12:51:16Z"}


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "again", [{}, {"value": "2"}, {"token_amount": "2"}, {"created_at": "2026-01-30T13:00:00Z"}]
)
def test_a_trade_keeps_the_name_and_usd_that_a_later_row_leaves_out(
    take_in: TakeIn, connection: Connection, again: Row
) -> None:
    take_in("trades", trade(token_name="Coin", value_usd="7"))
    assert changed(take_in("trades", trade(**again))) == (1, int(bool(again)))
    assert stored(connection) == stored_as("Coin", "7")


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_name_is_cleared_and_an_empty_usd_is_derived(
    take_in: TakeIn, connection: Connection, empty: str | None
) -> None:
    take_in("prices", PRICE)
    take_in("trades", trade(token_name="Coin", value_usd="7"))
    assert changed(take_in("trades", trade(token_name=empty))) == (1, 1)
    assert stored(connection) == stored_as(None, "7")
    assert changed(take_in("trades", trade(value_usd=empty))) == (1, 1)
    assert stored(connection) == stored_as(None, "100", derived=True)
    assert changed(take_in("trades", trade(value_usd=empty))) == (1, 0)


@pytest.mark.usefixtures("tracked")
def test_columns_that_a_csv_of_trades_leaves_out_keep_what_is_known_and_empty_cells_clear_it(
    take_in: TakeIn, connection: Connection
) -> None:
    take_in("trades", trade(token_name="Coin", value_usd="7"))
    row = trade(value="2")
    lines = [",".join(row).encode(), ",".join(row.values()).encode()]
    assert changed(take_in("trades", *lines, name="file.csv")) == (1, 1)
    assert stored(connection) == stored_as("Coin", "7")
    lines = [b"%b,token_name,value_usd,event_index" % lines[0], b"%b,,," % lines[1]]
    assert changed(take_in("trades", *lines, name="file.csv")) == (1, 1)
    assert stored(connection) == stored_as(None, None)


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("left_out", [{}, {"value_usd": None}])
def test_a_derived_usd_is_derived_again_only_with_another_value_or_time(
    take_in: TakeIn, connection: Connection, left_out: Row
) -> None:
    take_in("prices", PRICE)
    take_in("trades", trade())
    # It revises nothing by itself.
    take_in("prices", LATER_PRICE)
    assert changed(take_in("trades", trade(**left_out))) == (1, 0)
    assert changed(take_in("trades", trade(token_name="Coin", token_amount="3", **left_out))) == (1, 1)
    assert stored(connection) == stored_as("Coin", "100", derived=True)
    assert changed(take_in("trades", trade(token_amount="3", value="2", **left_out))) == (1, 1)
    assert stored(connection)[0]["value_usd"] == 400
    moved = trade(token_amount="3", value="2", created_at="2026-01-30T12:51:17Z", **left_out)
    take_in("prices", PRICE)
    assert changed(take_in("trades", moved)) == (1, 1)
    assert stored(connection)[0]["value_usd"] == 200


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize("index", [{}, {"event_index": None}, {"event_index": ""}, {"event_index": "0"}])
def test_an_event_index_that_is_left_out_or_empty_is_zero(
    take_in: TakeIn, connection: Connection, index: Row
) -> None:
    take_in("trades", trade(event_index=0), trade(event_index=1))
    assert changed(take_in("trades", trade(**index))) == (1, 0)
    assert [row["event_index"] for row in stored(connection)] == [0, 1]


SEQUENCES: list[list[Row]] = [
    [{"token_name": "Coin", "value_usd": "7"}, {}],
    [{"token_name": "Coin"}, {"value_usd": "7"}, {"value": "2"}],
    [{"token_name": "Coin", "value_usd": "7"}, {"token_name": None}, {}],
    [{"token_name": "Coin", "value_usd": "7"}, {"value_usd": ""}, {"value": "2"}],
    [{}, {"value_usd": "7"}, {"value_usd": None}],
    [{"value": "2"}, {}],
    [{"value": "2"}, {"value": "1.0"}],
    [{"value": "2"}, {}, {}],
    [{"value": "1.0", "created_at": "2026-01-30T13:51:16+01:00"}, {}],
    [{"created_at": "2026-01-30T12:51:17Z"}, {}],
    [{"value_usd": None, "value": "2"}, {"value_usd": None}],
    [{"exchanged_value": "0.9"}, {}, {"value": "2"}],
    [{"exchanged_value": "0.9"}, {"exchanged_value": None}],
    [{"exchanged_value": "0.9", "value": "2"}, {"exchanged_value": ""}, {"exchanged_value": "0.8"}],
    [{"token_name": "a\tb\\c\nd", "value_usd": "7"}, {"value": "2"}],
]


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "known", [None, {}, {"token_name": "Known", "value_usd": "9", "exchanged_value": "3"}]
)
@pytest.mark.parametrize("rows", SEQUENCES)
def test_rows_of_one_trade_in_one_file_are_as_files_one_after_another(
    take_in: TakeIn, connection: Connection, known: Row | None, rows: list[Row]
) -> None:
    found = []
    for files in ([rows], [[row] for row in rows]):
        connection.execute("DELETE FROM trades; DELETE FROM positions; DELETE FROM native_prices")
        take_in("prices", PRICE)
        if known is not None:
            take_in("trades", trade(**known))
        take_in("prices", LATER_PRICE)
        for file in files:
            assert take_in("trades", *(trade(**row) for row in file)).status == 0
        found.append(
            connection.execute(
                "SELECT token_name, value_usd, usd_derived, value, exchanged_value, created_at FROM trades"
            ).fetchall()
        )
    assert found[0] == found[1]

"""Arguments of all operations: defaults, other paths, forms of addresses and mints, what is capped.

What is refused is in tests/contract/test_error_table.py.
"""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Row
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import ANN, EVM, GROUP, WALLETS, trade_row
from tests.lib.serving import Shared

# Responses are not cached: what was imported a moment ago counts.
pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

MINT = evm_mint_of("ab")
OWN = {"blockchain": "solana", "address": ANN}
SIGNALS = {"mode": "entry", "as_of": "2026-01-30T12:51:16Z"}
MOST = GROUP | {"mode": "most_traded"}
BOARD = GROUP | {"period": "1d"}
TOKEN = {"blockchain": "solana", "mint": mint_of("mint")}
LATEST, TIMERANGE, COUNT, VOLUME = (
    f"/transactions/{name}" for name in ("latest", "timerange", "count", "volume")
)


@pytest.fixture(scope="module")
def caller(shared: Shared) -> Caller:
    """A caller, where a wallet bought some minutes, hours and days ago, and one on Ethereum."""
    shared.importer.wallets(WALLETS)
    now = datetime.now(UTC)
    ages = [
        timedelta(minutes=30),
        timedelta(hours=2),
        timedelta(hours=23),
        timedelta(days=2),
        timedelta(days=8),
    ]
    shared.importer.trades(
        [
            *(trade_row(ANN, f"s{number}", now - age, value="10") for number, age in enumerate(ages)),
            trade_row(EVM, "e", now - ages[0], blockchain="eth", mint=evm_mint_of("AB")),
        ]
    )
    return shared.caller


# Path, arguments, the defaults of others, and what the data has: a number, or so many rows.
DEFAULTS: list[tuple[str, Row, Row, str, int]] = [
    ("/wallets/tracker", OWN, {"period": "1d"}, "period_trades", 3),
    ("/wallets/tracker", OWN, {"period": ""}, "period_trades", 3),
    ("/analytics", MOST, {"period": "7d", "limit": ""}, "tokens", 1),
    (LATEST, GROUP, {"limit": 50, "cursor": ""}, "transactions", 5),
    (TIMERANGE, GROUP, {"seconds": 3600, "limit": 50}, "transactions", 1),
    (COUNT, GROUP, {"hours": 24}, "count", 3),
    (VOLUME, GROUP, {"hours": 24}, "volume", 30),
    (VOLUME, GROUP | {"minutes": 60, "seconds": 0}, {"hours": ""}, "volume", 10),
    (VOLUME, GROUP | {"hours": 1, "minutes": 59, "seconds": 120}, {}, "volume", 20),
    (VOLUME, GROUP | {"seconds": 1}, {}, "volume", 0),
    ("/tokens/transactions", TOKEN, {"limit": 50, "type": ""}, "transactions", 5),
]


def test_what_is_left_out_or_empty_has_a_default(caller: Caller) -> None:
    for path, arguments, same, name, shown in DEFAULTS:
        data = caller.get(path, **arguments)
        assert caller.get(path, **arguments | same) == data, (path, same)
        value = data[name]
        assert (len(value) if isinstance(value, list) else value) == shown, (path, arguments)


def test_both_paths_are_one_operation(caller: Caller) -> None:
    for path, alias, arguments in (
        ("/wallet/leaderboard", "/wallets/leaderboard", BOARD),
        ("/wallets/tracker", "/wallet/tracking", OWN),
    ):
        assert caller.get(alias, **arguments) == caller.get(path, **arguments)


CAPPED: list[tuple[str, Row, Row, str]] = [
    # That every other limit is capped is in test_llms.py.
    (LATEST, GROUP, {"limit": 1001}, "limit was capped from 1001 to 1000."),
    ("/signals", GROUP | SIGNALS, {"hours": 169}, "hours was capped from 169 to 168."),
    (TIMERANGE, GROUP, {"hours": 1, "seconds": 1}, "The window was capped from 3601 to 3600 seconds."),
    (COUNT, GROUP, {"hours": 25}, "The window was capped from 90000 to 86400 seconds."),
    (VOLUME, GROUP, {"hours": 24, "seconds": 1}, "The window was capped from 86401 to 86400 seconds."),
]


def test_what_is_capped_is_warned_of(caller: Caller) -> None:
    for path, arguments, much, warning in CAPPED:
        data = caller.get(path, **arguments, **much)
        assert data.pop("warnings") == [warning], path
        # The longest window is the default one.
        most = {"limit": 1000} if "limit" in much else {}
        most |= {"hours": 168} if path == "/signals" and "hours" in much else {}
        whole = caller.get(path, **arguments, **most)
        assert data == whole, path
        assert "warnings" not in whole


def test_addresses_and_mints_of_evm_chains_are_found_in_any_case(caller: Caller) -> None:
    for address in (EVM, EVM.lower(), EVM.upper().replace("X", "x")):
        own = {"blockchain": "eth", "address": address}
        assert [
            caller.get("/wallets/history", **own, type="kol")["profile"]["wallet_address"],
            caller.get("/wallets/tracker", **own)["wallet"],
            caller.get("/wallet/pnl_calendar", **own)["wallet"],
            caller.get("/wallets/connections", **own)["wallet_address"],
            caller.get("/wallets/lookup", address=address)["wallet_address"],
        ] == [EVM.lower()] * 5
    for mint in (MINT, evm_mint_of("aB"), evm_mint_of("AB")):
        token = {"blockchain": "eth", "mint": mint}
        for path in ("transactions", "stats", "holders"):
            assert caller.get(f"/tokens/{path}", **token)["token"]["mint"] == MINT
        for path in (LATEST, TIMERANGE, COUNT, VOLUME):
            data = caller.get(path, **token, type="kol")
            assert (data["mint"], data.get("volume", data.get("count"))) == (MINT, 1)
        (row,) = caller.get("/tokens/prices", **token)["tokens"]
        assert (row["mint"], row["found"]) == (MINT, True)


def test_a_list_with_a_fault_is_refused_and_so_is_one_of_more_than_a_hundred(caller: Caller) -> None:
    many = "must be 1 to 100 values, separated by commas, none of them empty"
    unknown = "'nonsense'"
    addresses = ((f"{ANN},", many), (",".join([ANN] * 101), many), (f"{ANN},nonsense", unknown))
    mints = (("a,,b", many), (",".join("a" * 101), many), ("a," + "b" * 129, ""), ("a,\0", ""))
    for path, question, name, wrong in (
        ("/wallets/lookup", {}, "address", addresses),
        (LATEST, GROUP, "address", (*addresses, (f"{ANN},{EVM}", ""))),
        ("/tokens/transactions", TOKEN, "address", (*addresses, (f"{ANN},{EVM}", ""))),
        ("/tokens/prices", {"blockchain": "solana"}, "mint", mints),
    ):
        for value, message in wrong:
            error = caller.refused(path, **question | {name: value})
            assert (error["code"], error["parameter"]) == ("invalid_parameter", name), (path, value)
            assert message in error["message"]
    assert len(caller.get("/wallets/lookup", address=",".join([ANN] * 100))["wallets"]) == 100


def test_a_mint_that_nobody_traded_is_returned_as_it_was_requested(caller: Caller) -> None:
    for mint in (mint_of("Mint"), mint_of("nowhere")):
        for path in (LATEST, TIMERANGE, COUNT, VOLUME):
            data = caller.get(path, **GROUP, mint=mint)
            assert (data["mint"], data.get("volume", data.get("count"))) == (mint, 0)
            assert "token" not in data


def test_a_mint_that_is_no_address_of_its_chain_is_refused_with_where_to_find_it(caller: Caller) -> None:
    for chain, wrong in (
        # A coin has a price, and nothing else.
        ("solana", ("FROG", EVM, "1" * 31, "any text", "\0", "x" * 5000, "native")),
        ("eth", ("FROG", "0x123", mint_of("token"), f"{EVM}0")),
    ):
        for mint in wrong:
            error = caller.refused(LATEST, blockchain=chain, type="kol", mint=mint)
            assert (error["code"], error["parameter"]) == ("invalid_parameter", "mint"), mint
            assert f"is not an address of {chain}" in error["message"]
            assert "/v1/search" in error["message"]


def test_a_time_whose_plus_was_not_encoded_is_refused_with_how_to_write_it(caller: Caller) -> None:
    path, message = "/signals", "must be an ISO 8601 time, such as 2026-01-30T12:51:16Z"
    for moment, hint in (
        ("2026-01-30T12:51:16 00:00", "; the + of an offset is written %2B in a URL"),
        ("2026-01-30T12:51:16.123456 02", "; the + of an offset is written %2B in a URL"),
        ("2026-01-30 25:00", ""),
        ("soon 00:00", ""),
        # fromisoformat() ignores what follows a NUL.
        ("2026-01-30T12:51:16\0", ""),
        ("2026-01-30T00:00:00\0Z", ""),
    ):
        error = caller.refused(path, **GROUP, mode="entry", as_of=moment)
        assert error["message"] == f"Parameter as_of {message}{hint}.", moment
    assert caller.get(path, **GROUP, mode="entry", as_of="2026-01-30T12:51:16+00:00")["count"] == 0

"""GET /v1/search: wallets and tokens by their names, and what strangers cannot hide."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import ANN, BEN, EVM, SMART, WHALE, trade_row
from wallet_api.database import Connection
from wallet_api.ledger.rebuild import rebuild_ledger

NOW = datetime.now(UTC).replace(microsecond=0)


def trades(*given: tuple[str, str, str]) -> list[dict[str, Any]]:
    """A purchase each, of a wallet, in a token, with its name; each a minute after the one before."""
    return [
        trade_row(
            wallet,
            f"{wallet}-{mint_of(mint)}",
            NOW - timedelta(minutes=240 - number),
            mint=mint_of(mint),
            token_name=name,
        )
        for number, (wallet, mint, name) in enumerate(given)
    ]


def mints(found: dict[str, Any]) -> list[str]:
    return [row["mint"] for row in found["tokens"]]


def names(rows: Iterable[dict[str, Any]], name: str) -> list[str]:
    return [row[name] for row in rows]


def test_wallets_are_found_by_name_and_by_the_beginning_of_their_address(
    caller: Caller, database_url: str
) -> None:
    importer = Importer(database_url)
    wallets = [
        {"blockchain": "solana", "type": type, "wallet_address": address, "name": name}
        for address, type, name in (
            (ANN, "kol", "Ansem"),
            (BEN, "kol", "Ansem's brother"),
            (SMART, "smart", "Big-Ansem 🐸"),
            (WHALE, "whale", ""),
        )
    ]
    importer.wallets([*wallets, {"blockchain": "eth", "type": "kol", "wallet_address": EVM, "name": "ansem"}])
    found = caller.get("/search", q="ANSEM")
    assert found["q"] == "ANSEM"
    # What equals, what begins, what has a word.
    assert names(found["wallets"], "name") == ["ansem", "Ansem", "Ansem's brother", "Big-Ansem 🐸"]
    assert found["tokens"] == []
    assert names(caller.get("/search", q="ansem", blockchain="eth")["wallets"], "wallet_address") == [
        EVM.lower()
    ]
    assert names(caller.get("/search", q=WHALE[:6].lower())["wallets"], "wallet_address") == [WHALE]
    assert names(caller.get("/search", q=EVM.upper())["wallets"], "name") == ["ansem"]
    assert len(caller.get("/search", q="ansem", limit=1)["wallets"]) == 1
    # A word is searched from three characters on, the beginning of a name at once.
    assert names(caller.get("/search", q="br")["wallets"], "name") == []
    assert names(caller.get("/search", q="bro")["wallets"], "name") == ["Ansem's brother"]
    # A new name replaces the old one.
    importer.wallets([wallets[0] | {"name": "Zach"}])
    assert names(caller.get("/search", q="zach")["wallets"], "wallet_address") == [ANN]
    assert "Zach" not in names(caller.get("/search", q="ansem ")["wallets"], "name")


def test_tokens_are_found_by_symbol_name_and_mint_those_of_most_wallets_first(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    importer.trades(
        trades(
            *((ANN, "few", "Frog"), (BEN, "early", "frog"), (ANN, "many", "Froggy")),
            *((BEN, "many", "Froggy"), (SMART, "many", "Froggy"), (ANN, "late", "FROG")),
            *((ANN, "word", "The Based Frog"), (ANN, "within", "Superfrog"), (WHALE, "other", "$FROG")),
        )
    )
    found = caller.get("/search", q="frog")
    equal = [mint_of("late"), mint_of("early"), mint_of("few")]
    assert mints(found) == [*equal, mint_of("many"), mint_of("other"), mint_of("word")]
    assert found["tokens"][3] == {
        "blockchain": "solana",
        "currency": "SOL",
        "mint": mint_of("many"),
        "symbol": None,
        "token_name": "Froggy",
        "last_trade_at": f"{NOW - timedelta(minutes=236):%Y-%m-%dT%H:%M:%SZ}",
        "wallet_count": 3,
    }
    assert mints(caller.get("/search", q=mint_of("word").lower())) == [mint_of("word")]
    assert mints(caller.get("/search", q="frog", limit=2)) == equal[:2]
    assert mints(caller.get("/search", q="frog", blockchain="bnb")) == []
    # A symbol, once a node has returned it.
    token_id = connection.fetch_value("SELECT token_id FROM tokens WHERE mint = %s", [mint_of("within")])
    connection.execute(
        "INSERT INTO token_faces (token_id, symbol, name, tried_at)"
        " VALUES (%s, 'RIBBIT', 'Ribbit Coin', now())",
        [token_id],
    )
    rebuild_ledger(connection)
    [row] = caller.get("/search", q="ribbit")["tokens"]
    assert (row["mint"], row["symbol"], row["token_name"]) == (mint_of("within"), "RIBBIT", "Superfrog")


def test_names_of_scripts_without_blanks_are_found_anywhere_within(
    caller: Caller, importer: Importer
) -> None:
    importer.trades(
        trades((ANN, "cat", "可爱的小猫咪"), (ANN, "thai", "เหรียญกบ"), (ANN, "cyrillic", "Мем Лягушка"))
    )
    assert mints(caller.get("/search", q="小猫咪")) == [mint_of("cat")]
    assert mints(caller.get("/search", q="กบ")) == []
    assert mints(caller.get("/search", q="ญกบ")) == [mint_of("thai")]
    assert mints(caller.get("/search", q="Лягу")) == [mint_of("cyrillic")]


def test_ten_thousand_tokens_of_one_name_hide_neither_a_wallet_nor_the_token_that_most_trade(
    caller: Caller, importer: Importer
) -> None:
    importer.wallets([{"blockchain": "solana", "type": "kol", "wallet_address": ANN, "name": "USDC"}])
    real, second = mint_of("real"), evm_mint_of("5ec0")
    rows = trades(*((wallet, "real", "USDC") for wallet in (ANN, BEN, SMART)))
    rows.append(
        trade_row(EVM, "e", NOW - timedelta(days=2), blockchain="eth", mint=second, token_name="USDC")
    )
    false = [
        trade_row(
            WHALE, f"f{number}", NOW - timedelta(seconds=number % 3000), mint=mint_of(f"fake {number:05}")
        )
        | {"token_name": ("USDC", "usdc ", "USDC 2")[number % 3]}
        for number in range(10_000)
    ]
    importer.trades([*false, *rows])
    found = caller.get("/search", q="usdc")
    assert names(found["wallets"], "wallet_address") == [ANN]
    assert found["tokens"][0]["mint"] == real
    assert found["tokens"][0]["wallet_count"] == 3
    # On another chain it is not hidden, either.
    assert mints(caller.get("/search", q="usdc", blockchain="eth")) == [second]
    assert len(found["tokens"]) == 20
    assert len(caller.get("/search", q="usdc", limit=100)["tokens"]) == 100
    assert caller.get("/search", q="usdc", limit=101)["warnings"] == ["limit was capped from 101 to 100."]


def test_any_text_is_a_text(caller: Caller, importer: Importer) -> None:
    texts = ("%", "_", "\\", "'", "a" * 64, "*", "\u202e", "((", "0x", "ß", "İ", "😀", "a b")
    named = [name for q in texts for name in (f"x {q} y", q * 30)]
    importer.trades(trades(*((ANN, f"{number}", name) for number, name in enumerate(named))))
    for q in texts:
        assert caller.get("/search", q=q)["q"] == q


def test_a_name_that_no_position_has_any_more_finds_nothing(
    caller: Caller, importer: Importer, connection: Connection
) -> None:
    first, second = trades((ANN, "one", "Some Coin"), (ANN, "one", "Other Coin"))
    second["tx_signature"] += "-2"
    for limit, row, renamed in ((1, first, "Some"), (2, second, "Other"), (3, second, "Third")):
        importer.trades([row | {"token_name": f"{renamed} Coin"}])
        # With another limit each time: a response to the same question is cached.
        found = {
            name
            for name in ("Some", "Other", "Third")
            if caller.get("/search", q=name, limit=limit)["tokens"]
        }
        assert found == {renamed}
    assert set(rebuild_ledger(connection).values()) == {0}

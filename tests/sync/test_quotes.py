"""`wallet-api sync quotes`: what tokens cost on markets, as strangers quote it."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.rows import Row, trade_row
from tests.stub import faults
from tests.stub.markets import Pool, pair
from tests.stub.server import Stub
from tests.sync.operator import Operator, addresses, plain

NOW = datetime.now(UTC).replace(microsecond=0)
WALLETS = {"solana": addresses("solana", 1)[0], "bnb": addresses("bnb", 1)[0]}
SOLANA_MINT = "9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump"
CAT, DOG = f"0x{'ca' * 20}", f"0x{'d0' * 20}"
NOTHING = {"thin": 0, "far": 0, "unpriced": 0}
QUOTES = """
SELECT mint, span_seconds, usd, price, liquidity_usd, not_used
  FROM token_quotes
  JOIN tokens USING (token_id)
 ORDER BY mint, span_seconds, starts_at
"""


@pytest.fixture(autouse=True)
def _world(operator: Operator) -> None:
    """Native prices of now, and what two wallets bought an hour ago."""
    operator.environment["MARKET_PRICES_PROVIDER"] = "dexscreener"
    operator.track(*WALLETS.items())
    # In the present minute, whichever it is when the test ends.
    for minutes in (0, 30, 60, 90):
        operator.prices(*((coin, "200", NOW - timedelta(minutes=minutes)) for coin in ("SOL", "BNB")))
    operator.trades([bought("solana", SOLANA_MINT), bought("bnb", CAT), bought("bnb", DOG)])


def bought(chain: str, mint: str, **fields: Any) -> Row:
    """A buy of 2 tokens for 1 coin, an hour ago."""
    row = trade_row(WALLETS[chain], f"of-{mint}", NOW - timedelta(hours=1), blockchain=chain, mint=mint)
    return row | {"token_amount": "2"} | fields


def quotes(operator: Operator) -> dict[str, tuple[str | None, str | None]]:
    """Dollars of the kept quotes of hours by mint, and why they are not used."""
    return {
        row["mint"]: (None if row["usd"] is None else plain(row["usd"]), row["not_used"])
        for row in operator.fetch(QUOTES)
        if row["span_seconds"] == 3600
    }


def test_it_asks_for_what_is_held_and_keeps_what_is_quoted(stub: Stub, operator: Operator) -> None:
    stub.markets.pools = {
        ("solana", SOLANA_MINT): [Pool("110.5", 1000)],
        ("bnb", CAT): [Pool("99.25", 20581.61)],
    }
    done = operator.sync("quotes")
    assert done.status == 0
    empty = {"asked": 0, "quoted": 0, "missing": 0, "not_used": NOTHING, "failed": 0, "failures": {}}
    assert done.only["chains"] == {
        "solana": empty | {"asked": 1, "quoted": 1},
        "bnb": empty | {"asked": 2, "quoted": 1, "missing": 1},
        "base": empty,
        "eth": empty,
        "rh": empty,
    }
    assert (done.only["requests"], sorted(map(sorted, stub.markets.asked))) == (
        2,
        [[CAT, DOG], [SOLANA_MINT]],
    )
    assert quotes(operator) == {CAT: ("99.25", None), DOG: (None, "missing"), SOLANA_MINT: ("110.5", None)}
    rows = operator.fetch(QUOTES)
    assert [row["span_seconds"] for row in rows] == [60, 3600] * 3
    assert {plain(row["liquidity_usd"]) for row in rows if row["mint"] == CAT} == {"20581.61"}
    prices = {row["mint"]: row["price"] for row in rows}
    assert (plain(prices[CAT]), plain(prices[SOLANA_MINT])) == ("0.49625", "0.5525")


def test_nothing_is_asked_twice_in_a_minute_nor_what_is_held_in_an_hour(
    stub: Stub, operator: Operator
) -> None:
    old = NOW - timedelta(days=3)
    operator.trades([bought("bnb", f"0x{'01' * 20}", created_at=old.isoformat())])
    assert operator.sync("quotes").only["chains"]["bnb"]["asked"] == 3
    # The minute may end before the second one.
    operator.fetch("UPDATE market_prices SET asked_at = now() RETURNING 1")
    assert operator.sync("quotes").only["requests"] == 0
    operator.fetch("UPDATE market_prices SET asked_at = date_bin('1 hour', now(), 'epoch') RETURNING 1")
    asked = operator.sync("quotes").only["chains"]["bnb"]["asked"]
    # In the first minute of an hour all are due.
    assert asked == 2 or datetime.now(UTC).minute <= 1
    operator.fetch("UPDATE market_prices SET asked_at = asked_at - interval '61 minutes' RETURNING 1")
    assert operator.sync("quotes").only["chains"]["bnb"]["asked"] == 3


def test_what_was_sold_long_ago_is_not_asked_for(stub: Stub, operator: Operator) -> None:
    old = (NOW - timedelta(days=3)).isoformat()
    sold = {"transaction_type": "sell", "tx_signature": "sold", "created_at": NOW.isoformat()}
    operator.trades(
        [bought("bnb", f"0x{'01' * 20}", created_at=old), bought("bnb", f"0x{'01' * 20}", **sold)]
    )
    operator.sync("quotes", "--chain", "bnb")
    assert [sorted(request) for request in stub.markets.asked] == [[CAT, DOG]]


def test_tokens_are_asked_for_in_as_few_requests_as_the_provider_takes(
    stub: Stub, operator: Operator
) -> None:
    mints = addresses("bnb", 75)
    operator.trades(bought("bnb", mint) for mint in mints)
    stub.markets.pools = {("bnb", mint): [Pool("1")] for mint in mints}
    done = operator.sync("quotes", "--chain", "bnb")
    assert [len(request) for request in stub.markets.asked] == [30, 30, 17]
    assert (done.only["requests"], done.only["chains"]["bnb"]["quoted"]) == (3, 75)


# A pool, and why its price is not used. The trade of each token was at half a coin of 200 dollars.
POOLS = (
    *((Pool("100", liquidity), "thin") for liquidity in (None, 999.99, 0, "rubbish", -5000)),
    *((Pool("100", liquidity), None) for liquidity in (1000, "1000")),
    *((Pool(usd), None) for usd in (100.5, "1000", "10")),
    *((Pool(usd), "far") for usd in ("1000.01", "9.99", "1.5e-7", 1.5e-7)),
)


def test_a_quote_that_makes_no_price_is_kept_and_counted(stub: Stub, operator: Operator) -> None:
    cases = dict(zip(addresses("bnb", len(POOLS)), POOLS, strict=True))
    operator.trades(bought("bnb", mint) for mint in cases)
    stub.markets.pools = {("bnb", mint): [pool] for mint, (pool, _) in cases.items()}
    done = operator.sync("quotes", "--chain", "bnb")
    assert (done.status, done.only["chains"]["bnb"]["quoted"]) == (0, len(cases))
    assert done.only["chains"]["bnb"]["not_used"] == NOTHING | {"thin": 5, "far": 4}
    kept = {mint: (plain(Decimal(str(pool.usd))), why) for mint, (pool, why) in cases.items()}
    missing = (None, "missing")
    assert quotes(operator) == kept | {CAT: missing, DOG: missing}
    used = {
        row["mint"]
        for row in operator.fetch(
            "SELECT mint FROM market_prices JOIN tokens USING (token_id) WHERE price IS NOT NULL"
        )
    }
    assert used == {mint for mint, (_, why) in cases.items() if why is None}


def test_a_price_that_is_none_is_missing_and_stops_no_other(stub: Stub, operator: Operator) -> None:
    none = (None, "0", 0, "-1", "NaN", "Infinity", "1e400", "1e60", "", "1_000", True, [], {}, "١")
    mints = addresses("bnb", len(none))
    operator.trades(bought("bnb", mint) for mint in mints)
    stub.markets.pools = {("bnb", mint): [Pool(usd)] for mint, usd in zip(mints, none, strict=True)}
    stub.markets.pools["bnb", DOG] = [Pool("120")]
    done = operator.sync("quotes", "--chain", "bnb")
    assert (done.status, done.only["chains"]["bnb"]["missing"]) == (0, len(none) + 1)
    assert quotes(operator) == dict.fromkeys((*mints, CAT), (None, "missing")) | {DOG: ("120", None)}


def test_of_several_pools_the_deepest_in_which_it_is_the_base_token_counts(
    stub: Stub, operator: Operator
) -> None:
    stub.markets.pools = {
        ("bnb", CAT): [Pool("600000", 10), Pool("110", 90_000), Pool("777", 5_000), Pool("5", None)]
    }
    stub.markets.rows = [
        *(None, 7, "row", [], {}, {"baseToken": {"address": 5}}, {"chainId": "bsc", "baseToken": None}),
        # The token as that in which the price is, and a token of the same address on another chain.
        pair(
            "bsc", DOG, Pool("1", 10**9), quoteToken={"address": CAT}, baseToken={"address": f"0x{'ee' * 20}"}
        ),
        pair("ethereum", CAT, Pool("2", 10**9)),
        pair("bsc", CAT, Pool("3", 10**9), priceUsd=None),
    ]
    done = operator.sync("quotes", "--chain", "bnb")
    assert (done.status, done.only["chains"]["bnb"]["quoted"]) == (0, 1)
    assert quotes(operator) == {CAT: ("110", None), DOG: (None, "missing")}


# Which faults there are is in test_faults.py; a success in another form is this provider's own.
FAULTS = (faults.status(500), faults.document({"schemaVersion": "1.0.0", "pairs": None}))


def test_a_request_that_fails_leaves_the_other_quotes_and_the_old_ones(
    stub: Stub, operator: Operator
) -> None:
    stub.markets.pools = {("bnb", CAT): [Pool("110")], ("solana", SOLANA_MINT): [Pool("120")]}
    operator.sync("quotes")
    for fault in FAULTS:
        operator.fetch("UPDATE market_prices SET asked_at = asked_at - interval '2 minutes' RETURNING 1")
        stub.scenarios[f"/dexscreener/tokens/v1/bsc/{CAT},{DOG}"] = fault
        done = operator.sync("quotes")
        chains = done.only["chains"]
        assert (done.status, chains["bnb"]["failed"], chains["solana"]["quoted"]) == (3, 2, 1)
        assert quotes(operator) == {CAT: ("110", None), DOG: (None, "missing"), SOLANA_MINT: ("120", None)}
        # They are due until they are answered.
        del stub.scenarios[f"/dexscreener/tokens/v1/bsc/{CAT},{DOG}"]
        assert operator.sync("quotes", "--chain", "bnb").only["chains"]["bnb"]["quoted"] == 1


def test_a_quote_without_a_native_price_is_kept_and_not_used(stub: Stub, operator: Operator) -> None:
    operator.fetch("DELETE FROM native_prices WHERE currency = 'BNB' RETURNING 1")
    stub.markets.pools = {("bnb", CAT): [Pool("110")]}
    done = operator.sync("quotes", "--chain", "bnb")
    assert done.only["chains"]["bnb"]["not_used"] == NOTHING | {"unpriced": 1}
    assert quotes(operator)[CAT] == ("110", "unpriced")


def test_a_price_that_stays_far_away_is_used_when_another_agrees_ten_minutes_later(
    stub: Stub, operator: Operator
) -> None:
    verdicts = []
    for usd, minutes in (("5000", 0), ("5500", 9), ("7000", 11), ("5990", 1), ("6000", 1)):
        operator.fetch("UPDATE market_prices SET asked_at = asked_at - interval '1 hour' RETURNING 1")
        for column in ("quoted_at", "starts_at"):
            operator.fetch(
                f"UPDATE token_quotes SET {column} = {column} - interval '{minutes} minutes'"
                " WHERE not_used = 'far' RETURNING 1"
            )
        stub.markets.pools = {("bnb", CAT): [Pool(usd)]}
        done = operator.sync("quotes", "--chain", "bnb")
        verdicts.append(done.only["chains"]["bnb"]["not_used"]["far"])
    # Nine minutes are too few; 7000 is over a fifth more than 5000 and 5500; 5990 agrees with 5500.
    assert verdicts == [1, 1, 1, 0, 0]


def test_other_providers_have_the_same_quotes(stub: Stub, operator: Operator) -> None:
    stub.markets.pools = {
        ("solana", SOLANA_MINT): [Pool("120.5", 2000)],
        ("bnb", CAT): [Pool("110.25", 3000)],
        ("bnb", DOG): [Pool("110", None)],
    }
    operator.environment["MARKET_PRICES_PROVIDER"] = "geckoterminal"
    done = operator.sync("quotes")
    assert (done.status, done.only["requests"]) == (0, 2)
    # Without the pool's own liquidity that of all pools counts.
    assert quotes(operator) == {CAT: ("110.25", None), DOG: ("110", None), SOLANA_MINT: ("120.5", None)}
    operator.fetch("DELETE FROM market_prices RETURNING 1")
    operator.environment["MARKET_PRICES_PROVIDER"] = "jupiter"
    done = operator.sync("quotes")
    assert (done.status, list(done.only["chains"]), done.only["requests"]) == (0, ["solana"], 1)


def test_a_success_without_its_data_is_a_failure(stub: Stub, operator: Operator) -> None:
    limited = {"status": {"error_code": 429, "error_message": "…"}}
    for provider, document, outcome in (
        ("geckoterminal", limited, "rate_limited"),
        ("geckoterminal", {"errors": [{"status": "404", "title": "Not Found"}]}, "malformed"),
        ("geckoterminal", {"data": None}, "malformed"),
        ("jupiter", {"data": {SOLANA_MINT: {"price": "1"}}}, "malformed"),
        ("jupiter", [], "malformed"),
    ):
        stub.scenarios[provider] = faults.document(document)
        done = operator.sync("quotes", "--chain", "solana", MARKET_PRICES_PROVIDER=provider)
        assert (done.status, done.only["chains"]["solana"]["failures"]) == (3, {outcome: 1})


def test_without_a_provider_nothing_is_requested(stub: Stub, operator: Operator) -> None:
    done = operator.sync("quotes", MARKET_PRICES_PROVIDER="")
    assert (done.status, done.only["chains"], done.only["requests"]) == (0, {}, 0)
    refused = operator.sync("quotes", MARKET_PRICES_PROVIDER="birdeye")
    assert refused.status == 1
    assert "must be one of dexscreener, geckoterminal, jupiter" in refused.text
    assert stub.calls == []


def test_results_are_counted_since_ever_and_old_quotes_are_removed(stub: Stub, operator: Operator) -> None:
    operator.fetch(
        "INSERT INTO token_quotes SELECT token_id, seconds, at, at, 1, 1, 1 FROM tokens,"
        " (VALUES (60, now() - interval '2 days 1 minute'), (60, now() - interval '1 day'),"
        " (3600, now() - interval '90 days 1 minute'), (3600, now() - interval '89 days'))"
        " AS old (seconds, at)"
        " WHERE mint = %s RETURNING 1",
        DOG,
    )
    stub.markets.pools = {("bnb", CAT): [Pool("110")]}
    for _ in range(2):
        operator.fetch("UPDATE market_prices SET asked_at = asked_at - interval '2 minutes' RETURNING 1")
        operator.sync("quotes", "--chain", "bnb")
    ages = operator.fetch(
        "SELECT span_seconds FROM token_quotes WHERE starts_at < now() - interval '23 hours'"
    )
    assert sorted(row["span_seconds"] for row in ages) == [60, 3600]
    printed = operator.run("sync", "status", "--json").stdout
    counted = {row["result"]: row["total"] for row in json.loads(printed)["quotes"]}
    assert counted == {"used": 2, "missing": 2, "failed": 0} | NOTHING

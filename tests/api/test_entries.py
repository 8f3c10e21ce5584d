"""A new entry after an exit begins a new bag: no figure of what is held now remembers an old one."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, UNTRACKED, trade_row

pytestmark = pytest.mark.settings(answer_ttl_seconds=0, leaderboard_ttl_seconds=0)

NOW = datetime.now(UTC).replace(microsecond=0)
MINT = mint_of("mint")
CHAIN = {"blockchain": "solana"}


def bought(address: str, hours: float, tokens: str, value: str) -> dict[str, Any]:
    """A buy of so many tokens so many hours ago."""
    at = NOW - timedelta(hours=hours)
    return trade_row(address, f"buy-{hours}", at, token_amount=tokens, value=value)


def sold(address: str, hours: float, tokens: str, value: str) -> dict[str, Any]:
    """A sell of so many tokens so many hours ago."""
    return bought(address, hours, tokens, value) | {"transaction_type": "sell"}


@pytest.fixture
def entered(importer: Importer) -> None:
    """Ann bought a million tokens long ago, left, and came back as small as Ben, who is new."""
    importer.wallets([GROUP | {"wallet_address": address} for address in (ANN, BEN, UNTRACKED)])
    importer.trades(
        [
            bought(ANN, 50, "1000000", "1"),
            sold(ANN, 49, "1000000", "50"),
            *(bought(address, 2, "5000", "5") for address in (ANN, BEN)),
            # What is left is dust, from which a new bag begins.
            bought(UNTRACKED, 50, "1000000", "1"),
            sold(UNTRACKED, 49, "999999", "50"),
            bought(UNTRACKED, 2, "4999", "5"),
        ]
    )


@pytest.mark.usefixtures("entered")
def test_a_small_new_entry_is_held_as_if_there_had_been_no_other(caller: Caller) -> None:
    holders = caller.get("/tokens/holders", **CHAIN, mint=MINT, still_holding="true")["holders"]
    held = {
        row["profile"]["wallet_address"]: {
            name: row["holdings"][name] for name in ("token_amount", "token_amount_peak", "bag_pct")
        }
        for row in holders
    }
    whole = {"token_amount": 5000, "token_amount_peak": 5000, "bag_pct": 100}
    assert held == dict.fromkeys((ANN, BEN, UNTRACKED), whole)
    assert not caller.get("/tokens/holders", **CHAIN, mint=MINT, still_holding="false")["holders"]
    for address in held:
        history = caller.get("/wallets/history", **GROUP, address=address)
        stats, (row,) = history["lifetime_stats"], history["token_overview"]
        assert (row["still_holding"], stats["still_holding_count"]) == (True, 1)
        # It is not closed any more, so that its profit waits.
        assert (stats["total_sold"], stats["win_count"]) == (0, 0)
        tracker = caller.get("/wallets/tracker", **CHAIN, address=address)
        (token,) = tracker["period_active_tokens"]["tokens"]
        assert (token["still_holding"], token["bag_pct"]) == (True, 100)
    totals = caller.get("/tokens/stats", **CHAIN, mint=MINT)
    assert totals["total_holders"]["still_holding_count"] == 3
    assert totals["total_holdings"]["token_amount_peak"] == 15000
    after = {
        (row["profile"]["wallet_address"], row["tx_signature"]): row["holdings_after"]["token_amount_peak"]
        for row in caller.get("/transactions/latest", **GROUP)["transactions"]
    }
    assert after[ANN, "buy-2"] == after[UNTRACKED, "buy-2"] == after[BEN, "buy-2"] == 5000
    assert after[ANN, "buy-49"] == after[UNTRACKED, "buy-49"] == 1_000_000


@pytest.mark.usefixtures("entered")
@pytest.mark.parametrize("is_later", [False, True])
def test_who_leaves_a_small_new_entry_is_in_the_exit_signal_also_as_of_then(
    caller: Caller, importer: Importer, is_later: bool
) -> None:
    importer.trades(sold(address, 1, "5000", "4") for address in (ANN, BEN, UNTRACKED))
    if is_later:
        importer.trades(bought(address, 0, "1", "1") for address in (ANN, BEN, UNTRACKED))
    moment = (NOW - timedelta(minutes=30)).isoformat()
    data = caller.get("/signals", **GROUP, mode="exit", as_of=moment)
    (signal,) = data["signals"]
    assert {row["profile"]["wallet_address"] for row in signal["wallets"]} == {ANN, BEN, UNTRACKED}
    assert {row["held_tokens_peak"] for row in signal["wallets"]} == {Decimal(5000)}
    stats = caller.get("/wallets/history", **GROUP, address=ANN)["lifetime_stats"]
    assert stats["total_sold"] == (0 if is_later else 1)

"""What decides of first buyers, without a node: the most requests, and who bought together."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.discovery.launches import (
    Launch,
    ReadTransaction,
    Trades,
    candidate_wallets,
    candidates,
    joint_buyers,
)
from wallet_api.chain.discovery.purse import Purse, Spent
from wallet_api.chain.discovery.solana import curve_of

RECORDED = Path(__file__).parents[1] / "data" / "solana" / "transactions.ndjson"
AT = datetime(2026, 11, 1, tzinfo=UTC)
WALLET = candidate_wallets(CHAINS["solana"])


def draft(address: str, mint: str, seconds: float = 0, *, is_sell: bool = False) -> Draft:
    """Return a trade."""
    moment = AT + timedelta(seconds=seconds)
    return Draft(WALLET(address), f"{address} {mint} {seconds}", mint, is_sell, moment, None, Decimal(1))


def reading(address: str, mint: str, block: int = 1, *, is_sell: bool = False) -> ReadTransaction:
    """Return what a transaction with one trade was for a wallet."""
    trade = replace(draft(address, mint, block, is_sell=is_sell), block=block)
    return ReadTransaction(address, f"{address} {block}", [trade])


def test_no_request_is_sent_beyond_the_most_and_a_batch_counts_each_call() -> None:
    purse = Purse(10_000, 1, most=12)
    purse.wait(10)
    with pytest.raises(Spent):
        purse.wait(3)
    purse.wait(2)
    assert (purse.spent, purse.remaining) == (12, 0)
    with pytest.raises(Spent):
        purse.wait()


def test_an_allowance_ends_with_its_block() -> None:
    purse = Purse(10_000, 1, most=10)
    with purse.allowance(2):
        purse.wait(2)
        with pytest.raises(Spent):
            purse.wait()
    purse.wait(8)
    assert purse.remaining == 0


def test_a_wallet_is_early_by_its_first_buy_and_never_by_a_sell() -> None:
    launch = Launch("A", 1)
    assert not launch.add([reading("seller", "A", 1, is_sell=True), reading("one", "A", 1)], first=2)
    assert not launch.add([reading("one", "A", 2), reading("other", "B", 2)], first=2)
    assert launch.add([reading("two", "A", 3), reading("three", "A", 3)], first=2)
    assert list(launch.buyers) == ["one", "two"]
    assert launch.is_in_first_block("one")
    assert not launch.is_in_first_block("two")


def test_candidates_of_a_token_whose_beginning_is_not_shown_are_not_early_in_it() -> None:
    launches = [Launch(mint, 1) for mint in ("A", "B")] + [Launch("C")]
    for launch in launches:
        launch.add([reading("all", launch.mint)], first=5)
    launches[0].add([reading("one", "A")], first=5)
    assert candidates(launches, 1) == ["all", "one"]
    assert candidates(launches, 2) == ["all"]
    assert candidates(launches, 3) == []


def test_together_are_those_with_the_same_tokens_each_at_nearly_the_same_time() -> None:
    drafts = [
        *(draft("a", "A"), draft("b", "A", 5), draft("c", "A", 11), draft("d", "A", 1)),
        *(draft("a", "B", 100), draft("b", "B", 103), draft("c", "B", 101)),
        # A later buy is no first one.
        draft("b", "A", 900),
    ]
    assert joint_buyers(drafts) == {"a": ["b"], "b": ["a"], "c": [], "d": []}


def test_a_transaction_counts_once_and_other_tokens_are_left_alone() -> None:
    trades = Trades({"A"})
    trades.add([reading("one", "A"), reading("one", "A"), reading("one", "B", 2)])
    trades.add([ReadTransaction("one", "lost", why="lost"), ReadTransaction("two", "lost", why="lost")])
    assert [each.mint for each in trades.drafts_of({"one"})] == ["A"]
    assert trades.reasons(["one"]) == {"one": {"lost": 1}}


def test_a_curve_of_pump_fun_follows_from_the_mint() -> None:
    """The recorded transactions of the curves of two tokens name them."""
    rows = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    for start, mint in (
        ("4U8kypMuCU", "D66sbPtYqLnwPYcUqjDktrQtb52CnfF77C3sdpNpR8Si"),
        ("2s393PSYYx", "5dNYcCZXEGfGgbdUdq7MMR7KLsNJLLLgL83wLH8Fpump"),
    ):
        (row,) = (row for row in rows if row["signature"].startswith(start))
        keys = [key["pubkey"] for key in row["result"]["transaction"]["message"]["accountKeys"]]
        assert curve_of(mint) in keys

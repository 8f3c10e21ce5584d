"""Recorded transactions of Solana, decoded.

`transactions.ndjson` in tests/data/solana is described in tests/sync/recorded.py. `more.ndjson.gz` has
others, each with its source, whose wallets have `trades` as they are read and, where there are any, `stated`
ones: what the program's own event or the source says (`truth`), or what follows from the balances. Their
values are exact, apart by at most `tip` (what the wallet paid beside the swap), or only `valued` in dollars,
within 1 % of a stable leg or of `usd`.
"""

import copy
import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from tests.decoding.solana import decode_for, read, trades_of
from tests.stub.swaps import Row
from tests.sync.operator import plain
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.solana.transactions import Transaction
from wallet_api.chain.decoding.swaps import LIQUIDITY, NO_TRADE, Reason
from wallet_api.chain.decoding.trades import Decoded

_DATA = Path(__file__).parent.parent / "data" / "solana"
_STABLE = CHAINS["solana"].stable_mints
USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
# Orders that others fill.
ORDERS = ("3HdFhHNy", "3HxfYpPA", "42zg3foo", "4NAC7cK6", "4v28RP4A", "4vug6xbf", "4xqxLBqu", "5FBWfqrM")
ORDERS += ("DHFysLFq", "QFgRtoQK", "k2eGRDNq", "2GMpqA7d", "S3z6oPjo", "4J3eXqyT")

# What was bought was burned at once.
BURNED = ("4kHFU68W", "36B2ToBi")


@dataclass(frozen=True)
class Case:
    """A transaction, a wallet, its trades as they are read, and what is stated."""

    signature: str
    result: Row
    transaction: Transaction
    wallet: str
    trades: list[list[Any]]
    stated: Row = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.signature[:8]} {self.wallet[:6]}"

    def decode(self) -> Decoded:
        return decode_for(self.transaction, self.wallet)

    def change(self, mint: str) -> Decimal:
        """Return how much more of a token the wallet held afterwards."""
        change = Decimal(0)
        for balances, sign in (("preTokenBalances", -1), ("postTokenBalances", 1)):
            for balance in self.result["meta"][balances]:
                if (balance["owner"], balance["mint"]) == (self.wallet, mint):
                    amount = balance["uiTokenAmount"]
                    change += sign * Decimal(amount["amount"]).scaleb(-amount["decimals"])
        return change


def _read_cases() -> Iterator[Case]:
    for name in ("transactions.ndjson", "more.ndjson.gz"):
        opened = gzip.open if name.endswith(".gz") else open
        with opened(_DATA / name, "rt") as lines:
            for row in map(json.loads, lines):
                of_all = row["signature"], row["result"], read(row["result"])
                for wallet, of in row["wallets"].items():
                    if isinstance(of, list):
                        yield Case(*of_all, wallet, of)
                    else:
                        yield Case(*of_all, wallet, of["trades"], of)


CASES = list(_read_cases())


def shown(trades: list[list[Any]]) -> list[list[Any]]:
    """Return trades with plain numbers, and what was exchanged only where it is not the value."""
    numbers = [
        [*trade[:2], *(each if each is None else plain(each) for each in trade[2:])] for trade in trades
    ]
    return sorted([*trade[:5], None if trade[5] == trade[3] else trade[5]] for trade in numbers)


def test_every_recorded_transaction_is_the_trades_that_it_was() -> None:
    assert len(CASES) == 272
    found = {case.key: (decoded := case.decode(), trades_of(decoded)) for case in CASES}
    assert {key: trades for key, (_, trades) in found.items()} == {
        case.key: shown(case.trades) for case in CASES
    }
    whys = {key: decoded.why for key, (decoded, _) in found.items() if not decoded.drafts}
    # Two pairs of tokens that nothing values are the only ones that are left out.
    assert {key: why for key, why in whys.items() if why != NO_TRADE} == {
        "4bfz4iWG GTGZY9": Reason.NO_VALUE,
        "4vqjm8PZ ASR1WS": Reason.NO_VALUE,
        # What an order book settled.
        "3Zi7Y122 ob2htH": LIQUIDITY,
    }
    assert whys.keys() == {case.key for case in CASES if not case.trades}
    assert all(decoded.is_signed for decoded, _ in found.values() if decoded.drafts or decoded.is_kept)


def test_what_is_read_is_what_is_stated() -> None:
    stated = [case for case in CASES if "stated" in case.stated]
    assert len(stated) > 80
    for case in stated:
        print(case.key)
        _is_as_stated(case)


def _is_as_stated(case: Case) -> None:
    stated, rule = case.stated["stated"], case.stated["rule"]
    found = {(draft.mint, "sell" if draft.is_sell else "buy"): draft for draft in case.decode().drafts}
    assert {key: draft.token_amount for key, draft in found.items()} == {
        (mint, side): Decimal(amount) for mint, side, amount, _ in stated
    }
    stable = next((Decimal(amount) for mint, _, amount, _ in stated if mint in _STABLE), None)
    wanted, part = map(Decimal, case.stated.get("usd", (stable or 0, "0.01")))
    for mint, side, _, value in stated:
        draft = found[mint, side]
        if rule == "left_out_or":
            # The price; a fee was taken off the proceeds.
            assert draft.native - draft.extra == Decimal(value)
        elif rule in ("exact", "tip") and value is not None:
            assert abs(draft.native - Decimal(value)) <= Decimal(case.stated.get("tip", 0))
        else:
            assert draft.native or draft.usd_to_convert
            if wanted and (usd := draft.value_usd or draft.usd_to_convert):
                assert abs(usd - wanted) <= part * wanted


def test_the_amount_of_a_trade_is_the_change_of_the_wallets_balance() -> None:
    for case, (mint, side, amount, *_) in ((one, trade) for one in CASES for trade in one.trades):
        change = case.change(mint)
        if case.signature.startswith("58F9fNP7"):
            # The rest went on to a bridge.
            assert (mint, change, amount) == (USDC, Decimal("0.104871"), "34.95721")
        elif case.signature.startswith(ORDERS) and side == "sell":
            # It left the escrow, which the wallet had filled before.
            assert (case.key, change) == (case.key, 0)
        elif case.signature.startswith(BURNED):
            assert (case.key, side, change) == (case.key, "buy", 0)
        else:
            assert (case.key, Decimal(amount) * (1 if side == "buy" else -1)) == (case.key, change)


def test_each_damaged_transaction_is_read_or_unreadable() -> None:
    chance = random.Random(0)
    unreadable = 0
    for case in CASES:
        damaged = _damaged(case.result, chance)
        try:
            decoded = decode_for(read(damaged), case.wallet)
        except msgspec.ValidationError:
            # What the reader of a node's response leaves out.
            unreadable += 1
            continue
        unreadable += decoded.why == Reason.UNREADABLE
        assert bool(decoded.drafts) == (decoded.why is None)
    assert unreadable > len(CASES) // 3


def _damaged(result: Row, chance: random.Random) -> Row:
    """Return a transaction in which two values below `meta` or `message` are others, or missing."""
    result = copy.deepcopy(result)
    for _ in range(2):
        place: Any = chance.choice((result["meta"], result["transaction"]["message"]))
        names = [name for name in place if name not in ("err", "status")]
        while isinstance(place[name := chance.choice(names)], dict | list) and place[name]:
            place = place[name]
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
        if chance.random() < 0.5:
            del place[name]
        else:
            place[name] = chance.choice((None, 0, 1, -1, 2**63, "", "x", "-1", "1.5", [], {}))
    return result

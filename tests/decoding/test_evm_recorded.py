"""Recorded transactions of EVM chains, decoded with the answers of an archive, of traces, and of neither.

`transactions.ndjson` in tests/data/evm is described in tests/sync/recorded.py. `more.ndjson.gz` and
`third.ndjson.gz` have others, in the same form but for `changes`, those of all native balances, where they
are known, for the `input` where it is read, and for a `kind` and a `rule` of each wallet. `unproven` trades
are those of which nothing proves that the wallet agreed: they are named. `made.ndjson.gz` is made by hand
after published ABIs, for kinds of which none could be found recorded.

A `note` that begins with "either" is of what one source calls a trade and another one something else. Where a
node does not show what was traded, `read.json` has what is decoded instead, so that each change is seen:
`missed` with the reason, `noise` with the reason for what is no trade, or by how much a value is off.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.decoding.evm import ARCHIVE, BARE, TRACES, Given
from tests.stub.evm import TRANSFER, transfer
from wallet_api.base.chains import EVM_NATIVE_EMITTER
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED
from wallet_api.chain.decoding.trades import NO_VALUE, Decoded

_DATA = Path(__file__).parent.parent / "data" / "evm"
_FILES = ("transactions.ndjson", "more.ndjson.gz", "third.ndjson.gz", "made.ndjson.gz")


@dataclass(frozen=True)
class Case:
    """A transaction, a wallet, and its trades: mint, side, amount, coin, dollars, and what was exchanged."""

    given: Given
    changes: dict[str, int] | None
    wallet: str
    trades: list[list[Any]]
    left_out: str | None
    is_either: bool
    is_recorded: bool
    is_hard: bool
    is_unproven: bool
    is_unsigned: bool

    @property
    def signature(self) -> str:
        return str(self.given.receipt["transactionHash"])

    @property
    def key(self) -> str:
        return f"{self.signature[:10]} {self.wallet[:10]}"

    def read(self, node: str) -> str | None:
        """Return what is decoded with the answers of a node; None if what it would answer is not known."""
        given = self.given
        if node == TRACES:
            if self.changes is None:
                return None
            given = replace(given, coins=self.changes)
        decoded = given.decode(self.wallet, node, is_alone=node != TRACES)
        return self._compared(decoded)

    def _compared(self, decoded: Decoded) -> str:
        """Return "right", or how what was decoded differs from the trades."""
        why = None if decoded.why in (None, NO_TRADE, UNSIGNED) else str(decoded.why)
        if not self.trades:
            if decoded.drafts:
                return "right" if self.is_either else "false trade"
            return "right" if why == self.left_out else f"noise {why}" if why else "silent"
        drafts = decoded.unproven if self.is_unproven else decoded.drafts
        if not drafts:
            # A pair of two tokens that nothing values is said.
            is_said = decoded.detail == NO_VALUE and all(coin is None for *_, coin in self._values())
            return "right" if is_said or self.is_either else f"missed {decoded.why}"
        found = {(draft.mint, "sell" if draft.is_sell else "buy"): draft for draft in drafts}
        wanted = {(mint, side): amount for mint, side, amount, _ in self._values()}
        if {key: _cut(draft.token_amount) for key, draft in found.items()} != {
            key: _cut(Decimal(amount)) for key, amount in wanted.items()
        }:
            return "other amounts"
        off = Decimal(0)
        for mint, side, _, coin in self._values():
            if coin is not None and not found[mint, side].is_of_dollars:
                off = max(off, abs(found[mint, side].native / Decimal(coin) - 1))
        for mint, side, _, _, usd, exchanged in (trade for trade in self.trades if len(trade) > 4):
            draft = found[mint, side]
            assert usd is None or draft.value_usd == Decimal(usd)
            if exchanged is not None and not decoded.from_logs:
                assert draft.native - draft.extra == Decimal(exchanged)
        return "right" if off < Decimal("1e-12") else f"off {off:.4f}"

    def change(self, mint: str) -> Decimal:
        """Return how much more of a token the wallet has by its transfers."""
        change = 0
        for log in self.given.receipt["logs"]:
            if log["address"] == mint and log["topics"][:1] == [TRANSFER] and len(log["topics"]) == 3:
                for topic, sign in zip(log["topics"][1:], (-1, 1), strict=True):
                    change += sign * int(log["data"], 16) * topic.endswith(self.wallet[2:])
        return Decimal(change).scaleb(-self.given.decimals[mint])

    def _values(self) -> Iterator[tuple[str, str, str, str | None]]:
        return ((mint, side, amount, coin) for mint, side, amount, coin, *_ in self.trades)


def _cut(amount: Decimal) -> Decimal:
    return Decimal(f"{amount:.16g}")


def _lines(name: str) -> Iterator[dict[str, Any]]:
    opened = gzip.open if name.endswith(".gz") else open
    with opened(_DATA / name, "rt") as lines:
        yield from map(json.loads, lines)


def _read_cases() -> Iterator[Case]:
    for name in _FILES:
        for row in _lines(name):
            coins = {owner: int(units) for owner, units in row["coins"].items()}
            changes = (
                {owner: int(units) for owner, units in row["changes"].items()} if "changes" in row else None
            )
            # Of nearly all tokens that are not named the source gives no decimals: 18, as most have.
            decimals = Counter(dict.fromkeys(_tokens(row), 18)) | row["decimals"]
            for wallet, of in row["wallets"].items():
                yield Case(
                    Given(
                        *(row["chain"], row["receipt"], row["value"], coins, decimals),
                        placed_by=_Owner(wallet) if of.get("trades") else {},
                        input=bytes.fromhex(row.get("input", "0x")[2:]),
                    ),
                    changes,
                    *(wallet, of.get("trades", []), of.get("left_out")),
                    is_either=of.get("note", "").startswith("either"),
                    is_recorded=name != "made.ndjson.gz",
                    is_hard=name == "third.ndjson.gz",
                    is_unproven=of.get("unproven", False),
                    is_unsigned="unsigned" in of,
                )


class _Owner(dict[str, str]):
    """Orders in native coin, all of one owner."""

    def __init__(self, owner: str) -> None:
        super().__init__()
        self._owner = owner

    def get(self, key: str, default: Any = None) -> str:
        return self._owner


def _tokens(row: dict[str, Any]) -> set[str]:
    return {log["address"] for log in row["receipt"]["logs"]}


CASES = list(_read_cases())
READ: dict[str, dict[str, str]] = json.loads((_DATA / "read.json").read_text())


@cache
def results(node: str) -> dict[str, str]:
    """Return by case what is decoded with the answers of a node."""
    return {case.key: read for case in CASES if (read := case.read(node)) is not None}


@pytest.mark.parametrize("node", [ARCHIVE, TRACES, BARE])
def test_every_recorded_transaction_is_read_as_it_was(node: str) -> None:
    differences = {key: read for key, read in results(node).items() if read != "right"}
    assert differences == {key: reads[node] for key, reads in READ.items() if node in reads}


@pytest.mark.parametrize(("node", "least", "noise"), [(ARCHIVE, 99, 2), (TRACES, 99, 3), (BARE, 95, 5)])
def test_nearly_all_are_right_and_none_is_a_false_trade(node: str, least: int, noise: int) -> None:
    recorded = {case.key: case for case in CASES if case.is_recorded}
    read = {key: result for key, result in results(node).items() if key in recorded}
    assert "false trade" not in read.values()
    assert "other amounts" not in read.values()
    # Of a third corpus of 1,615 pairs only those are kept that are no plain trade, or were read wrongly once.
    read = {key: result for key, result in read.items() if not recorded[key].is_hard}
    trades = Counter(result.split()[0] for key, result in read.items() if recorded[key].trades)
    none = Counter(result.split()[0] for key, result in read.items() if not recorded[key].trades)
    # A value from logs lacks the fees that somebody kept in native coin.
    assert 100 * (trades["right"] + trades["off"]) >= least * trades.total()
    assert 100 * none["noise"] <= noise * none.total()
    off = [Decimal(result.split()[1]) for result in read.values() if result.startswith("off")]
    assert max(off, default=0) <= (Decimal("0.02") if node == BARE else 0)


def tomorrow(case: Case) -> Given:
    """Return a transaction as on a chain that logs each transfer of native coin (EIP-7708).

    Who has less pays those who have more, before the first transfer of the wallet; fees are not logged.
    """
    assert case.changes is not None
    given = case.given
    changes = Counter(case.changes)
    changes[given.receipt["from"]] += given.logs().receipt.fee
    paying = [[owner, -units] for owner, units in changes.items() if units < 0]
    native = []
    # Some sources have the part of the fee that a miner got.
    for owner, units in sorted(changes.items(), key=lambda change: change[0] != case.wallet):
        while units > 0 and paying:
            part = min(units, paying[-1][1])
            native.append(transfer(EVM_NATIVE_EMITTER, paying[-1][0], owner, part))
            units, paying[-1][1] = units - part, paying[-1][1] - part
            if not paying[-1][1]:
                paying.pop()
    logs = given.receipt["logs"]
    mine = (
        place for place, log in enumerate(logs) if any(case.wallet[2:] in topic for topic in log["topics"])
    )
    first = next(mine, 0)
    return replace(given, receipt=given.receipt | {"logs": [*logs[:first], *native, *logs[first:]]})


def test_tomorrow_with_logs_of_native_coin_a_node_without_state_shows_what_traces_show() -> None:
    cases = [(case, tomorrow(case)) for case in CASES if case.changes is not None]
    cases = [(case, given) for case, given in cases if given.receipt != case.given.receipt]
    assert len(cases) > 200
    differing = []
    for case, given in cases:
        for node in (ARCHIVE, BARE):
            read = replace(case, given=given).read(node)
            if read != case.read(TRACES):
                differing.append((case.key, node, read, case.read(TRACES)))
    assert differing == []


def test_the_amount_of_a_trade_is_the_change_of_the_wallets_balance() -> None:
    for case in CASES:
        for mint, side, amount, *_ in case.trades:
            # The transfer of an ERC-404 token has another form.
            if case.key != "0x7b81ddd5 0x9b76d386":
                change = case.change(mint) * (1 if side == "buy" else -1)
                assert (case.key, _cut(change)) == (case.key, _cut(Decimal(amount)))

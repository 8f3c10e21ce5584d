"""What looks like a trade without a proof: named by `sync status`, taken in by `sync accept`."""

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.ledger.in_process import Importer, Row
from tests.sync.evm_trades import CAT, DOG, FRIEND, WALLET, signature
from tests.sync.operator import Operator, values
from wallet_api.chain.decoding.swaps import UNSIGNED, Reason, TrackedWallet
from wallet_api.chain.decoding.trades import Decoded, Draft
from wallet_api.chain.providers.pace import Pace
from wallet_api.chain.providers.trades.source import Block, Chunk, Listed
from wallet_api.chain.sync.metrics import sync_metrics
from wallet_api.chain.sync.prices import Prices
from wallet_api.chain.sync.rounds import TradesSync
from wallet_api.chain.sync.sources import Provider
from wallet_api.chain.sync.summaries import TradesSummary
from wallet_api.database import connect

AT = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)


@dataclass
class Written:
    """A source of what was decoded, by transaction; each round reads all of it."""

    decoded: dict[str, Decoded] = field(default_factory=dict)
    orphans: list[Block] = field(default_factory=list)
    is_new: bool = True
    reads_blocks: bool = False
    states_final: bool = False

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks."""
        chunk = Chunk(orphans=self.orphans)
        for hash, decoded in self.decoded.items():
            for wallet in wallets:
                if all(draft.wallet == wallet for draft in (*decoded.drafts, *decoded.unproven)):
                    chunk.add(Listed(wallet, AT, hash), decoded, is_new=self.is_new)
        yield chunk


@pytest.fixture
def source(operator: Operator) -> Written:
    """A source, with a tracked wallet of Ethereum at 3,000 dollars a coin."""
    operator.track(("eth", WALLET))
    operator.prices(("ETH", "3000", AT))
    return Written()


def one_round(operator: Operator, source: Written) -> TradesSummary:
    """Run a round, and return its summary."""
    sync = TradesSync(
        provider=Provider(source, ["eth"], Pace(1000, 1), "KEY", "URL"),
        prices=Prices(()),
        since=AT,
        overlap=timedelta(0),
        threads=1,
    )
    with connect(operator.url) as connection:
        return sync.round(connection, threading.Event(), lambda done, of: None)


def wallet(operator: Operator, address: str = WALLET) -> TrackedWallet:
    """Return a tracked wallet."""
    (row,) = operator.fetch("SELECT wallet_id, blockchain, address FROM wallets WHERE address = %s", address)
    return TrackedWallet.from_row(row)


def draft(
    of: TrackedWallet, number: int, native: str = "1", *, mint: str = CAT, is_sell: bool = True
) -> Draft:
    """Return a trade of 100 units."""
    amounts = {"token_amount": Decimal(100), "native": Decimal(native), "value_usd": None}
    return Draft(of, signature(number), mint, is_sell, AT, name="Cat", **amounts)  # type: ignore[arg-type]


def unproven(*drafts: Draft) -> Decoded:
    """Return what a decoder makes of trades without a proof."""
    return Decoded(why=UNSIGNED, is_signed=False, unproven=drafts)


def named(operator: Operator) -> dict[str, list[Row]]:
    """Return what `sync status --json` names, by transaction."""
    result = operator.run("sync", "status", "--json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout)["named"]
    assert all((row["blockchain"], row["wallet_address"]) == ("eth", WALLET) for row in rows)
    return {row["tx_signature"]: row["trades"] for row in rows}


def test_a_sale_and_a_purchase_without_a_proof_are_named_and_no_trade(
    operator: Operator, source: Written
) -> None:
    of = wallet(operator)
    for number, is_sell in ((1, True), (2, False)):
        source.decoded[signature(number)] = unproven(draft(of, number, is_sell=is_sell))
    done = one_round(operator, source)
    assert (done.unsigned, done.named, done.left_out, done.status) == (2, 2, 0, 0)
    assert operator.ledger() == {}
    assert [trades[0]["transaction_type"] for trades in named(operator).values()] == ["sell", "buy"]
    text = operator.run("sync", "status").stdout
    assert f"sell 100 of {CAT} for 1 ETH" in text
    assert WALLET in text
    assert signature(1) in text
    # What is read again is named once.
    assert one_round(operator, source).named == 0
    assert len(named(operator)) == 2


@pytest.mark.parametrize(
    ("native", "at", "is_named"),
    [("0.0003", AT, False), ("0.0004", AT, True), ("0.0003", AT - timedelta(days=9), True)],
)
def test_dust_is_not_named_but_what_has_no_price_is(
    operator: Operator, source: Written, native: str, at: datetime, is_named: bool
) -> None:
    one = draft(wallet(operator), 1, native)
    one.created_at = at
    source.decoded[signature(1)] = unproven(one)
    done = one_round(operator, source)
    assert (done.unsigned, done.named, len(named(operator))) == (1, is_named, is_named)


def test_dollars_that_are_stated_decide(operator: Operator, source: Written) -> None:
    for number, usd in ((1, "0.99"), (2, "1")):
        one = draft(wallet(operator), number, "0", is_sell=False)
        one.usd_to_convert = one.value_usd = Decimal(usd)
        source.decoded[signature(number)] = unproven(one)
    one_round(operator, source)
    assert named(operator).keys() == {signature(2)}
    assert operator.run("sync", "accept", signature(2), WALLET).exit_code == 0
    # A three-thousandth of a coin, as an import of dollars alone computes it.
    value = "0.000333333333333333"
    assert values(operator.ledger()) == {(signature(2), CAT, "buy"): ("100", value, "1")}


def test_what_has_no_value_is_named_but_cannot_be_accepted(operator: Operator, source: Written) -> None:
    source.decoded[signature(1)] = unproven(draft(wallet(operator), 1, "0"))
    one_round(operator, source)
    assert named(operator).keys() == {signature(1)}
    assert f"sell 100 of {CAT} for ? USD" in operator.run("sync", "status").stdout
    result = operator.run("sync", "accept", signature(1), WALLET)
    assert (result.exit_code, "value is empty" in result.output) == (1, True)
    assert (operator.ledger(), len(named(operator))) == ({}, 1)


def test_the_first_hundred_of_a_wallet_are_named_and_the_others_counted(
    operator: Operator, source: Written
) -> None:
    of = wallet(operator)
    for number in range(1, 131):
        source.decoded[signature(number)] = unproven(draft(of, number))
    assert one_round(operator, source).named == 100
    source.is_new = False
    assert one_round(operator, source).named == 0
    assert len(named(operator)) == 100
    beyond = json.loads(operator.run("sync", "status", "--json").stdout)["named_beyond"]
    assert beyond == [{"blockchain": "eth", "wallet_address": WALLET, "beyond": 30}]
    assert "NOT NAMED" in operator.run("sync", "status").stdout
    with connect(operator.url) as connection:
        metrics = {metric.name: metric for metric in sync_metrics(connection, datetime.now(UTC))}
    shown = [metrics[f"wallet_api_sync_named{name}"].samples[0].value for name in ("", "_beyond")]
    assert shown == [100, 30]


def test_what_is_accepted_is_a_trade_that_later_readings_leave(operator: Operator, source: Written) -> None:
    of = wallet(operator)
    source.decoded[signature(1)] = unproven(draft(of, 1), draft(of, 1, mint=DOG, is_sell=False))
    source.decoded[signature(2)] = unproven(draft(of, 2))
    one_round(operator, source)
    result = operator.run("sync", "accept", signature(1), f"0x{WALLET[2:].upper()}")
    assert (result.exit_code, "2 trades" in result.output) == (0, True)
    trades = {
        (signature(1), CAT, "sell"): ("100", "1", "3000"),
        (signature(1), DOG, "buy"): ("100", "1", "3000"),
    }
    assert values(operator.ledger()) == trades
    assert named(operator).keys() == {signature(2)}
    (kept,) = operator.fetch("SELECT reason FROM sync_left_out WHERE tx_signature = %s", signature(1))
    assert kept["reason"] == "accepted"
    # An operator's word is no price.
    made = operator.fetch("SELECT DISTINCT exchanged_value AS exchanged FROM trades")
    assert [row["exchanged"] for row in made] == [0]
    # It stays, also where it cannot be read any more, and is not named again.
    for decoded in (source.decoded[signature(1)], Decoded(why=Reason.UNREADABLE, is_signed=False)):
        source.decoded[signature(1)] = decoded
        one_round(operator, source)
        assert values(operator.ledger()) == trades
        assert named(operator).keys() == {signature(2)}
    # Again is no change.
    assert "0 trades" in operator.run("sync", "accept", signature(1), WALLET).output


def test_an_accepted_trade_goes_with_its_block_and_by_remove(operator: Operator, source: Written) -> None:
    of = wallet(operator)
    for number in (1, 2):
        source.decoded[signature(number)] = unproven(draft(of, number))
    one_round(operator, source)
    for number in (1, 2):
        assert operator.run("sync", "accept", signature(number), WALLET).exit_code == 0
    source.decoded.clear()
    source.orphans = [Block(5, "0x5", AT, [signature(1)])]
    assert one_round(operator, source).reorganised == 1
    assert operator.signatures() == {signature(2)}
    assert operator.run("sync", "accept", signature(1), WALLET).exit_code == 1
    row = {"blockchain": "eth", "wallet_address": WALLET, "tx_signature": signature(2), "mint": CAT}
    Importer(operator.url).remove_trades([row | {"transaction_type": "sell"}])
    source.orphans, source.decoded = [], {signature(2): unproven(draft(of, 2))}
    one_round(operator, source)
    assert (operator.ledger(), named(operator)) == ({}, {})


def test_a_proof_that_comes_later_makes_it_a_trade_that_is_no_longer_named(
    operator: Operator, source: Written
) -> None:
    one = draft(wallet(operator), 1)
    source.decoded[signature(1)] = unproven(one)
    one_round(operator, source)
    source.decoded[signature(1)] = Decoded([one])
    assert one_round(operator, source).changed == 1
    assert named(operator) == {}


def test_what_is_not_named_cannot_be_accepted(operator: Operator, source: Written) -> None:
    source.decoded[signature(1)] = unproven(draft(wallet(operator), 1))
    one_round(operator, source)
    for transaction, address in ((signature(2), WALLET), (signature(1), FRIEND)):
        result = operator.run("sync", "accept", transaction, address)
        assert (result.exit_code, "No such transaction" in result.output) == (1, True)
    assert operator.ledger() == {}


def test_what_is_named_neither_expires_nor_is_tried_again(operator: Operator, source: Written) -> None:
    source.decoded[signature(1)] = unproven(draft(wallet(operator), 1))
    one_round(operator, source)
    operator.fetch("UPDATE sync_left_out SET first_seen_at = first_seen_at - interval '30 days' RETURNING 1")
    source.decoded.clear()
    one_round(operator, source)
    assert named(operator).keys() == {signature(1)}


def test_what_is_accepted_has_its_place_in_the_chain(operator: Operator, source: Written) -> None:
    one = draft(wallet(operator), 1)
    one.block, one.block_index = 8, 3
    source.decoded[signature(1)] = unproven(one)
    one_round(operator, source)
    assert operator.run("sync", "accept", signature(1), WALLET).exit_code == 0
    assert operator.fetch("SELECT block, block_index FROM trades") == [{"block": 8, "block_index": 3}]

"""`wallet-api sync trades --follow` with a Solana node: what it notifies of is in the ledger at once."""

import json
import time
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.lib.waiting import calm_seconds, eventually
from tests.stub import faults
from tests.stub.server import Stub
from tests.stub.swaps import Row
from tests.stub.transactions import Move, now, transaction
from tests.sync.operator import Operator, Running, Start, addresses
from tests.sync.recorded import read_notifications
from tests.sync.solana import SOL, WALLET, buy, read_from
from tests.sync.test_status import status, unclear


class Follow:
    """A running command that follows the wallet, with short times."""

    def __init__(self, stub: Stub, operator: Operator, start: Start, **environment: str) -> None:
        self.stub, self.operator = stub, operator
        times = {"FOLLOW_SECONDS": "0.3", "SYNC_OVERLAP_SECONDS": "0"}
        self.running: Running = start("trades", "--follow", "--since", "30m", **times | environment)
        self.running.next_round()

    def happen(self, signature: str, row: Row | None = None, wallet: str = WALLET, times: int = 1) -> None:
        """Make a transaction final, and notify of it."""
        row = row or buy(now(), wallet=wallet)
        self.stub.transactions.add(wallet, signature, row)
        self.stub.stream.notify([wallet], signature, row, times)

    def has(self, *signatures: str) -> bool:
        """Return whether the ledger comes to have exactly these transactions."""
        return eventually(lambda: self.operator.signatures() == set(signatures))

    def is_followed(self, *wallets: str) -> bool:
        return eventually(lambda: self.stub.stream.followed == set(wallets))


Begin = Callable[..., Follow]


@pytest.fixture(params=["transactionSubscribe", "logsSubscribe"])
def method(request: pytest.FixtureRequest, stub: Stub) -> str:
    """What the node has."""
    stub.stream.methods = {str(request.param), "slotSubscribe"}
    return str(request.param)


@pytest.fixture
def begin(stub: Stub, operator: Operator, start: Start) -> Begin:
    """Starts to follow the wallet."""
    read_from(stub, operator)
    return lambda **environment: Follow(stub, operator, start, **environment)


def test_a_final_trade_is_in_the_ledger_within_seconds_and_in_the_status(
    stub: Stub, method: str, operator: Operator, begin: Begin
) -> None:
    follow = begin()
    assert follow.is_followed(WALLET)

    def shows(*words: str) -> Callable[[], bool]:
        return lambda: any(
            line.split()[: len(words)] == list(words) for line in status(operator).splitlines()
        )

    assert eventually(shows("solana", method, "1", "of", "1", "yes"))
    row = buy(now(), units=1_500_000, lamports=123_456_789)
    began = calm_seconds()
    follow.happen("one", row)
    assert follow.has("one")
    seconds = calm_seconds() - began
    assert seconds < 3
    (trade,) = operator.ledger().values()
    assert (trade[0], trade[1], trade[3].timestamp()) == ("1.5", "0.123456789", row["blockTime"])
    # Neither list nor transaction are requested, if the node sends whole ones.
    assert stub.requests_of("getTransaction") == ([] if method == "transactionSubscribe" else ["one"])
    assert eventually(lambda: json.loads(status(operator, "--json"))["delays"] != [])
    (delays,) = json.loads(status(operator, "--json"))["delays"]
    # It was the only new trade, and is so when it is read again.
    assert (delays["blockchain"], delays["trades"]) == ("solana", 1)
    # The time of a block has whole seconds, and each bound is at most three times the one before.
    assert delays["nine_of_ten_seconds"] <= 3 * (seconds + 1)
    assert follow.running.end()[0] == 0
    operator.sync()
    assert not shows("solana", method)()
    (again,) = json.loads(status(operator, "--json"))["delays"]
    assert again == delays


def test_recorded_notifications_are_read(stub: Stub, method: str, operator: Operator, begin: Begin) -> None:
    recorded = read_notifications()
    seller = "Hf7pVwBoMkPNrwfiLb5Pwx3f7Mtxerk2VokB3URBX6MV"
    operator.track(("solana", seller))
    follow = begin()
    assert follow.is_followed(WALLET, seller)
    stub.stream.replay(recorded["slotNotification"])
    if method == "logsSubscribe":
        # Its transaction is that of a validator; here, the node has another one in its place.
        signature = recorded["logsNotification"]["params"]["result"]["value"]["signature"]
        stub.transactions.add(WALLET, signature, buy(now()))
        stub.stream.replay(recorded["logsNotification"])
        # Each of both subscriptions is notified.
        assert follow.has(signature)
        return
    result = recorded["transactionNotification"]["params"]["result"]
    # The node lists the same transaction: it may be read from there first.
    row = buy(now() - timedelta(seconds=5)) | {"slot": result["slot"]} | result["transaction"]
    stub.transactions.add(seller, result["signature"], row)
    stub.stream.replay(recorded["transactionNotification"])
    assert follow.has(result["signature"])
    (((*_, mint, side), trade),) = operator.ledger().items()
    assert (mint, side) == ("8Y3RkHg21Gj1VBXJi7pcay4qeRqRrY3juZaBac64pump", "sell")
    assert (trade[:2], trade[3].timestamp()) == (("2948735.678665", "0.085249447"), row["blockTime"])


def test_what_comes_twice_or_out_of_order_counts_once_and_what_is_not_final_not_at_all(
    stub: Stub, begin: Begin
) -> None:
    follow = begin()
    assert follow.is_followed(WALLET)
    follow.happen("late", buy(now(), lamports=2 * SOL))
    follow.happen("early", buy(now() - timedelta(seconds=9)), times=3)
    follow.happen("late", buy(now(), lamports=2 * SOL))
    follow.happen("unclear", unclear())
    # Of which nothing is notified, and what never becomes final disappears.
    for signature in ("soon", "lost"):
        stub.transactions.unfinal.add(signature)
        stub.transactions.add(WALLET, signature, buy(now()))
    assert follow.has("early", "late")
    kept = [{"tx_signature": "unclear", "reason": "no_value"}]
    assert eventually(lambda: follow.operator.fetch("SELECT tx_signature, reason FROM sync_left_out") == kept)
    stub.transactions.drop("lost")
    stub.transactions.unfinal.clear()
    follow.happen("soon")
    assert follow.has("early", "late", "soon")
    trades = follow.operator.fetch("SELECT block <= number AS final FROM trades, final_blocks")
    assert [row["final"] for row in trades] == [True] * 3


@pytest.mark.parametrize(
    ("method", "fault"), [("transactionSubscribe", "lost"), ("logsSubscribe", "silent")], indirect=["method"]
)
def test_a_gap_is_filled_and_a_connection_that_worked_is_made_again_soon(
    stub: Stub, method: str, begin: Begin, fault: str
) -> None:
    follow = begin()
    assert follow.is_followed(WALLET)
    stub.stream.is_silent, stub.stream.is_down = fault == "silent", fault == "lost"
    if fault == "lost":
        stub.stream.drop()
    follow.happen("unseen")
    # The connection counts as lost after ten periods without a slot.
    assert eventually(lambda: stub.stream.connections == 0 or fault == "silent")
    time.sleep(4 if fault == "silent" else 0.5)
    stub.stream.is_silent = stub.stream.is_down = False
    assert follow.is_followed(WALLET)
    assert follow.has("unseen")
    follow.happen("seen")
    assert follow.has("unseen", "seen")
    began = calm_seconds()
    for _ in range(8 if fault == "lost" else 0):
        stub.stream.drop()
        assert eventually(lambda: stub.stream.connections == 0)
        assert follow.is_followed(WALLET)
    # Pauses that double, although the connection worked, would take more than a minute.
    assert calm_seconds() - began < 30
    # Nothing of the address of the node, which contains a key.
    status, errors = follow.running.end()
    assert (status, "NODE-SECRET" in errors, "solana is not watched" in errors) == (0, False, True)


def test_after_a_refusal_the_wallets_are_followed_again(stub: Stub, begin: Begin) -> None:
    stub.stream.methods.remove("transactionSubscribe")
    follow = begin()
    assert follow.is_followed(WALLET)
    stub.scenarios["getTransaction"] = faults.in_turn(faults.status(418, Retry_After="1"))
    follow.happen("refused")
    stopped = follow.running.until(lambda summary: summary["stopped"])
    assert (stopped["stopped"], stopped["pause_seconds"]) == ("the provider has shut us out for a while", 1)
    assert follow.has("refused")
    assert follow.is_followed(WALLET)
    follow.happen("next")
    assert follow.has("refused", "next")


def test_notices_are_read_before_wallets_that_wait_for_the_rate_limit(
    stub: Stub, operator: Operator, begin: Begin
) -> None:
    stub.stream.methods.remove("transactionSubscribe")
    follow = begin(SYNC_RPC_REQUESTS_PER_SECOND="5", SYNC_THREADS="8")
    assert follow.is_followed(WALLET)
    # Each of them takes two requests: half a minute in all.
    operator.track(*(("solana", other) for other in addresses("solana", 80)))
    assert eventually(lambda: len(stub.requests_of("getSignaturesForAddress")) > 10)
    began = calm_seconds()
    for number in range(3):
        follow.happen(f"t{number}")
        assert eventually(lambda: len(operator.ledger()) == number + 1)  # noqa: B023
    assert calm_seconds() - began < 6
    assert len(set(stub.requests_of("getSignaturesForAddress"))) < 80


def flood(stub: Stub, many: int) -> None:
    """Notify of dust for the wallet. Each of it takes a request for the time of its slot."""
    for number in range(many):
        dust = transaction(now(), "stranger", Move("stranger", None, -1), Move(WALLET, None, 1))
        dust["slot"] = 10**9 + number
        stub.transactions.add("stranger", f"dust{number}", dust)
        stub.stream.notify([WALLET], f"dust{number}", dust)


def test_of_too_many_notices_only_their_wallets_are_read_again(
    stub: Stub, operator: Operator, begin: Begin
) -> None:
    (other,) = addresses("solana", 1)
    operator.track(("solana", other))
    follow = begin(SYNC_RPC_REQUESTS_PER_SECOND="40")
    assert follow.is_followed(WALLET, other)
    flood(stub, 1500)
    # Its notice is lost, and so it is found in the list.
    unseen = buy(now())
    stub.transactions.add(WALLET, "unseen", unseen)
    assert follow.has("unseen")
    assert "1 of 2 wallets are read again" in follow.running.end()[1]


def test_what_only_names_a_wallet_is_read_after_what_it_signed(stub: Stub, begin: Begin) -> None:
    follow = begin(SYNC_RPC_REQUESTS_PER_SECOND="40")
    assert follow.is_followed(WALLET)
    # Half a minute of requests.
    flood(stub, 900)
    began = calm_seconds()
    follow.happen("mine")
    assert follow.has("mine")
    assert calm_seconds() - began < 15
    assert len(stub.requests_of("getBlockTime")) < 700


def test_wallets_are_followed_and_left_without_a_restart(stub: Stub, method: str, begin: Begin) -> None:
    follow = begin()
    others = addresses("solana", 3)
    stub.transactions.add(others[0], "before", buy(now() - timedelta(minutes=5), wallet=others[0]))
    follow.operator.track(*(("solana", other) for other in others))
    assert follow.is_followed(WALLET, *others)
    follow.happen("new", wallet=others[2])
    assert follow.has("before", "new")
    follow.operator.fetch("DELETE FROM wallets WHERE address = %s RETURNING 1", others[2])
    assert follow.is_followed(WALLET, *others[:2])
    follow.happen("of the first")
    assert follow.has("before", "of the first")
    follow.operator.fetch("DELETE FROM wallets RETURNING 1")
    assert follow.is_followed()


def test_a_limit_on_subscriptions_is_told_and_the_others_are_read(stub: Stub, begin: Begin) -> None:
    stub.stream.methods.remove("transactionSubscribe")
    stub.stream.most = 2
    others = addresses("solana", 4)
    follow = begin(SYNC_TRADES_SECONDS="1")
    follow.operator.track(*(("solana", other) for other in others))
    assert eventually(lambda: len(stub.stream.followed) == 2)
    for number, other in enumerate(others):
        stub.transactions.add(other, f"t{number}", buy(now(), wallet=other))
    assert follow.has(*(f"t{number}" for number in range(4)))
    before = len(stub.stream.requested)
    time.sleep(1)
    assert len(stub.stream.requested) == before
    assert "allows no more than 2 watched wallets" in follow.running.end()[1]


def test_no_more_subscriptions_than_set(stub: Stub, begin: Begin) -> None:
    stub.stream.methods.remove("transactionSubscribe")
    follow = begin(FOLLOW_SUBSCRIPTIONS="3")
    follow.operator.track(*(("solana", other) for other in addresses("solana", 9)))
    assert eventually(lambda: len(stub.stream.followed) == 3)
    assert not eventually(lambda: len(stub.stream.followed) > 3, seconds=1)
    # A connection that a busy machine lost subscribes anew.
    assert eventually(lambda: len(stub.stream.followed) == 3)


def test_killed_at_any_instant_nothing_is_missed(
    stub: Stub, operator: Operator, start: Start, begin: Begin
) -> None:
    stub.stream.methods.remove("transactionSubscribe")
    expected = []
    follow = begin()
    for number in range(3):
        assert follow.is_followed(WALLET)
        for part in range(5):
            expected.append(f"t{number}-{part}")
            follow.happen(expected[-1])
            time.sleep(0.02 * number)
        follow.running.process.kill()
        follow.running.process.wait()
        assert eventually(lambda: stub.stream.connections == 0)
        follow = Follow(stub, operator, start)
    assert follow.has(*expected)


def test_wallets_are_read_once_an_hour_too(stub: Stub, begin: Begin) -> None:
    follow = begin()
    # At the start, and for what happened before it was followed.
    assert eventually(lambda: len(stub.requests_of("getSignaturesForAddress")) == 2)
    stub.transactions.add(WALLET, "not notified", buy(now()))
    time.sleep(2)
    assert follow.operator.ledger() == {}
    earlier = "UPDATE sync_wallets SET synced_until = synced_until - interval '1 hour' RETURNING 1"
    follow.operator.fetch(earlier)
    assert follow.has("not notified")

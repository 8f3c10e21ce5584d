"""`wallet-api sync trades` with a Solana node: its requests, faults and trades."""

from datetime import timedelta

import pytest

from tests.stub import faults
from tests.stub.faults import Scenario
from tests.stub.server import Stub
from tests.stub.swaps import Row, leg, swap
from tests.stub.transactions import WRAPPED, Move, now, transaction
from tests.sync.operator import Operator, Start, addresses, values
from tests.sync.solana import BONK, FART, SOL, USDC, WALLET, buy, own, pool, read_from
from tests.sync.test_status import status

AT = now() - timedelta(minutes=50)


@pytest.fixture(autouse=True)
def _tracked(operator: Operator, stub: Stub) -> None:
    read_from(stub, operator)


def test_the_whole_trade_with_its_time_and_its_dollars(stub: Stub, operator: Operator) -> None:
    stub.prices.hourly = lambda currency, moment: 160.0
    stub.transactions.add(WALLET, "for coin", buy(AT, units=1_500_000, lamports=123_456_789))
    moves = (own(USDC, -32 * 10**6), own(BONK, 10**6), pool(USDC, 32 * 10**6), pool(BONK, -(10**6)))
    # Somebody else paid the fee.
    stub.transactions.add(WALLET, "for dollars", transaction(AT, "relayer", *moves, own(None, 0)))
    operator.sync()
    assert operator.ledger() == {
        ("solana", WALLET, "for coin", FART, "buy"): ("1.5", "0.123456789", "19.75308624", AT, None),
        ("solana", WALLET, "for dollars", BONK, "buy"): ("1", "0.2", "32", AT, None),
        ("solana", WALLET, "for dollars", USDC, "sell"): ("32", "0.2", "32", AT, None),
    }


def test_an_nft_is_no_trade_and_what_is_unclear_is_left_out(stub: Stub, operator: Operator) -> None:
    nft = (
        *(Move(WALLET, BONK, 1, opened=True, decimals=0), own(None, -SOL)),
        *(Move("artist", BONK, -1, closed=True, decimals=0), Move("artist", None, SOL)),
    )
    stub.transactions.add(WALLET, "nft", transaction(AT, WALLET, *nft))
    # Partly for the coin, and partly for a token.
    paid = (own(None, -SOL), own(BONK, -9), own(FART, 7), pool(WRAPPED, SOL), pool(BONK, 9), pool(FART, -7))
    stub.transactions.add(WALLET, "unclear", transaction(AT, WALLET, *paid))
    stub.transactions.add(WALLET, "good", buy(AT))
    done = operator.sync()
    assert (done.status, done.only["no_trades"]) == (3, 1)
    why = "several tokens whose separate prices are unclear"
    assert done.only["left_out_reasons"]["unclear"] == {why: 1}
    assert operator.signatures() == {"good"}


def test_transactions_that_only_name_the_wallet_are_counted(stub: Stub, operator: Operator) -> None:
    for number in range(3):
        dust = transaction(AT, "stranger", Move("stranger", None, -1), own(None, 1))
        stub.transactions.add(WALLET, f"dust{number}", dust)
    stub.transactions.add(WALLET, "good", buy(AT))
    for others in (3, 3):
        done = operator.sync()
        assert (done.status, done.only["others"]) == (0, others)
    assert any(line.split()[:3] == ["solana", "others", "6"] for line in status(operator).splitlines())


def test_failed_transactions_are_not_even_asked_for(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "failed", buy(AT, err={"InstructionError": [2, {"Custom": 6001}]}))
    stub.transactions.add(WALLET, "good", buy(AT))
    assert operator.sync().only["changed"] == 1
    assert stub.requests_of("getTransaction") == ["good"]


@pytest.mark.parametrize("page_rows", [7, 1000])
def test_page_after_page_down_to_the_beginning_and_no_further(
    stub: Stub, operator: Operator, page_rows: int
) -> None:
    stub.transactions.page_rows = page_rows
    for number in range(70):
        # Several in a second, and chunks that end inside one.
        stub.transactions.add(WALLET, f"t{number}", buy(AT + timedelta(seconds=number // 4)))
    for number in range(20):
        stub.transactions.add(WALLET, f"old{number}", buy(now() - timedelta(days=40 + number)))
    assert operator.sync("trades", "--since", "30d").only["changed"] == 70
    assert len(stub.requests_of("getTransaction")) == 70
    assert operator.sync("trades", "--since", "30d").only["changed"] == 0
    assert operator.sync("trades", "--since", "60d").only["changed"] == 20


def test_a_list_that_goes_round_in_circles_ends_the_reading(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "s", buy(AT))
    circle = {"signature": "s", "slot": 1, "err": None, "blockTime": int(AT.timestamp())}
    stub.scenarios["getSignaturesForAddress"] = faults.document(
        {"jsonrpc": "2.0", "id": 0, "result": [circle]}
    )
    assert operator.sync().only["failures"] == {"malformed": 1}
    assert len(stub.requests_of("getSignaturesForAddress")) == 2


def test_what_fails_fails_its_wallet_and_no_other(stub: Stub, operator: Operator) -> None:
    bad = {
        "malformed": faults.raw(b'{"jsonrpc": "2.0", "result": {"meta'),
        "rate_limited": faults.rpc_error(-32005),
        "server_error": faults.rpc_error(-32009),
        "rejected": faults.rpc_error(-32011),
    }
    wallets = dict(zip(bad, addresses("solana", len(bad)), strict=True))
    operator.track(*(("solana", wallet) for wallet in wallets.values()))
    for outcome, wallet in wallets.items():
        stub.transactions.add(wallet, outcome, buy(now() - timedelta(minutes=2), wallet=wallet))
    stub.transactions.add(WALLET, "good", buy(AT))
    stub.scenarios |= bad
    done = operator.sync()
    assert (done.status, done.only["failures"]) == (3, dict.fromkeys(bad, 1))
    assert operator.signatures() == {"good"}
    assert "secret-path" not in done.text
    stub.scenarios.clear()
    assert operator.sync().only["changed"] == len(bad)


def test_a_young_transaction_that_is_listed_and_not_told_is_waited_for(
    stub: Stub, operator: Operator
) -> None:
    began = now() - timedelta(minutes=10)
    for number in range(60):
        stub.transactions.add(WALLET, f"t{number}", buy(began + timedelta(seconds=number)))
    stub.transactions.untold = {"t55"}
    done = operator.sync()
    assert (done.status, done.only["failures"]) == (1, {"server_error": 1})
    # What came before its chunk is in, and nothing that came after it.
    assert operator.signatures() == {f"t{number}" for number in range(50)}
    stub.transactions.untold = set()
    assert operator.sync().only["changed"] == 10


def test_one_that_is_told_a_moment_later_is_no_trouble(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "a", buy(AT))
    stub.transactions.add(WALLET, "b", buy(AT + timedelta(seconds=1)))
    null = {"jsonrpc": "2.0", "id": 0, "result": None}
    stub.scenarios["a"] = faults.in_turn(faults.document(null))
    assert operator.sync().only["changed"] == 2
    assert stub.requests_of("getTransaction") == ["a", "b", "a"]


def test_an_old_one_that_the_node_has_lost_is_kept_and_costs_no_other(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "lost", buy(now() - timedelta(days=3)))
    stub.transactions.add(WALLET, "no block", buy(now() - timedelta(days=3)))
    stub.transactions.add(WALLET, "new", buy(AT))
    stub.transactions.untold = {"lost"}
    stub.scenarios["no block"] = faults.rpc_error(-32009)
    done = operator.sync()
    assert (done.status, done.only["failed"], done.only["new_left_out"]) == (3, 0, 2)
    assert done.only["left_out_reasons"] == {"lost": {"the node no longer has the transaction": 2}}
    assert operator.signatures() == {"new"}
    # What is lost alarms once, is tried at each start, and is forgotten when it is there again.
    done = operator.sync()
    assert (done.status, done.only["left_out"], done.only["new_left_out"]) == (0, 2, 0)
    stub.transactions.untold = set()
    stub.scenarios.clear()
    assert operator.sync().only["changed"] == 2
    assert operator.fetch("SELECT tx_signature FROM sync_left_out") == []


def of_version(version: int, lamports: int = SOL) -> Row:
    """Return a simple buy in a transaction of this version."""
    return buy(AT, lamports=lamports) | {"version": version}


def test_transactions_of_newer_versions_are_asked_for_as_the_node_names_them(
    stub: Stub, operator: Operator
) -> None:
    for version in (0, 1, 2):
        stub.transactions.add(WALLET, f"version {version}", of_version(version))
    assert operator.sync().only["changed"] == 3
    # Once for the version that was not known, and never again in this process.
    assert len(stub.requests_of("getTransaction")) == 4


def test_an_older_node_that_knows_no_version_1_returns_all_others(stub: Stub, operator: Operator) -> None:
    stub.transactions.newest_version = 0
    stub.transactions.add(WALLET, "old", of_version(0))
    stub.transactions.add(WALLET, "new", of_version(1))
    done = operator.sync()
    assert operator.signatures() == {"old"}
    assert (done.status, done.only["synced"], done.only["unreadable"]) == (3, 1, 1)
    (kept,) = operator.fetch("SELECT tx_signature, reason, created_at FROM sync_left_out")
    assert kept == {"tx_signature": "new", "reason": "unreadable", "created_at": AT}
    # It alarms until it is read, although the synced span has moved on.
    stub.calls.clear()
    done = operator.sync(SYNC_OVERLAP_SECONDS="0")
    assert (done.status, done.only["new_left_out"], done.only["unreadable"]) == (3, 0, 1)
    assert "new" in stub.requests_of("getTransaction")
    stub.transactions.newest_version = 1
    done = operator.sync(SYNC_OVERLAP_SECONDS="0")
    assert (done.status, done.only["changed"], done.only["unreadable"]) == (0, 1, 0)
    assert operator.signatures() == {"old", "new"}


LIMITS = {
    # Where each was recorded or documented: providers' own pages, and the issues of their clients.
    "429 in a body": (429, "Too many requests for a specific RPC call"),
    "Helius": (-32429, "rate limited"),
    "QuickNode": (-32007, "50/second request limit reached - reduce calls per second"),
    "Solana": (-32005, "Node is behind by 200 slots"),
    "Base": (-32016, "over rate limit"),
}


def test_a_limit_in_the_body_of_a_success_pauses_all_requests(stub: Stub, operator: Operator) -> None:
    for number in range(6):
        stub.transactions.add(WALLET, f"t{number}", buy(AT))
    turns = [turn for limit in LIMITS.values() for turn in (None, faults.rpc_error(*limit))]
    stub.scenarios["getTransaction"] = faults.in_turn(*turns)
    done = operator.sync(HOLDINGS_BACKOFF_SECONDS="1")
    assert (done.status, done.only["changed"]) == (0, 6)
    moments = [call.moment for call in stub.calls if call.name == "getTransaction"]
    waits = [after - before for before, after in zip(moments[1::2], moments[2::2], strict=True)]
    assert {name: wait for name, wait in zip(LIMITS, waits, strict=True) if wait < 0.7} == {}


@pytest.mark.parametrize(
    "fault",
    [
        faults.rpc_error(-32429, "max usage reached"),
        faults.rpc_error(-32005, "daily request count exceeded, request rate limited"),
        faults.rpc_error(-32005, "daily request count exceeded, request rate limited", status=429),
    ],
)
def test_a_quota_that_is_used_up_ends_the_round(stub: Stub, operator: Operator, fault: Scenario) -> None:
    operator.track(*(("solana", address) for address in addresses("solana", 5)))
    stub.scenarios["rpc"] = fault
    done = operator.sync()
    assert (done.status, done.only["stopped"]) == (1, "the provider's quota of the day is used up")
    assert done.only["pause_seconds"] > 0


def test_what_is_not_there_yet_is_asked_for_again(stub: Stub, operator: Operator) -> None:
    for code in (-32004, -32014, -32019):
        stub.transactions.add(WALLET, f"{code}", buy(AT))
        stub.scenarios[f"{code}"] = faults.in_turn(faults.rpc_error(code))
    assert operator.sync().only["changed"] == 3


def test_a_slot_that_was_skipped_is_not_taken_for_a_limit(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "s", buy(now() - timedelta(days=2)))
    stub.scenarios["s"] = faults.rpc_error(-32007, "Slot 5 was skipped, or missing due to ledger jump")
    assert operator.sync().only["left_out_reasons"].keys() == {"lost"}


def test_names_are_not_requested_and_those_of_before_are_kept(stub: Stub, operator: Operator) -> None:
    stub.transactions.add(WALLET, "s", buy(AT))
    stub.scenarios["getMultipleAccounts"] = faults.status(500)
    assert operator.sync().only["changed"] == 1
    operator.fetch("UPDATE trades SET token_name = 'Fartcoin' RETURNING 1")
    assert operator.sync().only["changed"] == 0
    assert [trade[4] for trade in operator.ledger().values()] == ["Fartcoin"]


def test_after_a_change_of_the_source_no_trade_stands_twice(stub: Stub, operator: Operator) -> None:
    stub.swaps.add(
        "solana",
        WALLET,
        swap("both", AT, leg(FART, "1", "Fartcoin"), leg(WRAPPED, "1"), 160.0),
        swap("hop", AT, leg(USDC, "160", "USD Coin"), leg(WRAPPED, "1"), 160.0),
        swap("hop", AT, leg(FART, "1", "Fartcoin"), leg(USDC, "160", "USD Coin"), 160.0, pool="b"),
    )
    operator.sync(MORALIS_API_KEY="stub", SOLANA_TRADES_PROVIDER="moralis")
    stub.transactions.add(WALLET, "both", buy(AT, lamports=SOL + 5_000_000))
    stub.transactions.add(WALLET, "hop", buy(AT))
    operator.sync()
    assert {key: trade[:2] for key, trade in values(operator.ledger()).items()} == {
        # Told by both: as the new one has it. By the old one alone: as it was.
        ("both", FART, "buy"): ("1", "1.005"),
        ("hop", FART, "buy"): ("1", "1"),
        ("hop", USDC, "buy"): ("160", "1"),
        ("hop", USDC, "sell"): ("160", "1"),
    }
    assert operator.sync().only["changed"] == 0


def test_a_refusal_of_one_source_does_not_stop_the_other(stub: Stub, operator: Operator) -> None:
    operator.track(*(("bnb", address) for address in addresses("bnb", 3)))
    stub.scenarios["moralis"] = faults.status(401, faults.QUOTA)
    stub.transactions.add(WALLET, "s", buy(AT))
    done = operator.sync(MORALIS_API_KEY="stub")
    assert done.status == 3
    by_chains = {tuple(summary["chains"]): summary for summary in done.rounds}
    assert by_chains["solana",]["changed"] == 1
    assert by_chains["bnb", "base", "eth", "rh"]["stopped"] == "the provider's quota of the day is used up"


def test_chains_that_nothing_is_set_up_for_are_named_and_left_out(operator: Operator) -> None:
    operator.track(*(("bnb", address) for address in addresses("bnb", 3)))
    done = operator.run("sync", "trades")
    assert done.exit_code == 0
    assert done.stdout.startswith("Trades of solana: 1 of 1 wallets")
    assert "no provider is configured for bnb, base, eth, rh" in done.stderr
    for missing, done in (
        ("MORALIS_API_KEY", operator.sync("trades", "--chain", "bnb")),
        ("SOLANA_RPC_URL", operator.sync(SOLANA_RPC_URL="")),
    ):
        assert (done.status, done.rounds) == (1, [])
        assert f"\nError: {missing} is not set" in done.text


def test_a_reading_that_failed_goes_on_from_what_has_landed(stub: Stub, operator: Operator) -> None:
    for number in range(120):
        stub.transactions.add(WALLET, f"t{number}", buy(AT + timedelta(seconds=number)))
    stub.scenarios["t110"] = faults.status(500)
    assert operator.sync(SYNC_OVERLAP_SECONDS="0").only["failures"] == {"server_error": 1}
    assert len(operator.ledger()) == 100
    stub.scenarios.clear()
    stub.calls.clear()
    assert operator.sync(SYNC_OVERLAP_SECONDS="0").only["changed"] == 20
    assert stub.requests_of("getTransaction") == [f"t{number}" for number in range(100, 120)]


def test_a_wallet_with_much_to_read_gives_way_to_the_others(
    stub: Stub, operator: Operator, start: Start
) -> None:
    (quiet,) = addresses("solana", 1)
    operator.track(("solana", quiet))
    for number in range(230):
        stub.transactions.add(WALLET, f"t{number}", buy(AT + timedelta(seconds=number)))
    running = start("trades", "--every", "1", SYNC_RPC_REQUESTS_PER_SECOND="45")
    first = running.next_round()
    assert (first["synced"], first["behind"], first["left"]) == (1, 1, 0)
    stub.transactions.add(quiet, "now", buy(now(), wallet=quiet))
    # The next round may have requested the quiet one already; the one after that has not.
    for _ in range(2):
        later = running.next_round()
    assert (later["synced"], later["behind"]) == (1, 1)
    assert "now" in operator.signatures()
    running.until(lambda summary: not summary["behind"])
    running.end()
    assert len(operator.ledger()) == 231
    assert len(stub.requests_of("getTransaction")) == 231

"""`wallet-api discover` on an EVM chain: a launch made of the shapes of recorded transactions."""

import json
import signal
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.lib.waiting import eventually
from tests.stub import faults
from tests.stub.evm import ZERO, EvmChain, Transaction, log, now, transfer, word
from tests.stub.server import Stub
from tests.sync.discover import discover, sums
from tests.sync.evm_trades import CAT, DOG, ETH, FRIEND, GAS, POOL, SWAP, USDC, buy, receipt, sell
from tests.sync.operator import Operator, plain
from wallet_api.database import connect

DEV, SNIPER, STEADY, LUCKY, TWIN, OTHER_TWIN, FED, ONCE, LATE = (f"0x{n:040x}" for n in range(0xA1, 0xAA))
BEGAN = now() - timedelta(days=2)
CAT_BLOCK, DOG_BLOCK = 1003, 1013


@dataclass
class Launches:
    """Two tokens, CAT and DOG, from their creation to the present."""

    chain: EvmChain = field(default_factory=lambda: EvmChain(decimals={CAT: 6, DOG: 6}))
    number: int = 0

    def block(self, *transactions: Transaction) -> None:
        """Add a block twelve seconds after the last one."""
        self.chain.add(BEGAN + timedelta(seconds=12 * len(self.chain.blocks)), *transactions)

    def next(self) -> int:
        """Return the number of a new transaction."""
        self.number += 1
        return self.number

    def buy(self, wallet: str, mint: str, tokens: int, coin: float) -> Transaction:
        """Return a buy of whole tokens for coins."""
        return buy(self.next(), tokens * 10**6, int(coin * 1000) * ETH // 1000, wallet=wallet, mint=mint)

    def sell(self, wallet: str, mint: str, tokens: int, coin: float) -> Transaction:
        """Return a sell."""
        return sell(self.next(), tokens * 10**6, int(coin * 1000) * ETH // 1000, wallet=wallet, mint=mint)

    def create(self, mint: str) -> Transaction:
        """Return the creation of a token."""
        self.chain.contracts[mint] = self.chain.start + len(self.chain.blocks)
        return Transaction(receipt(self.next(), transfer(mint, ZERO, DEV, 10**15), sender=DEV), 0, {DEV: -1})

    def given(self, wallet: str, mint: str, tokens: int) -> Transaction:
        """Return a transfer of tokens from a friend."""
        given = transfer(mint, FRIEND, wallet, tokens * 10**6)
        return Transaction(receipt(self.next(), given, sender=FRIEND), 0, {FRIEND: -1})

    def blocks(self, blocks: Iterable[tuple[Transaction, ...]]) -> None:
        """Add blocks."""
        for block in blocks:
            self.block(*block)


@pytest.fixture
def launches(stub: Stub, operator: Operator) -> Launches:
    """Eight wallets in two launches. What each gains is computed by hand below."""
    made = Launches()
    operator.environment |= stub.evm_environment("eth") | {"ETH_CONFIRM_SECONDS": "24"}
    stub.nodes.blocks["eth"] = made.chain
    b, s = made.buy, made.sell
    made.blocks([(), (), ()])
    # CAT begins in block 1003.
    made.block(made.create(CAT), b(SNIPER, CAT, 50, 1))
    made.block(b(STEADY, CAT, 100, 1), b(LUCKY, CAT, 100, 1))
    made.block(s(SNIPER, CAT, 50, 1.5), b(ONCE, CAT, 100, 1))
    made.block(b(TWIN, CAT, 10, 1), b(OTHER_TWIN, CAT, 10, 1), b(FED, CAT, 100, 1))
    made.block(b(LATE, CAT, 10, 1), made.given(FED, CAT, 100))
    made.blocks([(), (), (), (), ()])
    # DOG begins in block 1013.
    made.block(made.create(DOG), b(SNIPER, DOG, 50, 1))
    made.block(s(SNIPER, DOG, 50, 1.25), b(STEADY, DOG, 10, 1), b(LUCKY, DOG, 10, 1))
    made.block(b(TWIN, DOG, 10, 1), b(OTHER_TWIN, DOG, 10, 1), b(FED, DOG, 10, 1))
    made.block(b(LATE, DOG, 10, 1))
    made.blocks([(), (), (), (), ()])
    made.block(s(STEADY, CAT, 100, 1.2), s(LUCKY, CAT, 50, 4), s(FED, CAT, 200, 3))
    made.block(s(STEADY, DOG, 10, 1.3), s(LUCKY, DOG, 10, 0.5), s(TWIN, CAT, 10, 0.9))
    made.block(s(OTHER_TWIN, CAT, 10, 0.8))
    made.blocks([(), (), ()])
    return made


def test_wallets_are_ranked_by_what_they_gained_in_several_tokens(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    assert found.status == 0, found.notes
    # LUCKY gained most, in one token; SNIPER and STEADY gained in both.
    assert found.wallets == [SNIPER, STEADY, LUCKY, FED, TWIN, OTHER_TWIN]
    rows = {row["address"]: sums(row, "won", "early_in", "realized") for row in found.document["wallets"]}
    assert rows == {
        # 1.5 - 1 and 1.25 - 1; 1.2 - 1 and 1.3 - 1.
        SNIPER: (2, 2, "0.75"),
        STEADY: (2, 2, "0.5"),
        # Half of the CAT cost 0.5: 4 - 0.5, and 0.5 - 1.
        LUCKY: (1, 2, "3"),
        # Of the 200 CAT that brought 3 only 100 were bought, for 1: 1.5 - 1.
        FED: (1, 2, "0.5"),
        TWIN: (0, 2, "-0.1"),
        OTHER_TWIN: (0, 2, "-0.2"),
    }
    assert found.document["is_whole"]
    # What a pool receives of who sells is nothing that is left out.
    assert [token["left_out"] for token in found.document["tokens"]] == [{}, {}]
    with connect(operator.url) as connection:
        assert connection.fetch_value("SELECT count(*) FROM discovery_results") == 0


def test_what_a_candidate_did_in_one_block_is_walked_in_the_order_of_the_chain(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    fast = f"0x{0xFA:040x}"
    launches.block(launches.buy(fast, CAT, 100, 1), launches.buy(fast, DOG, 10, 1))
    launches.block(launches.sell(fast, CAT, 100, 2), launches.buy(fast, CAT, 100, 3))
    launches.blocks([(), (), ()])
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "9")
    # Bought for 1, sold for 2, and bought again for 3.
    assert sums(found.of(fast), "won", "realized") == (1, "1")


def test_beside_each_candidate_stands_what_it_did_in_numbers(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    names = ("in_first_block", "fast_txn", "covered_txn", "sold_unbought", "still_holding")
    assert sums(found.of(SNIPER), *names) == (2, 2, 2, 0, 0)
    assert sums(found.of(FED), *names) == (0, 0, 1, 1, 1)
    assert sums(found.of(LUCKY), *names) == (0, 0, 2, 0, 1)
    assert found.of(TWIN)["together_with"] == [OTHER_TWIN, FED]
    assert found.of(STEADY)["together_with"] == [LUCKY]
    assert found.of(SNIPER)["together_with"] == []
    (cat, dog) = found.of(FED)["of_tokens"]
    assert sums(cat, "mint", "place", "bought_tokens", "sold_tokens", "tokens_without_cost") == (
        *(CAT, 7),
        *("100", "200", "100"),
    )
    assert sums(dog, "mint", "place", "held") == (DOG, 6, "10")


def test_the_list_can_be_imported_and_the_ledger_is_as_before(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth")
    with connect(operator.url) as connection:
        counts = [
            connection.fetch_value(f"SELECT count(*) FROM {table}")  # type: ignore[arg-type]
            for table in ("trades", "wallets", "positions", "tokens", "arrivals")
        ]
    assert counts == [0] * 5
    imported = operator.run("import", "wallets", str(found.file), "--json")
    assert json.loads(imported.stdout)["landed"] == len(found.wallets) == 7
    assert operator.sync("trades", "--since", "30d").status == 0
    profits = {row["address"]: row["realized"] for row in found.document["wallets"]}
    in_ledger = operator.fetch("SELECT address, realized FROM lifetimes JOIN wallets USING (wallet_id)")
    assert {row["address"]: plain(row["realized"]) for row in in_ledger} == profits


def test_a_run_with_too_few_requests_goes_on_without_paying_again(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    arguments = (CAT, DOG, "--chain", "eth", "--first", "7")
    whole = discover(operator, tmp_path, *arguments)
    needed = whole.document["requests"]["sent"]
    runs, sent = [], 0
    while not runs or runs[-1].status == 3:
        calls = len(stub.calls)
        runs.append(discover(operator, tmp_path, *arguments, "--max-requests", "30"))
        assert len(stub.calls) - calls == runs[-1].document["requests"]["sent"] <= 30
        sent += runs[-1].document["requests"]["sent"]
        assert len(runs) < 20
    assert runs[-1].status == 0
    assert runs[-1].document["wallets"] == whole.document["wallets"]
    # What a batch began is requested again, and nothing else.
    assert needed <= sent <= needed + 12 * len(runs)
    # Nobody is ranked by a part of what it did.
    assert all(run.wallets == [] or run.wallets == whole.wallets for run in runs)


@pytest.mark.parametrize("kind", ["limits", "lies", "crashes"])
def test_a_node_that_fails_costs_time_and_no_truth(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path, kind: str
) -> None:
    arguments = (CAT, DOG, "--chain", "eth", "--first", "7")
    truth = discover(operator, tmp_path, *arguments).document["wallets"]
    fault = {
        "limits": faults.in_turn(*[None] * 7, *[faults.status(429)] * 5),
        "lies": faults.in_turn(*[None] * 9, *[faults.document([])] * 6),
        "crashes": faults.in_turn(*[None] * 11, *[faults.close()] * 6),
    }[kind]
    stub.scenarios["rpc"] = fault
    found = discover(operator, tmp_path, *arguments)
    assert found.status == 0, found.notes
    assert found.document["wallets"] == truth
    assert "NODE-SECRET" not in found.notes + found.text


def test_a_node_that_ignores_the_filter_ranks_nobody(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    launches.chain.ignores_filters = True
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth")
    assert found.status == 1
    assert "malformed" in found.notes
    assert not found.file.exists()
    launches.chain.ignores_filters = False
    assert discover(operator, tmp_path, CAT, DOG, "--chain", "eth").status == 0


def test_a_node_without_old_state_needs_the_beginning(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    truth = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    launches.chain.state_blocks = 5
    launches.chain.has_traces = True
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    assert found.status == 3
    assert all("no old state" in token["why"] for token in found.document["tokens"])
    assert found.wallets == []
    since = ("--since", f"{CAT_BLOCK}", "--since", f"{DOG}={DOG_BLOCK}")
    given = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7", *since)
    assert given.status == 0
    assert given.wallets == truth.wallets
    assert [token["beginning"] for token in given.document["tokens"]] == [
        {"block": CAT_BLOCK, "is_given": True},
        {"block": DOG_BLOCK, "is_given": True},
    ]


def test_a_node_without_the_first_transfers_ranks_nobody_as_first(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    # The block of CAT's creation, as a node has it that has removed old logs.
    launches.chain.blocks[CAT_BLOCK - launches.chain.start].transactions.clear()
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth")
    cat, dog = found.document["tokens"]
    assert "earlier ones are missing" in cat["why"]
    assert dog["beginning"] == {"block": DOG_BLOCK, "is_given": False}
    assert (found.status, found.wallets) == (3, [])


def test_a_node_with_narrow_limits_is_read_as_well_and_a_block_beyond_them_is_said(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    truth = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    launches.chain.most_blocks, launches.chain.most_logs, launches.chain.most_topics = 3, 6, 4
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    assert (found.status, found.document["wallets"]) == (0, truth.document["wallets"])
    launches.chain.most_logs = 1
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "7")
    assert found.status == 3
    assert all("more transfers" in token["why"] for token in found.document["tokens"])


def test_an_address_without_a_contract_and_too_few_tokens_are_said(
    operator: Operator, launches: Launches, tmp_path: Path
) -> None:
    found = discover(operator, tmp_path, FRIEND, "--chain", "eth", "--min-tokens", "1")
    assert "no contract" in found.document["tokens"][0]["why"]
    few = discover(operator, tmp_path, CAT, CAT.upper().replace("X", "x"), "--chain", "eth")
    assert (few.status, "one token is given: name 2 or more" in few.notes) == (2, True)


def test_a_beginning_that_is_not_yet_there_ranks_nobody(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    later = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--since", "99999999")
    assert all("later than the newest" in token["why"] for token in later.document["tokens"])
    assert later.status == 3
    sent = len(stub.calls)
    future = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--since", "2999-01-01")
    assert (future.status, "is in the future" in future.notes) == (2, True)
    assert len(stub.calls) == sent


def test_nothing_is_spent_without_the_tables_that_rank(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    url = urlsplit(operator.url)._replace(path="/postgres").geturl()
    refused = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", DATABASE_URL=url)
    assert (refused.status, stub.calls) == (1, [])


def test_without_a_terminal_it_needs_consent_and_says_what_it_may_spend(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    file = tmp_path / "list.ndjson"
    file.write_text("mine")
    command = ["discover", CAT, DOG, "--chain", "eth", "--output", str(file)]
    result = operator.run(*command)
    assert result.exit_code == 1
    assert "at most 2,000 requests" in result.stderr
    assert f"{file}, which exists, is replaced." in result.stderr
    assert file.read_text() == "mine"
    assert "Add --yes" in result.stderr
    assert stub.calls == []


def test_a_table_shows_the_same(operator: Operator, launches: Launches, tmp_path: Path) -> None:
    command = ["discover", CAT, DOG, "--chain", "eth", "--yes", "--output", str(tmp_path / "list.ndjson")]
    result = operator.run(*command)
    assert result.exit_code == 0
    row = next(line.split() for line in result.stdout.splitlines() if SNIPER in line)
    assert row == ["1", SNIPER, "2/2", "0.7500", "0", "2", "0", "2/2", "0", "0"]
    row = next(line for line in result.stdout.splitlines() if OTHER_TWIN in line)
    assert "  #4 #6  " in row
    assert "requests left" in result.stderr


def test_trades_for_dollars_are_valued_with_the_native_price_of_their_hour(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    stub.prices.hourly = lambda currency, moment: 2000.0
    launches.chain.decimals[USDC] = 6

    def for_dollars(sign: int, dollars: int) -> Transaction:
        owners = (ONCE, POOL)[::sign]
        moved = ((USDC, *owners, dollars * 10**6), (DOG, *owners[::-1], 10**7))
        swap = log(POOL, (SWAP, word(ONCE), word(ONCE)), 1, 0, 0, 1)
        logs = (*(transfer(*each) for each in moved), swap)
        return Transaction(receipt(launches.next(), *logs, sender=ONCE), 0, {ONCE: -GAS})

    launches.block(for_dollars(1, 1000))
    launches.block(for_dollars(-1, 3000))
    launches.blocks([(), (), ()])
    found = discover(operator, tmp_path, CAT, DOG, "--chain", "eth", "--first", "9")
    # 1,000 of 2,000 dollars were half a coin: 1.5 - 0.5.
    dog = next(token for token in found.of(ONCE)["of_tokens"] if token["mint"] == DOG)
    assert sums(dog, "place", "invested", "sold", "realized") == (8, "0.5", "1.5", "1")
    assert found.of(ONCE)["left_out"] == {}


def test_a_run_that_is_ended_says_how_to_go_on_and_pays_little_twice(
    operator: Operator, stub: Stub, launches: Launches, tmp_path: Path
) -> None:
    arguments = (CAT, DOG, "--chain", "eth", "--first", "7")
    truth = discover(operator, tmp_path, *arguments).document
    before = len(stub.calls)
    command = ("discover", *arguments, "--yes", "--output", str(tmp_path / "found.ndjson"))
    with operator.process(*command, SYNC_RPC_REQUESTS_PER_SECOND="20") as process:
        assert eventually(lambda: len(stub.calls) - before > 40)
        process.send_signal(signal.SIGINT)
        _, notes = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the command again to go on" in notes
    sent = len(stub.calls) - before
    # The rate is that of requests, of which a batch is one.
    moments = sorted({round(call.moment, 4) for call in stub.calls[before:]})
    assert len(moments) / max(1.0, moments[-1] - moments[0]) < 22
    found = discover(operator, tmp_path, *arguments)
    assert found.document["wallets"] == truth["wallets"]
    assert sent + found.document["requests"]["sent"] <= truth["requests"]["sent"] + 30

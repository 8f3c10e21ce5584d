"""Transactions of strangers, with logs that are forged to seem as if a wallet had traded in them."""

import gc
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.decoding.evm import ARCHIVE, BARE, TRACES, Given
from tests.decoding.test_evm_recorded import CASES
from tests.decoding.test_evm_rules import CURVE
from tests.stub.evm import WITHDRAWAL, Row, log, transfer, word
from tests.sync.evm_trades import CAT, POOL, ROUTER, SWAP, WALLET, WETH, buy
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.swaps import NO_TRADE, UNSIGNED

VICTIM, STRANGER = f"0x{'71' * 20}", f"0x{'57' * 20}"
FAKES = [f"0x{number:040x}" for number in range(0xFA00, 0xFA04)]
FORGED = 10_000
WOMBAT = "0x7fa01e8d24e5a6ec56e00b4ff8ee7ed97e7650a7846ec494bbaa5d65f1be9ea4"


def amounts(receipt: Row) -> list[int]:
    """Return the amounts of a receipt's transfers, and some of no transfer."""
    found = [int(each["data"], 16) for each in receipt["logs"] if len(each["data"]) == 66]
    return [*found, 1, 10**18, 2**255, 2**256 - 1]


def forge(receipt: Row, chance: random.Random) -> Row:
    """Return a receipt of a stranger with forged logs, of every topic that decides anything."""
    known = amounts(receipt)
    tokens = [*FAKES, *(each["address"] for each in receipt["logs"] if chance.random() < 0.2)]
    owners = [STRANGER, *FAKES, *(each["address"] for each in receipt["logs"])]
    logs = [one for each in receipt["logs"] for one in (each, *forged_logs(chance, known, owners))]
    for token in chance.sample(tokens, 2):
        ends = [VICTIM, chance.choice(owners)]
        chance.shuffle(ends)
        # A token may log anything about itself, but no stranger moves the victim's money.
        if token in FAKES or ends[1] == VICTIM:
            logs.append(transfer(token, *ends, chance.choice(known)))
    return receipt | {"from": STRANGER, "to": chance.choice(FAKES), "logs": logs}


def forged_logs(chance: random.Random, known: list[int], owners: list[str]) -> list[Row]:
    """Return logs with the topics of venues, of any emitter but the true one, which name the victim."""
    logs = []
    for venue in chance.sample(EVM, 2):
        emitters = [owner for owner in owners if owner != venue.address]
        values = [chance.choice([int(VICTIM, 16), int(chance.choice(owners), 16), *known]) for _ in range(9)]
        topics = [word(chance.choice([VICTIM, *owners])) for _ in range(chance.randrange(4))]
        logs.append(log(chance.choice(emitters), [venue.topic or word(VICTIM), *topics], *values))
    return logs


def test_no_forged_log_makes_a_trade_of_a_wallet_that_consented_to_none() -> None:
    chance = random.Random(0)
    seen: dict[Any, int] = {}
    recorded = [case.given for case in CASES if len(case.given.receipt["logs"]) < 40]
    for _ in range(FORGED):
        given = chance.choice(recorded)
        # Dust comes with it, and balances of others change as it suits the stranger.
        coins = {VICTIM: chance.choice((0, 1, 10**15)), STRANGER: -(10**20), FAKES[0]: 10**20}
        decimals = given.decimals | dict.fromkeys(FAKES, 18)
        forged = Given(given.chain, forge(given.receipt, chance), 10**20, coins, decimals)
        decoded = forged.decode(VICTIM, chance.choice((ARCHIVE, TRACES)))
        assert not decoded.drafts
        assert decoded.why in (NO_TRADE, UNSIGNED)
        seen[decoded.why] = seen.get(decoded.why, 0) + 1
    # Most of them resemble trades.
    assert seen[UNSIGNED] > FORGED // 2


@pytest.mark.parametrize("node", [ARCHIVE, TRACES, BARE])
def test_whatever_a_wallet_has_signed_is_decided(node: str) -> None:
    chance = random.Random(1)
    recorded = [case.given for case in CASES if len(case.given.receipt["logs"]) < 40]
    for _ in range(700):
        given = chance.choice(recorded)
        receipt = forge(given.receipt, chance) | {"from": VICTIM, "to": chance.choice((VICTIM, FAKES[0]))}
        coins = {VICTIM: chance.choice((0, 10**18, -(10**18)))}
        decimals = dict(given.decimals) | dict.fromkeys(FAKES, 18)
        paid = chance.choice((0, 10**18))
        decoded = Given(given.chain, receipt, paid, coins, decimals).decode(VICTIM, node)
        assert decoded.is_signed
        assert bool(decoded.drafts) == (decoded.why is None)


def test_a_large_receipt_is_read_once_for_all_wallets() -> None:
    wallets = [f"0x{number:040x}" for number in range(1, 51)]
    usdc = next(iter(sorted(CHAINS["eth"].stable_mints)))
    logs = [transfer(FAKES[0], STRANGER, wallet, 10**18) for wallet in wallets]
    logs += [transfer(usdc, STRANGER, FAKES[1], 1), log(FAKES[1], [EVM[0].topic], *range(250_000))]
    receipt = {
        **{"transactionHash": f"0x{1:064x}", "from": STRANGER, "to": FAKES[1], "logs": logs},
        **{"gasUsed": "0x1", "effectiveGasPrice": "0x1"},
    }
    given = Given("eth", receipt, 0, {}, {FAKES[0]: 18})
    logs_of = given.logs()
    began = time.process_time()
    whys = [given.decode(wallet, ARCHIVE, logs=logs_of).why for wallet in wallets]
    assert set(whys) == {UNSIGNED}
    # Fifty readings of 16 MB would take longer than the reading of it once.
    once = time.process_time()
    given.logs()
    assert once - began < 10 * max(time.process_time() - once, 0.01)


def _work(pair: Callable[[int], list[Row]], pairs: int) -> float:
    """Return the CPU time of decoding the wallet's own trade, with so many pairs of logs beside it."""
    bought = buy(1)
    logs = [*bought.receipt["logs"], *(each for number in range(pairs) for each in pair(number))]
    decimals = {each["address"]: 18 for each in logs}
    given = Given("eth", bought.receipt | {"logs": logs}, bought.value, bought.coins, decimals)
    logs_of = given.logs()
    gc.collect()
    gc.disable()
    began = time.process_time()
    given.decode(WALLET, BARE, logs=logs_of)
    took = time.process_time() - began
    gc.enable()
    return took


def _owner(number: int) -> str:
    return f"0x{0xA0000 + number:040x}"


_PAIRS: dict[str, Callable[[int], list[Row]]] = {
    "a pool each": lambda number: [
        transfer(CAT, STRANGER, _owner(number), 7 + number),
        log(_owner(number), [CURVE, word(STRANGER)], 0, 7 + number, 1, 9 + number),
    ],
    "vaults": lambda number: [
        transfer(CAT, STRANGER, _owner(number), 7 + number),
        log(_owner(number), [WOMBAT, word(STRANGER)], 1, 2, 3, 7 + number, 9 + number),
    ],
    "tokens of one owner": lambda number: [
        transfer(_owner(number), STRANGER, WALLET, 7),
        transfer(WETH, WALLET, STRANGER, 1),
    ],
    "taxes": lambda number: [
        transfer(CAT, CAT, POOL, 7 + number),
        transfer(WETH, POOL, ROUTER, 5 + number),
        log(POOL, [SWAP], 5 + number, 7 + number),
        log(WETH, [WITHDRAWAL, word(ROUTER)], 5 + number),
    ],
}


@pytest.mark.parametrize("kind", _PAIRS)
def test_the_work_grows_with_the_logs_and_not_with_their_square(kind: str) -> None:
    # Quadratic work would be a hundred times as much. A busy machine is no fault: one of a few is enough.
    assert any(_work(_PAIRS[kind], 8000) <= 12 * _work(_PAIRS[kind], 800) for _ in range(5))

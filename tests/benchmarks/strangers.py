"""`sync trades --follow` while a stranger attacks in each block: is a trade missed, false, or late?

    python -m tests.benchmarks.strangers [--minutes 20] [--wallets 40]

Wallets of Ethereum trade all the time. Every other minute a stranger adds to each block what
tests/decoding/test_evm_forgery.py makes of recorded transactions, tokens whose contracts revert with the
words of a node, and many transfers to one wallet. At the end the ledger has to have the wallets' own trades
and nothing else; the delays from block to ledger are shown for the minutes with and without attacks. Ends
with status 0 if so, and if the median delay under attack is at most twice the other one.
"""

import random
import statistics
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import click

from tests.decoding.test_evm_forgery import FAKES, VICTIM, forge
from tests.decoding.test_evm_recorded import CASES
from tests.stub.evm import USER_OPERATION, EvmChain, Row, Transaction, log, transfer, word
from tests.sync.evm_trades import ETH, begin, buy, sell, signature
from tests.sync.operator import Operator, Running, operator_alone

_BLOCK_SECONDS = 2.0
_PHASE_SECONDS = 60.0
_SETTLE_SECONDS = 60.0
# A token whose contract reverts with words of a node.
_LIAR = f"0x{'11' * 20}"


class Attacker:
    """A stranger who attacks the wallets of a chain."""

    def __init__(self, wallets: list[str], chance: random.Random) -> None:
        self._wallets = wallets
        self._chance = chance
        self._recorded = [case.given.receipt for case in CASES if len(case.given.receipt["logs"]) < 30]
        self.sent = 0

    def transactions(self) -> list[Transaction]:
        """Return what he sends in a block."""
        return [*(self._forged() for _ in range(3)), self._lying(), self._dust()]

    def _forged(self) -> Transaction:
        receipt = forge(self._chance.choice(self._recorded), self._chance)
        victim = self._chance.choice(self._wallets)
        logs = [
            each
            | {
                "topics": [topic.replace(VICTIM[2:], victim[2:]) for topic in each["topics"]],
                "data": each["data"].replace(VICTIM[2:], victim[2:]),
            }
            for each in receipt["logs"]
        ]
        return self._send(receipt | {"logs": logs})

    def _lying(self) -> Transaction:
        """Return a transfer of the liar's token, and a forged operation of a victim."""
        victim = self._chance.choice(self._wallets)
        logs = [
            transfer(_LIAR, FAKES[0], victim, 10**18),
            log(FAKES[1], (USER_OPERATION, word(FAKES[0]), word(victim), word("0x0")), 1, 1, 1, 1),
        ]
        return self._send({"logs": logs})

    def _dust(self) -> Transaction:
        """Return many transfers to one wallet."""
        victim = self._chance.choice(self._wallets)
        return self._send({"logs": [transfer(FAKES[2], FAKES[0], victim, 1) for _ in range(300)]})

    def _send(self, receipt: Row) -> Transaction:
        self.sent += 1
        more = {
            "transactionHash": signature(0xA77AC << 32 | self.sent),
            **{"from": FAKES[0], "to": FAKES[1], "status": "0x1"},
            **{"gasUsed": hex(21_000), "effectiveGasPrice": hex(10**9)},
        }
        return Transaction(receipt | more)


@click.command()
@click.option("--minutes", default=20.0, show_default=True)
@click.option("--wallets", default=40, show_default=True)
def main(minutes: float, wallets: int) -> None:
    """Follow, attack, and judge."""
    chance = random.Random(7)
    addresses = [f"0x{number + 0xABC000:040x}" for number in range(wallets)]
    with operator_alone() as (stub, operator), ExitStack() as stack:
        operator.environment["FOLLOW_SECONDS"] = "1"
        chain = begin(stub, operator, "eth", *addresses)
        chain.decimals |= dict.fromkeys(FAKES, 18)
        stub.nodes.reasons[_LIAR] = "header not found: no backend, response size exceeds max"
        chain.add(datetime.now(UTC) - timedelta(minutes=1))
        attacker = Attacker(addresses, chance)
        since = (datetime.now(UTC) - timedelta(minutes=2)).isoformat()
        running = Running(
            stack.enter_context(operator.start("trades", "--json", "--follow", "--since", since))
        )
        landed, expected = _live(operator, chain, attacker, addresses, minutes * 60)
        ledger = {key[2] for key in operator.ledger()}
        status, errors = running.end()
    missing, more = expected.keys() - ledger, ledger - expected.keys()
    click.echo(f"{attacker.sent} attacks, {len(expected)} trades: {len(missing)} missing, {len(more)} false")
    medians = {}
    for attacked in (False, True):
        delays = sorted(
            landed[each] - at for each, (at, was) in expected.items() if was == attacked and each in landed
        )
        medians[attacked] = statistics.median(delays)
        last = delays[int(len(delays) * 0.99)]
        click.echo(f"{'attacked' if attacked else 'quiet'}: p50 {medians[attacked]:.2f} s, p99 {last:.2f} s")
    if status or missing or more:
        click.echo(errors[-3000:])
    sys.exit(0 if not (status or missing or more) and medians[True] <= 2 * medians[False] else 1)


def _live(
    operator: Operator, chain: EvmChain, attacker: Attacker, wallets: list[str], seconds: float
) -> tuple[dict[str, float], dict[str, tuple[float, bool]]]:
    """Let the chain go on, and return when each trade was in the ledger, and when it was in a block."""
    chance = random.Random(3)
    expected: dict[str, tuple[float, bool]] = {}
    landed: dict[str, float] = {}
    began = time.monotonic()
    due = number = 0
    while (now := time.monotonic() - began) < seconds + _SETTLE_SECONDS:
        if now >= due and now < seconds:
            due = int(now / _BLOCK_SECONDS + 1) * int(_BLOCK_SECONDS)
            is_attacked = int(now / _PHASE_SECONDS) % 2 == 1
            trades = []
            for _ in range(chance.choice((1, 2, 3))):
                number += 1
                make = chance.choice((buy, sell))
                trades.append(make(number, 10**6, ETH, wallet=chance.choice(wallets)))
            transactions = [*trades, *(attacker.transactions() if is_attacked else ())]
            chance.shuffle(transactions)
            with chain.lock:
                chain.add(datetime.now(UTC).replace(microsecond=0), *transactions)
            at = time.monotonic()
            expected |= {trade.hash: (at, is_attacked) for trade in trades}
        read = time.monotonic()
        rows = operator.fetch("SELECT tx_signature FROM trades")
        for row in rows:
            landed.setdefault(row["tx_signature"], read)
        if now > seconds and expected.keys() <= landed.keys():
            break
        time.sleep(0.1)
    return landed, expected


if __name__ == "__main__":
    main()

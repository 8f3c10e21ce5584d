"""Soak `wallet-api notify`: imports, corrections, removals, targets with faults, and SIGKILL at random.

    python -m tests.benchmarks.notify --minutes 8

At the end each target has been reported the last state of each trade, in the order of arrival, and ids repeat
only with the same body.
"""

import argparse
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, WALLETS, trade_row
from tests.lib.processes import Process, wallet_api
from tests.lib.receiver import SECRET, Receiver, receiving
from tests.lib.waiting import eventually
from wallet_api import embedded, migrations
from wallet_api.database import connect
from wallet_api.settings import Settings

RULES = {
    "all": "",
    "buys": 'transaction_type = "buy"\n',
    "sells": 'transaction_type = "sell"\n',
    "large": "min_value = 5\n",
    "dollars": "min_value_usd = 100\n",
    "ann": f'address = "{ANN}"\n',
    "kols": 'chain = "solana"\ntype = "kol"\n',
    "one": f'mint = "{mint_of("m0")}"\n',
    "none": 'chain = "base"\n',
    "together": 'transaction_type = "buy"\ncluster = {wallets = 2, hours = 1}\n',
}
TARGETS = ("good", "slow", "dead", "third", "close", "redirect")


def rules_of(receiver: Receiver) -> str:
    """Return ten rules, of which that about all trades has all targets."""
    targets = "".join(
        f'[targets.{name}]\nurl = "{receiver.url}/{name}"\nsecrets = ["{SECRET}"]\nper_minute = 6000\n'
        for name in TARGETS
    )
    return targets + "".join(
        f"[rules.{name}]\ntargets = {list(TARGETS) if name == 'all' else ['good']}\n{conditions}"
        for name, conditions in RULES.items()
    )


def set_faults(receiver: Receiver, dead_seconds: float) -> None:
    """Let each target have its fault."""
    ends_at = time.monotonic() + dead_seconds
    counts = {"third": 0}

    def third() -> int:
        counts["third"] += 1
        return 500 if counts["third"] % 3 == 0 else 204

    def slow() -> int:
        time.sleep(0.2)
        return 204

    receiver.behaviours |= {
        "/slow": slow,
        "/dead": lambda: 500 if time.monotonic() < ends_at else 204,
        "/third": third,
        "/close": lambda: 0 if random.random() < 0.3 else 204,
        "/redirect": lambda: 302,
    }


def change(importer: Importer, chance: random.Random, state: dict[str, Row], number: int) -> list[str]:
    """Import, correct or remove some trades; return the signatures of new ones."""
    now = datetime.now(UTC)
    existing = [one for one in state.values() if one]
    kind = chance.random()
    if kind < 0.2 and existing:
        own = chance.choice(existing)
        importer.remove_trades([own])
        state[own["tx_signature"]] = {}
        return []
    if kind < 0.4 and existing:
        own = chance.choice(existing)
        own["value"] = str(chance.randint(1, 9))
        importer.trades([own])
        return []
    rows = [
        trade_row(
            *(chance.choice([ANN, BEN]), f"t{number}-{part}", now - timedelta(seconds=chance.random() * 60)),
            mint=mint_of(f"m{chance.randint(0, 5)}"),
            transaction_type=chance.choice(["buy", "sell"]),
            value=str(chance.randint(1, 9)),
        )
        for part in range(chance.randint(1, 4))
    ]
    importer.trades(rows)
    state.update((row["tx_signature"], row) for row in rows)
    return [row["tx_signature"] for row in rows]


def faults_of(receiver: Receiver, state: dict[str, Row], target: str) -> list[str]:
    """Return what a target was not reported, or reported wrongly."""
    accepted = receiver.accepted(f"/{target}")
    of_all = [one.document for one in accepted if one.document.get("rule") == "all"]
    last = {one["data"]["tx_signature"]: one for one in of_all}
    faults = []
    for signature, row in state.items():
        reported = last.get(signature)
        if row and (
            reported is None
            or reported["type"] == "removal"
            or reported["data"]["value"] != int(row["value"])
        ):
            faults.append(f"{target}: {signature} is not reported as it is")
        if not row and reported is not None and reported["type"] != "removal":
            faults.append(f"{target}: {signature} is reported, and was removed")
    times = [one["timestamp"] for one in of_all]
    if times != sorted(times):
        faults.append(f"{target}: not in the order of arrival")
    bodies: dict[str, str] = {}
    for one in receiver.received:
        if one.path == f"/{target}" and bodies.setdefault(one.id, one.body) != one.body:
            faults.append(f"{target}: {one.id} has two bodies")
    return faults


def main() -> None:
    """Run the soak, and print what each target received."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, state = random.Random(options.seed), dict[str, Row]()
    imported_at: dict[str, float] = {}
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-api-notify-"))
        # The servers of root run as another user.
        Path(home).chmod(0o711)
        own = Settings(wallet_api_home=str(Path(home) / "home"))
        settings = stack.enter_context(embedded.running(own))
        receiver = stack.enter_context(receiving())
        url = str(settings.database_url)
        with connect(url) as connection:
            migrations.migrate(connection)
        importer = Importer(url)
        importer.wallets(WALLETS)
        rules = Path(home) / "rules.toml"
        rules.write_text(rules_of(receiver))
        set_faults(receiver, options.minutes * 20)

        def start() -> Process[str]:
            return wallet_api("notify", "--rules", str(rules), "--allow-private", settings=settings)

        process, kills, number = start(), 0, 0
        with connect(url) as connection:
            assert eventually(lambda: connection.execute("SELECT FROM notify_place").rowcount == 1, 60)
        ends_at, kill_at = time.monotonic() + options.minutes * 60, time.monotonic() + 5
        while time.monotonic() < ends_at:
            signatures = change(importer, chance, state, number)
            imported_at |= dict.fromkeys(signatures, time.time())
            number += 1
            time.sleep(chance.uniform(0.05, 0.6))
            if time.monotonic() > kill_at:
                process.kill()
                process.wait()
                kills += 1
                process, kill_at = start(), time.monotonic() + chance.uniform(3, 25)
        stack.callback(process.kill)
        checked = [name for name in TARGETS if name != "redirect"]
        eventually(lambda: not any(faults_of(receiver, state, name) for name in checked), 1200, 1.0)
        faults = [fault for name in checked for fault in faults_of(receiver, state, name)]
        for name in TARGETS:
            tries = [one for one in receiver.received if one.path == f"/{name}"]
            accepted = receiver.accepted(f"/{name}")
            repeated = sum(200 <= one.status < 300 for one in tries) - len(accepted)
            print(f"{name:9} {len(accepted):6} received, {len(tries):6} tries, {repeated:4} repeated")
        first = {}
        for one in receiver.accepted("/good"):
            if one.document["rule"] == "all" and one.document["type"] == "trade":
                first.setdefault(one.document["data"]["tx_signature"], one.at)
        delays = [first[name] - at for name, at in imported_at.items() if name in first]
        nine = statistics.quantiles(delays, n=10)[8]
        half = statistics.median(delays)
        print(f"{number} changes, {kills} kills; half within {half:.2f} s, 9 of 10 within {nine:.2f} s")
        print("\n".join(faults[:20]) or "All is reported, in its order.")


if __name__ == "__main__":
    main()

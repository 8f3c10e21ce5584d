"""Soak `wallet-api notify`: imports, corrections, removals, targets with faults, and SIGKILL at random.

    python -m tests.benchmarks.notify --minutes 8

It and the database are killed again and again; one target is dead for a third of the time, or ten minutes,
one refuses some trades for ever, one limits what it takes. At the end each target has been reported the last
state of each trade, by each rule that is about it, in the order of arrival, and the clusters that there are;
ids repeat only with the same body. What was refused is set aside, all of it and nothing else.
"""

import json
import math
import random
import statistics
import sys
import tempfile
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from tests.ledger.in_process import Importer, Row
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, WALLETS, trade_row
from tests.lib.processes import Process, environment_of, kill_all
from tests.lib.receiver import SECRET, Receiver, receiving
from tests.lib.waiting import eventually
from wallet_api.database import Connection, connect, migrations
from wallet_api.operate import embedded
from wallet_api.settings import Settings

# Of each rule that is not about clusters, whether it is about a row.
ABOUT: dict[str, Callable[[Row], bool]] = {
    "all": lambda row: True,
    "buys": lambda row: row["transaction_type"] == "buy",
    "sells": lambda row: row["transaction_type"] == "sell",
    "large": lambda row: int(row["value"]) >= 5,
    "ann": lambda row: row["wallet_address"] == ANN,
    "kols": lambda row: True,
    "one": lambda row: row["mint"] == mint_of("m0"),
}
HOUR = timedelta(hours=1)
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
TARGETS = ("good", "slow", "dead", "third", "close", "redirect", "refusing", "limiting")
# So many messages a limiting receiver takes in so many seconds.
LIMIT, LIMIT_SECONDS = 40, 4


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


def refused_status(signature: str) -> int:
    """Return how a refusing receiver responds to a trade: one in 60 it refuses, and one it aborts."""
    return {0: 400, 1: 422}.get(zlib.crc32(signature.encode()) % 60, 204)


def set_faults(receiver: Receiver, dead_seconds: float) -> None:
    """Let each target have its fault."""
    begins_at = time.monotonic() + dead_seconds / 2
    counts = {"third": 0}
    taken: deque[float] = deque(maxlen=LIMIT)

    def refusing(body: str) -> tuple[int, dict[str, str]]:
        status = refused_status(json.loads(body)["data"].get("tx_signature", ""))
        return status, {"webhook-delivery": "abort-message"} if status == 422 else {}

    def limiting(body: str) -> tuple[int, dict[str, str]]:
        now = time.monotonic()
        if len(taken) == LIMIT and now - taken[0] < LIMIT_SECONDS:
            return 429, {"Retry-After": str(math.ceil(taken[0] + LIMIT_SECONDS - now))}
        taken.append(now)
        return 204, {}

    def third(body: str) -> int:
        counts["third"] += 1
        return 500 if counts["third"] % 3 == 0 else 204

    def slow(body: str) -> int:
        time.sleep(0.2)
        return 204

    receiver.behaviours |= {
        "/slow": slow,
        "/refusing": refusing,
        "/limiting": limiting,
        "/dead": lambda body: 500 if begins_at < time.monotonic() < begins_at + dead_seconds else 204,
        "/third": third,
        "/close": lambda body: 0 if random.random() < 0.3 else 204,
        "/redirect": lambda body: 302,
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
    documents = [one.document for one in receiver.accepted(f"/{target}")]
    faults = []
    for rule, is_about in ABOUT.items() if target == "good" else [("all", ABOUT["all"])]:
        of_rule = [one for one in documents if one["rule"] == rule]
        last = {one["data"]["tx_signature"]: one for one in of_rule}
        for signature, row in state.items():
            if target == "refusing" and refused_status(signature) != 204:
                continue
            fault = _fault_of(last.get(signature), row, is_about)
            if fault:
                faults.append(f"{target}: {rule}: {signature} {fault}")
        times = [one["timestamp"] for one in of_rule]
        if times != sorted(times):
            faults.append(f"{target}: {rule}: not in the order of arrival")
    if target == "good":
        faults += cluster_faults([one for one in documents if one["rule"] == "together"], state)
    bodies: dict[str, str] = {}
    for received in receiver.received:
        is_other = bodies.setdefault(received.id, received.body) != received.body
        if received.path == f"/{target}" and is_other:
            faults.append(f"{target}: {received.id} has two bodies")
    return faults


def aside_faults(receiver: Receiver, connection: Connection) -> list[str]:
    """Return what was refused and is not set aside, or is set aside and was not refused."""
    refused = {one.id for one in receiver.received if one.path == "/refusing" and 400 <= one.status < 500}
    rows = connection.execute("SELECT target, message_id FROM notify_messages WHERE refused_at IS NOT NULL")
    aside = {row["message_id"] if row["target"] == "refusing" else row["target"] for row in rows}
    return [f"refusing: {id} is refused, or set aside, and not both" for id in refused ^ aside]


def _fault_of(reported: Any, row: Row, is_about: Callable[[Row], bool]) -> str:
    is_there = reported is not None and reported["type"] != "removal"
    if not row:
        return "is reported, and was removed" if is_there else ""
    if not is_there:
        return "is not reported" if is_about(row) else ""
    return "" if reported["data"]["value"] == int(row["value"]) else "is not reported as it is"


def cluster_faults(documents: list[Any], state: dict[str, Row]) -> list[str]:
    """Return which clusters were not reported, and which are none."""
    reported: dict[str, dict[datetime, str]] = {}
    for one in documents:
        cluster = one["cluster"]
        reported.setdefault(cluster["mint"], {})[datetime.fromisoformat(cluster["at"])] = one["type"]
    faults = []
    buys = [row for row in state.values() if row and row["transaction_type"] == "buy"]
    for mint in {row["mint"] for row in buys} | reported.keys():
        times = [
            (datetime.fromisoformat(row["created_at"]), row["wallet_address"])
            for row in buys
            if row["mint"] == mint
        ]
        # They are written in whole seconds.
        second = timedelta(seconds=1)
        ends = [end for end, type in reported.get(mint, {}).items() if type == "cluster"]
        faults += [
            f"{mint}: the cluster of {end} is none"
            for end in ends
            if len({wallet for at, wallet in times if end - HOUR < at < end + second}) < 2
        ]
        faults += [
            f"{mint}: the cluster of {end} is not reported"
            for end, _ in times
            if len({wallet for at, wallet in times if end - HOUR + second < at <= end}) > 1
            and not any(abs(each - end) < HOUR + second for each in ends)
        ]
    return faults


@click.command()
@click.option("--minutes", default=8.0, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(minutes: float, seed: int) -> None:
    """Run the soak, and print what each target received."""
    chance, state = random.Random(seed), dict[str, Row]()
    imported_at: dict[str, float] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wallet-api-notify-")))
        # The servers of root run as another user.
        folder.chmod(0o711)
        home = embedded.home_folder(Settings(wallet_api_home=str(folder / "home")))
        server = stack.enter_context(embedded.running_in(home))
        url = server.url
        settings = Settings(wallet_api_home=str(home), database_url=url)
        receiver = stack.enter_context(receiving())
        with connect(url) as connection:
            migrations.migrate(connection)
        importer = Importer(url)
        importer.wallets(WALLETS)
        rules = folder / "rules.toml"
        rules.write_text(rules_of(receiver))
        set_faults(receiver, min(600.0, minutes * 20))
        log = stack.enter_context((folder / "notify.log").open("w"))

        def start() -> Process[str]:
            command = [sys.executable, "-m", "wallet_api", "notify", "--rules", str(rules), "--allow-private"]
            return Process(command, env=environment_of(settings), stdout=log, stderr=log, text=True)

        process, kills, crashes, exits, number = start(), 0, 0, 0, 0
        stack.callback(lambda: process.kill())
        with connect(url) as connection:
            assert eventually(lambda: connection.execute("SELECT FROM notify_place").rowcount == 1, 60)
        ends_at = time.monotonic() + minutes * 60
        kill_at, crash_at = time.monotonic() + 5, time.monotonic() + 12
        while time.monotonic() < ends_at:
            signatures = change(importer, chance, state, number)
            imported_at |= dict.fromkeys(signatures, time.time())
            number += 1
            time.sleep(chance.uniform(0.05, 0.6))
            if process.poll() is not None:
                exits += 1
                process = start()
            if time.monotonic() > crash_at:
                kill_all(home / "postgres")
                crashes += 1
                time.sleep(chance.uniform(0, 8))
                server.start()
                crash_at = time.monotonic() + chance.uniform(20, 90)
            if time.monotonic() > kill_at:
                process.kill()
                process.wait()
                kills += 1
                process, kill_at = start(), time.monotonic() + chance.uniform(3, 25)
        checked = [name for name in TARGETS if name != "redirect"]
        eventually(lambda: not any(faults_of(receiver, state, name) for name in checked), 1500, 5.0)
        with connect(url) as connection:
            eventually(lambda: not aside_faults(receiver, connection), 60, 1.0)
            refusals = aside_faults(receiver, connection)
            count = connection.execute("SELECT FROM notify_messages WHERE refused_at IS NOT NULL").rowcount
            print(f"{count} refused and set aside")
        faults = [fault for name in checked for fault in faults_of(receiver, state, name)] + refusals
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
        print(f"{number} changes, {kills} kills, {crashes} of the database, {exits} exits")
        print(f"half within {half:.2f} s, 9 of 10 within {nine:.2f} s")
        lines = (folder / "notify.log").read_text().splitlines()
        errors = Counter(line for line in lines if line.startswith("Error") or "unexpected" in line)
        print("".join(f"{count} times {line}\n" for line, count in errors.items()), end="")
        print("\n".join(faults[:20]) or "All is reported, in its order.")


if __name__ == "__main__":
    main()

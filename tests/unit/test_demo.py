"""The synthetic data: its contents, valid rows, and repeatability."""

import hashlib
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import base58
import pytest

from wallet_api.chains import CHAINS
from wallet_api.demo.forms import decimal_text, seeded, solana_address, solana_signature, time_text
from wallet_api.demo.identities import make_wallets
from wallet_api.demo.tokens import Market
from wallet_api.demo.trader import Trader
from wallet_api.demo.world import World, ndjson
from wallet_api.ledger.readers import ndjson_records
from wallet_api.ledger.rows import PriceRow, TradeRow, WalletRow, good

NOW = datetime(2026, 11, 20, 12, 34, 56, tzinfo=UTC)
PAIRS = {(chain.name, type_) for chain in CHAINS.values() for type_ in chain.types}


@dataclass
class Position:
    """The walk over a position by average cost."""

    quantity: Decimal = Decimal(0)
    cost: Decimal = Decimal(0)
    realized: Decimal = Decimal(0)
    sold_cost: Decimal = Decimal(0)
    buys: int = 0
    sells: int = 0
    closes: int = 0
    reentries: int = 0
    uncovered: int = 0

    def take(self, row: dict[str, Any]) -> None:
        amount, value = Decimal(row["token_amount"]), Decimal(row["value"])
        if row["transaction_type"] == "buy":
            self.buys += 1
            self.reentries += self.quantity == 0 and self.closes > 0
            self.quantity += amount
            self.cost += value
            return
        self.sells += 1
        covered = min(amount, self.quantity)
        self.uncovered += covered < amount
        if covered:
            cost = self.cost if covered == self.quantity else self.cost * covered / self.quantity
            self.realized += value * covered / amount - cost
            self.sold_cost += cost
            self.quantity -= covered
            self.cost -= cost
            self.closes += self.quantity == 0


@dataclass
class Facts:
    """The results of one pass over the trades of the demo."""

    trades: Counter[tuple[str, str]] = field(default_factory=Counter)
    recent: Counter[tuple[str, str]] = field(default_factory=Counter)
    positions: dict[tuple[str, str, str], Position] = field(default_factory=lambda: defaultdict(Position))
    hours: Counter[str] = field(default_factory=Counter)
    in_order: bool = True
    first: str = ""
    last: str = ""
    with_usd: int = 0
    several_events: int = 0


@pytest.fixture(scope="module")
def world() -> World:
    """The demo with its defaults."""
    return World(NOW)


@pytest.fixture(scope="module")
def facts(world: World) -> Facts:
    facts = Facts()
    with localcontext(prec=50):
        for row in world.trade_rows():
            wallet = (row["blockchain"], row["wallet_address"])
            facts.trades[wallet] += 1
            facts.recent[wallet] += row["created_at"] > time_text(int(NOW.timestamp()) - 6 * 3600)
            facts.positions[*wallet, row["mint"]].take(row)
            facts.hours[row["created_at"][:13]] += 1
            facts.in_order &= facts.last <= row["created_at"]
            facts.first = facts.first or row["created_at"]
            facts.last = row["created_at"]
            facts.with_usd += "value_usd" in row
            facts.several_events += row["event_index"] > 0
    return facts


@pytest.fixture(scope="module")
def small() -> World:
    return World(NOW, wallets=60, trades=6_000, days=10, seed=7)


def test_wallets_cover_every_chain_and_type(world: World) -> None:
    rows = list(world.wallet_rows())
    assert len(rows) >= 300
    assert {(row["blockchain"], row["type"]) for row in rows} == PAIRS
    assert len({(row["blockchain"], row["wallet_address"]) for row in rows}) == len(rows)


def test_kols_have_a_profile_and_the_others_mostly_none(world: World) -> None:
    rows = list(world.wallet_rows())
    kols = [row for row in rows if row["type"] == "kol"]
    others = [row for row in rows if row["type"] != "kol"]
    assert all(row["name"] and row["image_url"] and row["copytrade_link"] for row in kols)
    for chain in CHAINS:
        names = [row["name"] for row in kols if row["blockchain"] == chain]
        assert len(set(names)) == len(names)
    assert sum(bool(row["twitter"]) for row in kols) > 0.8 * len(kols)
    assert 0 < sum(bool(row["telegram"]) for row in kols) < len(kols)
    assert 0 < sum(bool(row["name"]) for row in others) < 0.3 * len(others)


def test_a_demo_can_have_fewer_wallets_than_groups() -> None:
    assert len(list(World(NOW, wallets=3, trades=10, days=1).wallet_rows())) == 3
    assert len(list(World(NOW, wallets=9, trades=1, days=1).trade_rows())) == 1


def test_trades_are_as_many_as_asked_for_and_heavy_tailed(facts: Facts) -> None:
    counts = sorted(facts.trades.values(), reverse=True)
    assert sum(counts) == 200_000
    assert sum(count > 10_000 for count in counts) in range(2, 8)
    assert 24 <= counts[len(counts) // 2] < 1_000


def test_trades_come_in_the_order_of_time_and_fill_the_days_up_to_now(facts: Facts) -> None:
    assert facts.in_order
    assert NOW - timedelta(days=45) <= datetime.fromisoformat(facts.first) < NOW - timedelta(days=44)
    assert NOW - timedelta(minutes=5) < datetime.fromisoformat(facts.last) <= NOW


def test_each_group_has_traded_within_the_last_six_hours(world: World, facts: Facts) -> None:
    groups = {(row["blockchain"], row["wallet_address"]): row["type"] for row in world.wallet_rows()}
    recent: Counter[tuple[str, str]] = Counter()
    for wallet, count in facts.recent.items():
        recent[wallet[0], groups[wallet]] += count
    assert set(recent) == PAIRS
    assert min(recent.values()) > 10


def test_activity_comes_in_bursts(facts: Facts) -> None:
    counts = sorted(facts.hours.values())
    assert counts[-1] > 4 * counts[len(counts) // 2]


def test_positions_end_in_every_way(facts: Facts) -> None:
    closed = [p for p in facts.positions.values() if p.sold_cost and not p.quantity]
    gains = [100 * position.realized / position.sold_cost for position in closed]
    assert sum(gain > 500 for gain in gains) > 20
    assert sum(100 < gain <= 500 for gain in gains) > 100
    assert sum(0 < gain <= 100 for gain in gains) > 1_000
    assert sum(gain < 0 for gain in gains) > 1_000
    assert sum(gain == 0 for gain in gains) > 20
    assert sum(position.quantity > 0 for position in facts.positions.values()) > 1_000


def test_positions_are_built_sold_in_parts_and_entered_again(facts: Facts) -> None:
    positions = facts.positions.values()
    assert sum(position.buys > 1 and position.sells > 1 for position in positions) > 1_000
    assert sum(position.reentries > 0 for position in positions) > 1_000


def test_some_tokens_are_sold_that_were_never_bought(facts: Facts) -> None:
    positions = facts.positions.values()
    assert sum(position.uncovered > 0 and not position.buys for position in positions) > 20
    assert sum(position.uncovered > 0 and position.buys > 0 for position in positions) > 20


def test_tokens_are_shared_between_wallets(facts: Facts) -> None:
    holders = Counter((chain, mint) for chain, _, mint in facts.positions)
    assert sum(count > 3 for count in holders.values()) > 500


def test_most_trades_carry_usd_and_some_share_a_transaction(facts: Facts) -> None:
    assert 0.75 < facts.with_usd / 200_000 < 0.95
    assert facts.several_events > 1_000


def test_every_row_is_one_that_the_importer_takes(small: World) -> None:
    kinds: dict[type[Any], Iterable[dict[str, Any]]] = {
        WalletRow: small.wallet_rows(),
        TradeRow: small.trade_rows(),
        PriceRow: small.price_rows(),
    }
    for row_type, rows in kinds.items():
        taken = [good(record) for _, _, record in ndjson_records(ndjson(rows), row_type)]
        assert taken
        for row in taken:
            row.columns() if isinstance(row, WalletRow) else row.check(NOW)


def test_addresses_and_signatures_have_the_form_of_their_chain(small: World) -> None:
    wallets = {(row["blockchain"], row["wallet_address"]) for row in small.wallet_rows()}
    events = set()
    for row in small.trade_rows():
        chain = CHAINS[row["blockchain"]]
        assert (chain.name, row["wallet_address"]) in wallets
        for address in (row["wallet_address"], row["mint"]):
            assert chain.is_address(address)
            assert chain.canonical(address) == address
        signature = row["tx_signature"]
        size = (
            len(base58.b58decode(signature)) if chain.name == "solana" else len(bytes.fromhex(signature[2:]))
        )
        assert size == (64 if chain.name == "solana" else 32)
        events.add(tuple(row[n] for n in ("tx_signature", "mint", "transaction_type", "event_index")))
    assert len(events) == 6_000


def test_amounts_are_exact_in_the_smallest_units(small: World) -> None:
    for row in small.trade_rows():
        places = {
            name: len(row.get(name, "").partition(".")[2]) for name in ("value", "token_amount", "value_usd")
        }
        assert places["value"] <= CHAINS[row["blockchain"]].native_decimals
        assert places["token_amount"] <= 18
        assert places["value_usd"] <= 6
        assert Decimal(row["token_amount"]) > 0
        assert Decimal(row["value"]) >= 0


def test_prices_come_every_ten_minutes_up_to_now_save_one_gap(world: World) -> None:
    times = defaultdict(list)
    for row in world.price_rows():
        times[row["currency"]].append(datetime.fromisoformat(row["priced_at"]))
    assert set(times) == {"SOL", "BNB", "ETH"}
    for moments in times.values():
        steps = Counter(later - earlier for earlier, later in pairwise(moments))
        usual, gap = steps.most_common()
        assert usual[0] == timedelta(minutes=10)
        assert gap[0] > timedelta(hours=2)
        assert gap[1] == 1
        assert moments[-1] == NOW
        assert moments[0] < NOW - timedelta(days=44, hours=23)


def test_the_same_seed_and_now_give_the_same_bytes_in_another_process(small: World) -> None:
    program = (
        "import hashlib; from datetime import datetime; from wallet_api.demo.world import World, ndjson;"
        f"now = datetime.fromisoformat('{NOW.isoformat()}');"
        "world = World(now, wallets=60, trades=6_000, days=10, seed=7);"
        "rows = [*world.wallet_rows(), *world.trade_rows(), *world.price_rows()];"
        "print(hashlib.sha256(b''.join(ndjson(rows))).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    rows = [*small.wallet_rows(), *small.trade_rows(), *small.price_rows()]
    assert other.stdout.decode().strip() == hashlib.sha256(b"".join(ndjson(rows))).hexdigest()


def test_another_seed_gives_another_world(small: World) -> None:
    other = World(NOW, wallets=60, trades=6_000, days=10, seed=8)
    mine = {row["wallet_address"] for row in small.wallet_rows()}
    assert mine.isdisjoint(row["wallet_address"] for row in other.wallet_rows())


def test_another_now_moves_the_same_world_in_time(small: World) -> None:
    shift = timedelta(days=3, hours=5, seconds=17)
    later = World(NOW + shift, wallets=60, trades=6_000, days=10, seed=7)
    assert list(later.wallet_rows()) == list(small.wallet_rows())
    for name, rows, moved_rows in (
        ("created_at", small.trade_rows(), later.trade_rows()),
        ("priced_at", small.price_rows(), later.price_rows()),
    ):
        for row, moved in zip(rows, moved_rows, strict=True):
            then = datetime.fromisoformat(row[name]) + shift
            assert {**row, name: then.strftime("%Y-%m-%dT%H:%M:%SZ")} == moved


def test_the_heaviest_wallet_keeps_to_two_thousand_tokens() -> None:
    [wallet] = make_wallets(1, 200_000, seed=1)
    trader = Trader(wallet, Market(wallet.chain, 20_000, 45 * 86400, seed=1), 45 * 86400, seed=1)
    assert sum(1 for _ in trader.fills()) == 200_000
    assert 1_500 < len({*trader.known}) <= 2_000


def test_a_now_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        World(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("units", "decimals", "text"),
    [
        (0, 9, "0"),
        (1, 9, "0.000000001"),
        (1_500_000_000, 9, "1.5"),
        (10**30, 18, "1000000000000"),
        (42, 0, "42"),
    ],
)
def test_units_are_written_exactly(units: int, decimals: int, text: str) -> None:
    assert decimal_text(units, decimals) == text


def test_made_up_base58_stands_for_whole_keys_and_signatures() -> None:
    random = seeded("forms")
    for _ in range(2_000):
        assert len(base58.b58decode(solana_address(random))) == 32
        assert len(base58.b58decode(solana_address(random, "pump"))) == 32
        assert len(base58.b58decode(solana_signature(random))) == 64

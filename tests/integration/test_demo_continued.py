"""`up` continues the demo: it appends trades up to now, and changes none."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.in_process import Importer
from tests.running_up import running_up
from wallet_api import demo, embedded, migrations
from wallet_api.database import Connection, connect
from wallet_api.demo.continuation import Continuation
from wallet_api.demo.world import World
from wallet_api.settings import Settings

NOW = datetime.now(UTC).replace(microsecond=0)
END = NOW - timedelta(hours=30)
SIZE = {"wallets": 12, "trades": 2_000, "days": 4}
TRADES = (
    "SELECT * FROM trades WHERE created_at <= %s"
    " ORDER BY wallet_id, token_id, tx_signature, is_sell, event_index"
)


@dataclass(frozen=True)
class OldDemo:
    """A folder with a demo that was loaded 30 hours ago, and the URL of its database."""

    home: Path
    url: str

    def newest(self) -> datetime:
        """Return the time of the newest trade."""
        with connect(self.url) as connection:
            row = connection.execute("SELECT max(created_at) AS newest FROM trades").fetchone()
        assert row is not None
        newest: datetime = row["newest"]
        return newest

    def rows(self) -> list[dict[str, Any]]:
        """Return the trades up to the end of the loaded world."""
        with connect(self.url) as connection:
            return connection.execute(TRADES, [END]).fetchall()


@pytest.fixture
def old() -> Iterator[OldDemo]:
    with tempfile.TemporaryDirectory(prefix="wallet-api-tests-") as folder:
        home = Path(folder) / "home"
        # Held open, so that the server runs on between the starts of `up`.
        with embedded.running(Settings(wallet_api_home=str(home)), valkey=False) as running:
            url = str(running.database_url)
            with connect(url) as connection:
                migrations.migrate(connection)
            demo.load(url, World(END, **SIZE))
            note = {"until": END.isoformat(), "loaded": True, "size": SIZE, "continued": END.isoformat()}
            note |= {"trades": SIZE["trades"], "most_trades": SIZE["trades"]}
            (home / "demo.json").write_text(json.dumps(note))
            yield OldDemo(home, url)


def test_a_start_appends_the_trades_up_to_now_and_shifts_none(old: OldDemo) -> None:
    before = old.rows()
    assert len(before) == 2_000
    with running_up(old.home) as up:
        assert "Continuing the demo data up to now" in up.output
        assert f"Demo data up to {datetime.now(UTC):%Y-%m-%d}" in up.output
    assert old.newest() > NOW - timedelta(hours=2)
    assert old.rows() == before
    newest = old.newest()
    with running_up(old.home) as up:
        assert "Continuing" not in up.output
    assert old.rows() == before
    assert old.newest() >= newest


@pytest.mark.parametrize("foreign", ["wallet", "trade"])
def test_nothing_is_appended_to_a_ledger_with_other_data(old: OldDemo, foreign: str) -> None:
    importer = Importer(old.url)
    wallet = next(World(END, **SIZE).wallet_rows())
    if foreign == "wallet":
        importer.wallets([wallet | {"wallet_address": "7" * 43 + "8"}])
    else:
        trade = next(World(END, **SIZE).trade_rows())
        importer.trades([trade | {"tx_signature": "my own", "created_at": "2026-01-01T00:00:00Z"}])
    newest = old.newest()
    with running_up(old.home):
        pass
    assert old.newest() == newest <= END


def test_the_days_after_a_world_do_not_depend_on_how_often_they_are_asked_for() -> None:
    whole = list(Continuation(END, **SIZE).trade_rows(END, NOW))
    assert len(whole) > 500
    times = [END + step * timedelta(hours=7, minutes=31) for step in range(4)] + [NOW]
    pieces = Continuation(END, **SIZE)
    assert [row for after, until in pairwise(times) for row in pieces.trade_rows(after, until)] == whole
    signatures = {row["tx_signature"] for row in World(END, **SIZE).trade_rows()}
    assert signatures.isdisjoint(row["tx_signature"] for row in whole)


def test_the_provider_goes_on_with_the_ledger(database_url: str, connection: Connection) -> None:
    demo.load(database_url, World(END, **SIZE))
    continuation = Continuation(END, **SIZE)
    demo.append(database_url, continuation, END, NOW, list(continuation.trade_rows(END, NOW)))
    held = connection.execute(
        "SELECT blockchain, address, mint, quantity FROM positions JOIN wallets USING (wallet_id)"
        " WHERE quantity > 0"
    ).fetchall()
    with localcontext(prec=80):
        balances = {
            (wallet["blockchain"], wallet["wallet_address"], token.address): Decimal(token.units).scaleb(
                -token.decimals
            )
            for wallet in World(END, **SIZE).wallet_rows()
            for token in continuation.portfolio(wallet["blockchain"], wallet["wallet_address"], NOW).tokens
            if token.units and not token.spam
        }
    assert balances == {(row["blockchain"], row["address"], row["mint"]): row["quantity"] for row in held}

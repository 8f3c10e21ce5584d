"""A primary and a streaming standby: reads go on when either crashes, charges when the standby takes over."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import LiteralString

import pytest
import requests

from tests.ledger.rows import GROUP
from tests.lib.callers import callers, get
from tests.lib.demo_service import DemoService, demo_service
from tests.lib.folders import server_folder
from tests.lib.outages import is_our_refusal, socket_folder
from tests.lib.processes import Gunicorn, StartGunicorn, kill_all, run_program
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key
from wallet_api.database import connect, migrations
from wallet_api.operate import embedded
from wallet_api.operate.embedded.place import account_of, give_folder
from wallet_api.operate.embedded.postgres import programs
from wallet_api.operate.embedded.server import ENVIRONMENT
from wallet_api.settings import Settings


@dataclass(frozen=True)
class Pair:
    """Two servers of the same data: addresses for both, and the folder of each."""

    primary_url: str
    standby_url: str
    primary_home: Path
    standby_home: Path

    @property
    def write_url(self) -> str:
        """Whichever of the two takes writes."""
        return f"{self._both(self.primary_url, self.standby_url)}&target_session_attrs=read-write"

    @property
    def read_url(self) -> str:
        """The standby, or the primary while that is away."""
        return f"{self._both(self.standby_url, self.primary_url)}&target_session_attrs=prefer-standby"

    def _both(self, first: str, second: str) -> str:
        return f"{first},{socket_folder(second)}"


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        homes = [Path(stack.enter_context(server_folder())) for _ in range(2)]
        primary = stack.enter_context(embedded.running(_home(homes[0])))
        with connect(str(primary.database_url)) as connection:
            migrations.migrate(connection)
        _copy(str(primary.database_url), homes[1])
        standby = stack.enter_context(embedded.running(_home(homes[1])))
        yield Pair(str(primary.database_url), str(standby.database_url), *homes)


def _home(folder: Path) -> Settings:
    return Settings(wallet_api_home=str(folder))


def _copy(primary_url: str, home: Path) -> None:
    """A standby's folder below `home`, which follows the primary as soon as it runs."""
    embedded.home_folder(_home(home))
    folder = home / "postgres"
    owner = account_of(home)
    give_folder(folder, owner)
    copied = run_program(
        [
            *(str(programs() / "pg_basebackup"), "--pgdata", str(folder), "--write-recovery-conf"),
            *("--wal-method=stream", "--checkpoint=fast", "--no-sync", "--dbname", primary_url),
        ],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        cwd=folder,
        **owner.popen_options(),
    )
    assert copied.returncode == 0, copied.stderr


def _await_replay(pair: Pair) -> None:
    """Come back when the standby has all that the primary has now."""
    with connect(pair.primary_url) as primary, connect(pair.standby_url) as standby:
        written = {"lsn": primary.fetch_value("SELECT pg_current_wal_lsn()::text")}
        replayed: LiteralString = "SELECT pg_last_wal_replay_lsn() >= %(lsn)s::pg_lsn"
        assert eventually(lambda: standby.fetch_value(replayed, written))


@pytest.fixture
def service(pair: Pair, settings: Settings) -> Iterator[DemoService]:
    own = replace(settings, database_url=pair.primary_url)
    with demo_service(own) as service:
        yield replace(
            service,
            settings=replace(
                service.settings,
                database_url=pair.write_url,
                database_read_url=pair.read_url,
                key_cache_seconds=0.0,
                leaderboard_ttl_seconds=0.0,
                holdings_ttl_seconds=0.5,
            ),
        )


@pytest.fixture
def gunicorn_of_pair(service: DemoService, gunicorn: StartGunicorn) -> Gunicorn:
    return gunicorn(service.settings)


def test_reads_survive_the_primary_and_writes_go_on_with_the_promoted_standby(
    pair: Pair, service: DemoService, gunicorn_of_pair: Gunicorn
) -> None:
    url = gunicorn_of_pair.url
    with connect(pair.primary_url) as primary:
        pays = {
            "Authorization": f"Bearer {create_key(primary, 'pays', rate='100000/second', credits=100000)}"
        }
    wallet = {"blockchain": "solana", "address": service.wallet("solana", "kol")}
    held = requests.get(f"{url}/v1/wallets/holdings", params=wallet, headers=service.headers, timeout=60)
    assert held.json()["data"]["active_holdings"]["loading"] is False
    _await_replay(pair)
    with connect(pair.standby_url) as standby:
        reads = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'wallet-api'"
        assert standby.fetch_value(reads) >= 1

    calls = [
        get(f"{url}{path}", params=GROUP | more, headers=service.headers)
        for path, more in (
            ("/v1/wallets", {}),
            ("/v1/wallets/history", wallet),
            ("/v1/transactions/volume", {}),
            ("/v1/wallet/leaderboard", {"period": "7d"}),
        )
    ]
    pay = get(f"{url}/v1/wallets", params=GROUP, headers=pays)
    with (
        callers(lambda session: [call(session) for call in calls][-1], pause_seconds=0.02) as reading,
        callers(pay, pause_seconds=0.02) as paying,
    ):
        assert eventually(lambda: paying.statuses[200] > 10 and reading.statuses[200] > 10)
        kill_all(pair.primary_home / "postgres")
        read = reading.statuses[200]
        assert eventually(lambda: paying.statuses[503] > 10 and reading.statuses[200] > read + 20)
        ready = requests.get(f"{url}/readyz", timeout=60)
        assert (ready.status_code, ready.json()["data"]["primary"]) == (200, "away")
        held = requests.get(f"{url}/v1/wallets/holdings", params=wallet, headers=service.headers, timeout=60)
        assert held.json()["data"]["active_holdings"]["stale"] is True
        assert held.json()["data"]["active_holdings"]["count"] > 0
        # As an operator does, or what watches over the pair.
        with connect(pair.standby_url) as standby:
            assert standby.fetch_value("SELECT pg_promote()") is True
        paid = paying.statuses[200]
        assert eventually(lambda: paying.statuses[200] > paid + 10)
    assert reading.failures + paying.failures == []
    assert set(reading.statuses) == {200}
    assert set(paying.statuses) == {200, 503}
    assert [response.text for response in paying.refusals if not is_our_refusal(response)] == []
    assert requests.get(f"{url}/readyz", timeout=60).json()["data"]["primary"] == "ok"


def test_reads_survive_the_standby(pair: Pair, service: DemoService, gunicorn_of_pair: Gunicorn) -> None:
    call = get(f"{gunicorn_of_pair.url}/v1/wallets", params=GROUP, headers=service.headers)
    _await_replay(pair)
    with callers(call, pause_seconds=0.02) as met:
        assert eventually(lambda: met.statuses[200] > 20)
        kill_all(pair.standby_home / "postgres")
        refused = met.statuses[503]
        read = met.statuses[200]
        assert eventually(lambda: met.statuses[200] > read + 50)
        refused = met.statuses[503] - refused
    assert met.failures == []
    # Calls whose query was under way when the standby was killed.
    assert refused <= 8
    assert [response.text for response in met.refusals if not is_our_refusal(response)] == []

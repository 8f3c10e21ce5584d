"""A database that refuses a password: what is reported, and how often the service tries again."""

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import requests

from tests.ledger.rows import GROUP
from tests.lib.callers import callers, get
from tests.lib.folders import server_folder
from tests.lib.processes import StartGunicorn, run_command
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key
from wallet_api.database import Connection, DatabaseUnavailable, connect, migrations
from wallet_api.operate import embedded
from wallet_api.settings import Settings


@dataclass(frozen=True)
class Strict:
    """A server that requires a password, which is "right". `administrator` was connected before."""

    administrator: Connection
    log: Path
    url: str
    key: str

    def settings(self, password: str, database: str = "wallet_api") -> Settings:
        """Return settings with this password."""
        url = self.url.replace("@/wallet_api?", f":{password}@/{database}?")
        return Settings(database_url=url, web_threads=4)

    def refuses(self) -> bool:
        """Return whether the server requires the password by now."""
        try:
            psycopg.connect(str(self.settings("wrong").database_url)).close()
        except psycopg.OperationalError:
            return True
        return False

    def attempts(self) -> int:
        """Return how many connections the server has refused."""
        return len(re.findall("FATAL:.*password authentication failed", self.log.read_text()))


@pytest.fixture(scope="module")
def strict() -> Iterator[Strict]:
    with server_folder() as home:
        own = Settings(wallet_api_home=home)
        with (
            embedded.running(own) as running,
            connect(str(running.database_url)) as administrator,
        ):
            migrations.migrate(administrator)
            key = create_key(administrator, "caller", rate="100000/second")
            administrator.execute("ALTER ROLE wallet_api PASSWORD 'right'")
            (Path(home) / "postgres" / "pg_hba.conf").write_text("local all all scram-sha-256\n")
            administrator.execute("SELECT pg_reload_conf()")
            log = Path(home) / "log" / "postgres.log"
            strict = Strict(administrator, log, str(running.database_url), key)
            assert eventually(strict.refuses)
            yield strict


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (("wrong-secret",), 'password authentication failed for user "wallet_api"'),
        (("right", "nothing"), 'database "nothing" does not exist'),
    ],
)
def test_a_command_reports_what_is_refused(strict: Strict, settings: tuple[str, ...], reason: str) -> None:
    result = run_command("keys", "list", settings=strict.settings(*settings))
    error = result.exception
    assert isinstance(error, DatabaseUnavailable)
    assert (error.advice or "").startswith("The database refuses the connection: user, password or database")
    assert reason in str(error.__cause__)
    assert "secret" not in f"{result.output}{error.__cause__}"


def test_a_service_with_a_wrong_password_logs_it_and_recovers_by_itself(
    strict: Strict, gunicorn: StartGunicorn
) -> None:
    server = gunicorn(strict.settings("wrong-secret"))
    headers = {"Authorization": f"Bearer {strict.key}"}
    try:
        ready = requests.get(f"{server.url}/readyz", timeout=60)
        assert ready.status_code == 503
        assert "Not ready: the database of DATABASE_URL cannot be reached" in ready.json()["error"]["message"]
        call = get(f"{server.url}/v1/wallets", params=GROUP, headers=headers)
        with callers(call, pause_seconds=0.02) as met:
            assert eventually(lambda: met.statuses[503] > 5)
            before, start = strict.attempts(), time.monotonic()
            threading.Event().wait(2)
            tries_per_second = (strict.attempts() - before) / (time.monotonic() - start)
            strict.administrator.execute("ALTER ROLE wallet_api PASSWORD 'wrong-secret'")
            assert eventually(lambda: met.statuses[200] > 5)
        assert met.failures == []
        assert set(met.statuses) == {200, 503}
        # Two workers, each with two pools.
        assert tries_per_second < 8
        # Only the log has the reason.
        assert "password" not in met.refusals[-1].text
    finally:
        strict.administrator.execute("ALTER ROLE wallet_api PASSWORD 'right'")
    server.stop()
    assert "password authentication failed" in server.log
    assert "secret" not in server.log

"""The embedded PostgreSQL: the first command starts it, and the last one stops it, even after crashes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.lib.processes import Process, environment_of, processes_of, run_command, run_program
from wallet_api.database import connect
from wallet_api.operate import embedded
from wallet_api.operate.embedded import LOG_LIMIT_BYTES, postgres
from wallet_api.operate.embedded.place import STATE, EmbeddedError, account_of, runnable
from wallet_api.settings import Settings

# A command that says when its server is up, and works until its input ends. It looks for the end instead of
# waiting in a read, which a signal that came just before would not wake.
_COMMAND = """
import select
import sys
from wallet_api.operate import embedded
from wallet_api.operate.embedded.signals import end_in_order
from wallet_api.settings import Settings
end_in_order()
with embedded.running(Settings.from_environment()):
    print("up", flush=True)
    while not select.select([sys.stdin], [], [], 0.1)[0]:
        pass
"""

_INTERRUPTED = str(Path(__file__).parents[1] / "lib" / "interrupted.py")

# A command whose first output is followed by a finalizer that takes five seconds.
_FINALIZING_COMMAND = f"""
import time
class Slow:
    def __del__(self):
        time.sleep(5)
def print(word, write=print, **options):
    slow = Slow()
    write(word, **options)
{_COMMAND}
"""


@pytest.fixture(scope="module")
def own(home: Path) -> Settings:
    """The settings of commands with `home`, whose database is created once: tests leave it usable."""
    own = Settings(wallet_api_home=str(home))
    with embedded.running(own):
        return own


@pytest.fixture
def fresh(empty_home: Path) -> Settings:
    """The settings of commands with a folder that does not exist yet."""
    return Settings(wallet_api_home=str(empty_home))


@contextmanager
def _command(settings: Settings, *arguments: str) -> Iterator[Process[str]]:
    """Run Python in this block, by default with _COMMAND."""
    with Process(
        [sys.executable, *(arguments or ("-c", _COMMAND))],
        env=environment_of(settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _changed(file: Path, text: str) -> Iterator[None]:
    """Replace the contents of the file in this block."""
    before = file.read_text()
    file.write_text(text)
    try:
        yield
    finally:
        file.write_text(before)


def _says_up(process: Process[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "up\n"


def _postmaster(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres" / "postmaster.pid").read_text().split("\n")[0]))


def _remember(settings: Settings, text: str) -> None:
    with connect(str(settings.database_url)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS memory (text text)")
        connection.execute("INSERT INTO memory VALUES (%s)", [text])


def _memory(settings: Settings) -> list[str]:
    with connect(str(settings.database_url)) as connection:
        return [row["text"] for row in connection.execute("SELECT text FROM memory")]


def test_postgresql_is_safe_has_no_secret_and_no_root_and_leaves_nothing(
    own: Settings, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORALIS_API_KEY", "very secret")
    names = ("fsync", "listen_addresses", "server_encoding", "timezone", "jit", "max_connections")
    with embedded.running(own) as settings:
        with connect(str(settings.database_url)) as connection:
            shown = [connection.fetch_value(f"SHOW {name}") for name in names]
        servers = processes_of(home)
        assert servers
        for server in servers:
            assert "MORALIS_API_KEY" not in server.environ()
            assert server.uids().effective != 0
    assert shown == ["on", "", "UTF8", "UTC", "off", "100"]
    assert processes_of(home) == []


def test_the_last_user_stops_the_server_whoever_started_it(own: Settings, home: Path) -> None:
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(embedded.running(own))
        pid = _postmaster(home).pid
        settings = second.enter_context(embedded.running(own))
        first.close()
        assert _postmaster(home).pid == pid
        _remember(settings, "still here")
    assert processes_of(home) == []


def test_commands_that_start_at_once_share_one_server(own: Settings, home: Path) -> None:
    with ExitStack() as stack:
        commands = [stack.enter_context(_command(own)) for _ in range(4)]
        assert all(_says_up(command) for command in commands)
        servers = processes_of(home)
        pids = {process.pid for process in servers}
        assert [process.pid for process in servers if process.ppid() not in pids] == [_postmaster(home).pid]
        for command in commands:
            command.communicate()
        assert [command.returncode for command in commands] == [0, 0, 0, 0]
    assert processes_of(home) == []


@pytest.mark.parametrize(
    ("number", "program"),
    [
        (signal.SIGTERM, _COMMAND),
        (signal.SIGINT, _COMMAND),
        (signal.SIGINT, _FINALIZING_COMMAND),
        (signal.SIGHUP, _FINALIZING_COMMAND),
    ],
    ids=["SIGTERM", "SIGINT", "SIGINT in a finalizer", "SIGHUP in a finalizer"],
)
def test_a_signal_stops_the_servers_with_the_command(
    own: Settings, home: Path, number: signal.Signals, program: str
) -> None:
    with _command(own, "-c", program) as command:
        assert _says_up(command)
        command.send_signal(number)
        assert command.wait() == (-number if number == signal.SIGINT else 128 + number)
    assert processes_of(home) == []


@pytest.mark.parametrize("step", ["postgres.new", "postgres"])
def test_sigterm_while_starting_leaves_no_draft_no_process_and_no_memory_and_the_next_start_works(
    fresh: Settings, empty_home: Path, step: str
) -> None:
    memory: set[Path] = set()
    with _command(fresh) as command:
        while not (empty_home / step).exists() or (step == "postgres.new" and not memory):
            memory = _shared_memory(empty_home)
            assert command.poll() is None
        command.terminate()
        assert command.wait() == 128 + signal.SIGTERM
    assert processes_of(empty_home) == []
    assert [file for file in memory if file.exists()] == []
    assert not (empty_home / "postgres.new").exists()
    with embedded.running(fresh) as settings:
        _remember(settings, "fine")


@pytest.mark.parametrize("word", ["initdb", "listen_addresses="])
def test_sigterm_while_a_process_is_being_started_leaves_none(fresh: Settings, word: str) -> None:
    # That none is left is checked by the fixture of the folder.
    with _command(fresh, _INTERRUPTED, "SIGTERM", word, _COMMAND) as command:
        assert command.wait() == 128 + signal.SIGTERM


def test_a_start_after_everything_was_killed_finds_the_data(own: Settings, home: Path) -> None:
    with _command(own) as command:
        assert _says_up(command)
        with embedded.running(own) as settings:
            _remember(settings, "committed")
        family = processes_of(home)
        for process in family:
            # Stopped, they cannot notice by themselves that their parent has gone.
            process.suspend()
        killed = _postmaster(home)
        killed.kill()
        command.kill()
        command.wait()
    psutil.wait_procs([killed])
    assert (home / "postgres" / "postmaster.pid").exists()
    with embedded.running(own) as settings:
        assert _memory(settings)[-1] == "committed"
    assert not any(process.is_running() for process in family)


def test_a_server_without_time_to_write_everything_leaves_no_lock_file_and_no_shared_memory(
    own: Settings, home: Path
) -> None:
    with embedded.running_in(embedded.home_folder(own), stop_seconds=0.0):
        memory = _shared_memory(home)
        lock = home / "postgres" / "postmaster.pid"
        segment = lock.read_text().splitlines()[6].split()[1]
    assert memory
    assert processes_of(home) == []
    assert [file for file in (lock, *memory) if file.exists()] == []
    assert segment not in [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]


def _shared_memory(home: Path) -> set[Path]:
    """Return the files of shared memory that processes of the folder use now."""
    mapped = set()
    for process in processes_of(home):
        with suppress(psutil.Error):
            mapped |= {file.path for file in process.memory_maps()}
    return {Path(path) for path in mapped if path.startswith("/dev/shm/PostgreSQL.")}


@pytest.mark.parametrize("name", ["deep/" * 30, "a,b with space in grün"])
def test_any_folder_name_will_do(empty_home: Path, name: str) -> None:
    own = Settings(wallet_api_home=str(empty_home / name))
    with embedded.running(own) as settings:
        _remember(settings, "fine")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whose servers run as another user")
def test_where_the_user_of_roots_servers_cannot_reach_the_data_is_below_var_lib(
    empty_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed = empty_home.parent / "closed"
    closed.mkdir(mode=0o700)
    own = Settings(wallet_api_home=str(closed / "home"))
    with embedded.running(own) as settings:
        _remember(settings, "kept")
    place = (closed / "home" / "postgres").resolve().parent
    try:
        assert place.parent == STATE
        assert [record.getMessage() for record in caplog.records] == [
            f"User wallet-api-db cannot reach {closed / 'home'}: the servers' data is in {place}."
        ]
        assert closed.stat().st_mode & 0o777 == 0o700
        closed.chmod(0o755)
        with embedded.running(own) as settings:
            assert _memory(settings) == ["kept"]
        assert len(caplog.records) == 1
    finally:
        shutil.rmtree(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, whose servers run as another user")
def test_programs_that_the_user_of_roots_servers_cannot_reach_are_copied(empty_home: Path) -> None:
    closed = empty_home.parent / "closed"
    installed = postgres.programs().parents[1]
    package = closed / installed.name
    for name in (installed.name, f"{installed.name}.libs"):
        shutil.copytree(installed.with_name(name), closed / name, symlinks=True)
    closed.chmod(0o700)
    account = account_of(closed)
    name = str(postgres.programs().relative_to(installed) / "initdb")
    program = runnable(package, name, account)
    try:
        assert program.is_relative_to(STATE)
        assert runnable(package, name, account) == program
        # It needs shared libraries of the wheel.
        run_program([program, "--version"], check=True, **account.popen_options())
        assert closed.stat().st_mode & 0o777 == 0o700
    finally:
        shutil.rmtree(program.parents[3])


def test_a_folder_that_cannot_be_used_is_named_with_a_way_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file in its place")
    with (
        pytest.raises(EmbeddedError, match=f"{home}.*WALLET_API_HOME.*DATABASE_URL"),
        embedded.running(Settings(wallet_api_home=str(home))),
    ):
        pass


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("PG_VERSION", "17\n", r"belongs to PostgreSQL 17.*backup FILE.*restore FILE"),
        ("postgresql.conf", "no_such_setting = 1\n", r'(?s)exited during its start.*"no_such_setting"'),
    ],
)
def test_a_folder_of_another_version_and_a_server_that_cannot_start_are_explained(
    own: Settings, home: Path, file: str, text: str, message: str
) -> None:
    with (
        _changed(home / "postgres" / file, text),
        pytest.raises(EmbeddedError, match=message),
        embedded.running(own),
    ):
        pass


def test_the_logs_stay_within_bounds(own: Settings, home: Path) -> None:
    with embedded.running(own):
        log = home / "log" / "postgres.log"
        with log.open("ab") as file:
            file.write(b"x" * LOG_LIMIT_BYTES)
        embedded.trim_logs(home)
        assert log.stat().st_size == 0
    # The server goes on in the same file.
    assert "shut down" in log.read_text()


def test_config_prints_the_address_of_the_server_and_sync_status_its_version(own: Settings) -> None:
    with embedded.running(own) as running:
        printed = run_command("config", "database", settings=own)
        assert printed.stdout == f"{running.database_url}\n"
        with connect(printed.stdout.strip()) as connection:
            version = connection.fetch_value("SELECT current_setting('server_version')")
        refused = run_command("config", "database", settings=running)
        shown = run_command("sync", "status", settings=own)
        document = json.loads(run_command("sync", "status", "--json", settings=own).stdout)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "DATABASE_URL is set" in refused.stderr
    assert run_command("config", "database", "--to", "x", settings=own).exit_code == 2
    assert shown.exit_code == 0, shown.output
    assert f"The embedded server is PostgreSQL {version}.\n" in shown.stdout
    assert document["embedded_postgresql"] == version

"""How commands end by signals, and tests whose processes do not."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from tests.lib import processes
from tests.lib.processes import Process, environment_of, run_program
from wallet_api.settings import Settings

# Ends like an ordinary command, like one that runs on, and while it starts a process.
_WAYS = {
    "a command": """
from wallet_api.operate.embedded.signals import end_in_order
end_in_order()
print(flush=True)
input()
""",
    "a sync": """
from wallet_api.chain.sync.schedule import stopped_by_signals
with stopped_by_signals() as stopping:
    print(flush=True)
    stopping.wait(1)
    assert not stopping.is_set()
""",
    "a start": """
from wallet_api.operate.embedded.signals import deferred
with deferred():
    print(flush=True)
    input()
""",
}


@pytest.mark.parametrize("way", _WAYS)
def test_signals_that_were_ignored_at_the_start_stay_ignored(way: str) -> None:
    numbers = (signal.SIGHUP, signal.SIGINT)
    with Process(
        [sys.executable, "-c", _WAYS[way]],
        preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers],
        env=environment_of(Settings()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        for number in numbers:
            process.send_signal(number)
        output, _ = process.communicate("go on\n")
    assert (process.returncode, output) == (0, "")


# A main thread that waits for a lock is not interrupted, and another thread gets the signal.
_LOCKED = """
import signal, threading, time
from wallet_api.chain.sync.schedule import stopped_by_signals
from wallet_api.operate.embedded.signals import end_in_order
held = threading.Lock()
def end():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
"""


def test_a_signal_ends_a_sync_whose_main_thread_waits_for_a_lock_and_does_not_get_it() -> None:
    program = f"""{_LOCKED}
    print(stopping.wait(10))
    held.release()
with stopped_by_signals() as stopping:
    held.acquire()
    threading.Timer(0.5, end).start()
    held.acquire()
"""
    done = run_program(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "True\n"


@pytest.mark.parametrize(
    "rest",
    [
        """
end_in_order()
threading.Timer(0.5, end).start()
held.acquire()
held.acquire()
""",
        # A second one ends a sync, once the handler of the first has run in the main thread.
        """
    stopping.wait(10)
    time.sleep(2)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
end_in_order()
with stopped_by_signals() as stopping:
    threading.Timer(0.5, end).start()
    held.acquire()
    held.acquire()
""",
    ],
    ids=["a command", "a sync"],
)
def test_a_signal_ends_what_waits_for_a_lock_and_does_not_get_it(rest: str) -> None:
    done = run_program([sys.executable, "-c", _LOCKED + rest], timeout=30)
    assert done.returncode == 128 + signal.SIGTERM


def test_a_signal_that_is_ignored_does_not_hide_a_later_one() -> None:
    program = (
        "import os, signal\nfrom wallet_api.operate.embedded.signals import deferred, end_in_order\n"
        "end_in_order()\n"
        "with deferred():\n    os.kill(os.getpid(), signal.SIGHUP); os.kill(os.getpid(), signal.SIGTERM)"
    )
    done = run_program(
        [sys.executable, "-c", program],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        env=environment_of(Settings()),
        timeout=60,
    )
    assert done.returncode == 128 + signal.SIGTERM


def test_a_process_that_goes_on_is_killed_with_children_and_fails_the_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "END_SECONDS", 0.5)
    shell = 'trap "" TERM; sleep 1000 & echo started; wait; sleep 1000'
    process: Process[bytes] = Process(["/bin/sh", "-c", shell], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    (child,) = psutil.Process(process.pid).children()
    # As of a helper that reads what a command prints.
    reader = threading.Thread(target=process.stdout.read, daemon=True)
    reader.start()
    with pytest.raises(subprocess.TimeoutExpired), process:
        process.terminate()
    assert process.returncode == -signal.SIGKILL
    assert not processes.is_alive(child)
    reader.join(10)
    assert not reader.is_alive()

"""What ends a command early: an unexpected error, an unknown command, a reader that has left."""

import subprocess

from tests.lib.processes import run_command, wallet_api
from wallet_api.settings import Settings

# expanduser() fails for an unknown user, which no command catches.
UNUSABLE = Settings(wallet_api_home="~no-such-user/home")


def run(*arguments: str) -> tuple[int, str]:
    with wallet_api(*arguments, settings=UNUSABLE) as process:
        output = process.communicate(timeout=60)[0]
    return process.returncode, output


def test_an_unexpected_error_is_one_line_that_names_the_next_step_which_shows_a_traceback() -> None:
    status, output = run("keys", "list")
    assert status == 1
    assert output.startswith("Error: Unexpected error (RuntimeError at ")
    assert "'wallet-api --debug …'" in output
    assert len(output.splitlines()) == 1
    status, output = run("--debug", "keys", "list")
    assert (status, output.startswith("Traceback"), "RuntimeError: " in output) == (1, True, True)


def test_an_unknown_command_is_refused() -> None:
    refused = run_command("nothing", settings=Settings())
    assert refused.exit_code == 2
    assert "No such command 'nothing'" in refused.stderr
    assert "Did you mean" not in refused.stderr
    assert "Did you mean 'import'?" in run_command("impor", settings=Settings()).stderr


def test_a_reader_that_has_left_gets_no_traceback() -> None:
    with wallet_api("config", "nginx", stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 1

"""An unexpected error of a command: one line without its message, or the whole traceback with --debug."""

from tests.processes import wallet_api
from wallet_api.settings import Settings

# expanduser() fails for an unknown user, which no command catches.
UNUSABLE = Settings(wallet_api_home="~no-such-user/home")


def run(*arguments: str) -> tuple[int, str]:
    with wallet_api(*arguments, settings=UNUSABLE) as process:
        output = process.communicate(timeout=60)[0]
    return process.returncode, output


def test_an_unexpected_error_is_one_line_that_names_the_next_step() -> None:
    status, output = run("keys", "list")
    assert status == 1
    assert output.startswith("Error: Unexpected error (RuntimeError at ")
    assert "'wallet-api --debug …'" in output
    assert len(output.splitlines()) == 1


def test_with_debug_it_is_a_traceback() -> None:
    status, output = run("--debug", "keys", "list")
    assert status == 1
    assert output.startswith("Traceback")
    assert "RuntimeError: " in output

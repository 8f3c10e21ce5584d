"""The command line, `wallet-api`: its commands, and their errors as one line each."""

import sys
from difflib import get_close_matches
from pkgutil import resolve_name
from typing import Any

import click

from wallet_api import __version__
from wallet_api.base.errors import ApiError, CommandError
from wallet_api.database import NotPermitted, translated
from wallet_api.operate.cli.output import raised_at, typed
from wallet_api.operate.embedded.signals import end_in_order

# The role of roles.sql that a command needs, if it is not the writer.
_ROLES = {
    "up": "wallet_api_owner",
    "migrate": "wallet_api_owner",
    "restore": "wallet_api_owner",
    "backup": "wallet_api_reader",
    "export": "wallet_api_reader",
}

# By name: where the command is in this package.
_COMMANDS = {
    "up": "up:up",
    "migrate": "ledger:migrate_command",
    "keys": "keys:keys",
    "usage": "keys:usage",
    "import": "imports:import_files",
    "export": "exports:export_files",
    "remove": "remove:remove",
    "sync": "sync:sync",
    "rebuild": "ledger:rebuild",
    "backup": "backup:backup",
    "config": "config:config",
    "restore": "backup:restore_command",
    "demo": "demo:demo",
    "discover": "discover:discover",
    "notify": "notify:notify",
}


class _Commands(click.Group):
    """Imports only the command that runs, since each takes a part of a second."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = resolve_name(f"{__name__}.{_COMMANDS[name]}")
        return command

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except CommandError as error:
            raise click.ClickException(str(error)) from error

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            near = "".join(
                f" Did you mean '{name}'?" for name in get_close_matches(args[0], _COMMANDS, 1, 0.7)
            )
            raise click.UsageError(f"{error.message}{near}", context) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="wallet-api")
@click.option(
    "--debug",
    is_flag=True,
    help="Print the traceback of an unexpected error. It may contain passwords of the settings.",
)
@click.pass_context
def cli(context: click.Context, debug: bool) -> None:
    """A self-hosted Wallet Intelligence API."""
    context.ensure_object(dict).update(debug=debug, command=context.invoked_subcommand)


def main() -> None:
    """Run the command line. An error is printed as one line on standard error; the exit status is then 1."""
    end_in_order()
    options: dict[str, Any] = {}
    try:
        with translated():
            cli.main(standalone_mode=False, obj=options)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except NotPermitted as error:
        command = options["command"]
        role = _ROLES.get(command, "wallet_api_writer")
        _fail(
            f"{_cause(error)}. 'wallet-api {command}' needs the rights of the role {role}: "
            f"run roles.sql ('{typed('config roles')}'), and again after each migration."
        )
    except ApiError as error:
        cause, message = _cause(error), error.advice or error.message
        _fail(f"{message} ({cause})" if cause else message)
    except OSError as error:
        _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))
    except Exception as error:
        if options.get("debug"):
            raise
        # Its message may contain a password, as that of a malformed DATABASE_URL does.
        _fail(
            f"Unexpected error ({type(error).__name__} at {raised_at(error)}). "
            f"Run it again as '{typed('--debug …')}' for the traceback."
        )


def _cause(error: Exception) -> str:
    return str(error.__cause__ or "").strip().split("\n", 1)[0]


def _fail(message: str) -> None:
    click.echo(f"Error: {message}", err=True)
    sys.exit(1)

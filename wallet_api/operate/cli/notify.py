"""`wallet-api notify`: webhooks about the changes of the feed."""

import signal
import sys
import threading
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from wallet_api.base.errors import InvalidParameter
from wallet_api.base.times import shown_time
from wallet_api.chain.sync.schedule import stopped_by_signals
from wallet_api.database import Database, connect
from wallet_api.notify import queue, reports
from wallet_api.notify.events import MessageType
from wallet_api.notify.feed import Feed
from wallet_api.notify.messages import MessageContent, body_of, event_id, message_id
from wallet_api.notify.process import POLL_SECONDS, Process
from wallet_api.notify.rules_file import RulesFile
from wallet_api.notify.sending import send_message
from wallet_api.notify.session import Session, is_running
from wallet_api.operate.cli.environment import database, require_tables, settings_with_database
from wallet_api.operate.cli.output import json_option, print_json, print_table, typed
from wallet_api.operate.cli.sync_rounds import log_to_stderr

_HEADINGS = ("TARGET", "WAITING", "OLDEST", "DELIVERED", "REFUSED", "HELD BACK", "DROPPED", "DELAY", "STATE")

_rules = click.option(
    "--rules", "path", type=click.Path(path_type=Path, dir_okay=False), help="The TOML file of rules."
)
_private = click.option(
    "--allow-private", is_flag=True, help="Also send to private addresses, and over HTTP without TLS."
)


@click.group(invoke_without_command=True)
@_rules
@_private
@click.option("--dry-run", is_flag=True, help="Print what would be sent from now on; store and send nothing.")
@click.option("--from-now", is_flag=True, help="Leave out what has arrived since it last ran.")
@click.pass_context
def notify(
    context: click.Context, path: Path | None, allow_private: bool, dry_run: bool, from_now: bool
) -> None:
    """Send webhooks about new trades, corrections and removals, by the rules of a file.

    It runs until SIGTERM or Ctrl-C, and rereads the file on SIGHUP. It may be killed at any time: what was
    not received is sent again, under the same id. The file is described in docs/webhooks.md.
    """
    if context.invoked_subcommand is not None:
        return
    if path is None:
        raise click.UsageError("Missing option '--rules'.")
    rules = RulesFile(path, allow_private=allow_private)
    with settings_with_database() as settings, ExitStack() as stack:
        log_to_stderr(settings, stack, verbose=False)
        stopping = stack.enter_context(stopped_by_signals())
        signal.signal(signal.SIGHUP, lambda *_: rules.expire())
        with connect(str(settings.database_url)) as connection:
            require_tables(connection)
        own = Database(settings)
        stack.callback(own.close)
        session = stack.enter_context(closing(Session(str(settings.database_url), is_dry=dry_run)))
        if dry_run:
            _print_messages(session, own, rules, stopping)
            return
        process = Process(session, own, rules)
        try:
            process.run(stopping, from_now=from_now)
        except InvalidParameter:
            raise click.ClickException(
                "The feed has no such place any more: the ledger is another one. To begin with what"
                f" arrives from now on: {typed('notify --from-now --rules FILE')}"
            ) from None


def _print_messages(session: Session, own: Database, rules: RulesFile, stopping: threading.Event) -> None:
    feed = Feed(session, own)
    while not stopping.is_set():
        rules.refresh()
        read = feed.follow(rules)
        with session.transaction() as connection:
            messages = queue.take_all(connection)
        for message in messages:
            click.echo(f"{message['target']}  {message['message_id']}  {message['body']}")
        stopping.wait(0.0 if read else POLL_SECONDS)


@notify.command("test")
@click.argument("rule")
@click.option("--rules", "path", required=True, type=click.Path(path_type=Path, dir_okay=False))
@_private
def test(rule: str, path: Path, allow_private: bool) -> None:
    """Send a signed test message to each target of a rule."""
    rules = RulesFile(path, allow_private=allow_private)
    chosen = next((one for one in rules.rules if one.name == rule), None)
    if chosen is None:
        names = ", ".join(one.name for one in rules.rules)
        raise click.ClickException(f"There is no rule {rule!r}. There are: {names}")
    now, has_failed = datetime.now(UTC), False
    for name in chosen.targets:
        target = rules.targets[name]
        members = {"type": MessageType.TEST, "timestamp": shown_time(now), "rule": rule}
        body = body_of(target, MessageContent(MessageType.TEST, members, words={"rule": rule}))
        id = message_id(event_id(rule, MessageType.TEST, now.isoformat()), name)
        outcome = send_message(target, id, body, allow_private=allow_private)
        click.echo(f"{name}: not received: {outcome.failure}" if outcome.failure else f"{name}: received")
        has_failed = has_failed or bool(outcome.failure)
    if has_failed:
        sys.exit(1)


@notify.command("status")
@json_option
def status_command(as_json: bool) -> None:
    """Print whether webhooks are sent, and for each target what waits, was received, fails or is refused."""
    now = datetime.now(UTC)
    with database() as connection:
        rows, aside = queue.read_status(connection), queue.refused_messages(connection)
        progress, running = reports.read_progress(connection, now), is_running(connection)
    for row in rows:
        row["refused_messages"] = aside.get(row["target"], [])
    if as_json:
        state = {"running": running, "behind_seconds": progress.behind_seconds, "read_at": progress.read_at}
        print_json({**state, "targets": rows})
        return
    click.echo(_state(progress, running=running))
    if rows:
        print_table([_HEADINGS, *(_words(row, now) for row in rows)])
    for row in rows:
        for message in row["refused_messages"]:
            click.echo(
                f"{row['target']} refused {message['message_id']} of {message['rule'] or 'held_back'}"
                f" at {shown_time(message['refused_at'])}: HTTP {message['status']}"
            )


def _state(progress: reports.FeedProgress, *, running: bool) -> str:
    behind = _seconds(progress.behind_seconds)
    late = f", and the oldest change that it has not read is {behind} old" if progress.behind_seconds else ""
    if running:
        return f"notify runs{late}."
    if progress.read_at is None:
        return f"notify is not running{late}."
    return f"notify is not running since {shown_time(progress.read_at)}{late}."


def _seconds(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _words(row: dict[str, Any], now: datetime) -> tuple[str, ...]:
    state = "works"
    if row["paused_at"] is not None:
        state = f"paused: {row['failure']}"
    elif row["failures"]:
        state = f"fails since {shown_time(row['failing_since'])}: {row['failure']}"
    oldest = "" if row["oldest_at"] is None else _seconds((now - row["oldest_at"]).total_seconds())
    delay = "" if row["delay_seconds"] is None else f"{row['delay_seconds']:.1f} s"
    counts = (str(row[name]) for name in ("delivered", "refused", "held_back", "dropped"))
    return (row["target"], str(row["waiting"]), oldest, *counts, delay, state)


@notify.command("resume")
@click.argument("target")
@click.option("--drop", is_flag=True, help="Drop what waits, and count it.")
def resume_command(target: str, drop: bool) -> None:
    """Send a paused target what waits for it, in its order."""
    dropped = 0
    with database() as connection:
        while drop and (some := queue.drop_some(connection, target)):
            dropped += some
        count = queue.resume_target(connection, target)
    if count is None:
        raise _no_target(target)
    click.echo(f"{dropped} messages dropped." if drop else f"{count} messages will be sent.")


def _no_target(target: str) -> click.ClickException:
    return click.ClickException(f"There is no target {target!r}: see '{typed('notify status')}'.")


@notify.command("retry")
@click.argument("target")
def retry_command(target: str) -> None:
    """Send a target again what it refused, in its order."""
    with database() as connection:
        row = queue.retry_target(connection, target)
    if row is None:
        raise _no_target(target)
    click.echo(f"{row['count']} messages will be sent again.")
    if row["paused_at"] is not None:
        click.echo(f"The target is paused: '{typed(f'notify resume {target}')}'.")


@notify.command("drop")
@click.argument("target")
@click.argument("id")
def drop(target: str, id: str) -> None:
    """Let one message go that a target refused, and count it."""
    with database() as connection:
        count = queue.drop_refused(connection, target, id)
    if not count:
        raise click.ClickException(f"{target!r} refused no message {id!r}: see '{typed('notify status')}'.")
    click.echo(f"{count} message dropped.")

"""Trades and rules for tests of webhooks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.ledger.in_process import Row
from tests.ledger.rows import ANN, trade_row
from tests.lib.processes import Process
from tests.lib.receiver import SECRET, Receiver

NOW = datetime.now(UTC).replace(microsecond=0)
Start = Callable[..., Process[str]]
# A rule about all trades.
ALL = '[rules.all]\ntargets = ["bot"]\n'


def trade(signature: str, minutes: float = 60, address: str = ANN, **fields: Any) -> Row:
    """A buy of one token for one SOL, so many minutes ago."""
    return trade_row(address, signature, NOW - timedelta(minutes=minutes), **fields)


def rules_of(receiver: Receiver, rules: str, **paths: str) -> str:
    """Targets of the receiver by name, each with its path, and rules."""
    targets = "".join(
        f'[targets.{name}]\nurl = "{receiver.url}{path}"\nsecrets = ["{SECRET}"]\n'
        for name, path in (paths or {"bot": "/"}).items()
    )
    return targets + rules

"""The settler: what requests have used is written to a store in the background, all keys at once."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from wallet_api.base.recurring import CLOSE_SECONDS, Recurring
from wallet_api.database import had_no_effect

SETTLE_SECONDS = 0.05
# Without success for so long, the store counts as away.
LATE_SECONDS = 1.0


@dataclass(slots=True, eq=False)
class Account:
    """What the requests of one key have used: `pending` is not sent yet, `sent` is not confirmed yet.

    `lock` guards both, and what subclasses add to them.
    """

    pending: int = field(default=0, init=False)
    sent: int = field(default=0, init=False)
    lock: Lock = field(default_factory=Lock, init=False)

    @property
    def unsettled(self) -> int:
        """All that the store has not confirmed."""
        return self.pending + self.sent

    def send(self) -> int:
        """Mark what is pending as sent, and return it."""
        with self.lock:
            amount, self.pending = self.pending, 0
            self.sent += amount
        return amount


AccountType = TypeVar("AccountType", bound=Account)


class Settler(Generic[AccountType]):
    """Write what accounts have used to a store in each period, by one call of `write` for all of them.

    `write` takes the accounts with the amounts that are sent, and subtracts these from `sent` when their
    outcome is certain or given up. An error that had no effect on the store makes them pending again. While
    `is_ready` returns False, all waits.
    """

    def __init__(
        self,
        name: str,
        write: Callable[[dict[AccountType, int]], None],
        is_ready: Callable[[], bool] = lambda: True,
        period_seconds: float = SETTLE_SECONDS,
        close_seconds: float = CLOSE_SECONDS,
    ) -> None:
        self._write = write
        self._is_ready = is_ready
        self._used: dict[AccountType, None] = {}
        # Since when nothing could be settled.
        self._late_since = math.inf
        self._thread = Recurring(name, self._settle, period_seconds, close_seconds=close_seconds)
        self.start = self._thread.start
        self.wake = self._thread.wake

    @property
    def works(self) -> bool:
        """Whether what is added now will be settled soon."""
        return time.monotonic() - self._late_since < LATE_SECONDS and not self._thread.closed

    def add(self, account: AccountType, amount: int) -> None:
        """Add what a request has used. The caller holds the account's lock."""
        account.pending += amount
        self._used[account] = None

    def drop(self, account: AccountType) -> None:
        """Settle this account no more."""
        self._used.pop(account, None)

    def close(self) -> dict[AccountType, int]:
        """Settle for the last time, and return what could not be settled."""
        self._thread.close()
        return {account: account.unsettled for account in list(self._used) if account.unsettled}

    def _settle(self) -> None:
        if not self._used or not self._is_ready():
            return
        accounts = list(self._used)
        amounts = {account: amount for account in accounts if (amount := account.send())}
        if amounts:
            self._send(amounts)
        for account in accounts:
            with account.lock:
                if not account.unsettled:
                    self.drop(account)

    def _send(self, amounts: dict[AccountType, int]) -> None:
        self._late_since = min(self._late_since, time.monotonic())
        try:
            self._write(amounts)
        except Exception as error:
            if had_no_effect(error):
                for account, amount in amounts.items():
                    with account.lock:
                        account.sent -= amount
                        account.pending += amount
            raise
        self._late_since = math.inf

"""The most requests that a command may send."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.providers.pace import Pace


class Spent(ProviderFault):
    """The command may send no further requests."""

    outcome = "spent"
    provider_works: ClassVar[bool | None] = None


class Purse(Pace):
    """A pace that ends: at most `most` requests, retries included. Each call of a batch counts as one.

    `spent` counts them.
    """

    def __init__(self, per_second: float, hold_seconds: float, most: int) -> None:
        super().__init__(per_second, hold_seconds)
        self.most = most
        self.spent = 0
        self._limit = most

    @property
    def remaining(self) -> int:
        """Return how many may still be sent."""
        return self.most - self.spent

    def wait(self, calls: int = 1) -> None:
        """Wait as a pace. Raise Spent."""
        if self.spent + calls > self._limit:
            raise Spent(f"{self.spent} of {self.most}")
        super().wait(calls)
        self.spent += calls

    @contextmanager
    def allowance(self, calls: int) -> Iterator[None]:
        """Allow at most so many within the block."""
        self._limit = min(self.most, self.spent + calls)
        try:
            yield
        finally:
            self._limit = self.most

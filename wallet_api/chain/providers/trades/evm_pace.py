"""How many blocks a chain makes in a time, as its last hour shows."""

import math
import time
from contextlib import suppress
from datetime import UTC, datetime

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.evm.receipts import ChainBlock

_HOUR_SECONDS = 3600.0
# Blocks that share a second show no pace.
_LEAST_SECONDS = 0.001


class BlockPace:
    """The time from block to block: that of the chain's row, once it is measured that of the last hour."""

    def __init__(self, chain: Chain) -> None:
        self.seconds = chain.rules_on(datetime.now(UTC).date()).block_seconds
        self._measured_at = -math.inf

    @property
    def is_due(self) -> bool:
        """Return whether it was not measured in the last hour."""
        return time.monotonic() - self._measured_at > _HOUR_SECONDS

    @property
    def hour(self) -> int:
        """Return how many blocks an hour has."""
        return self.blocks(_HOUR_SECONDS)

    def blocks(self, seconds: float) -> int:
        """Return how many blocks there are in a time; at least one."""
        return max(1, math.ceil(seconds / self.seconds))

    def measure(self, earlier: ChainBlock, later: ChainBlock) -> None:
        """Measure it by two blocks, unless their times cannot be."""
        self._measured_at = time.monotonic()
        with suppress(UnusableRow):
            passed = (later.created_at - earlier.created_at).total_seconds()
            count = later.place - earlier.place
            if count > 0 and passed > 0:
                self.seconds = max(_LEAST_SECONDS, passed / count)

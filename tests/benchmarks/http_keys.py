"""The keys with which the service is measured, the same in each database."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from wallet_api.database import connect
from wallet_api.keys import PREFIX, key_hash

ORDINARY_KEYS = 1_500
MANY_KEYS = 15_000
ORDINARY_CREDITS = 1_000_000
LOW_CREDITS = 1_000
HOT_CREDITS = 10**12
HOT_RATE = "100000000/minute"

_INSERT = """
INSERT INTO api_keys (name, key_hash, credits, rate)
SELECT %(name)s || ' ' || place,
       key_hash,
       %(credits)s,
       %(rate)s
  FROM unnest(%(hashes)s::bytea[]) WITH ORDINALITY AS made (key_hash, place)
"""


@dataclass(frozen=True)
class Keys:
    """Keys by kind. All but `hot` have the default rate and a finite balance; `low` that of 1,000 requests.

    `low_count` keys of the last kind have to last for the whole run.
    """

    low_count: int = ORDINARY_KEYS

    @cached_property
    def hot(self) -> str:
        """The key without a limit that matters."""
        return _make(1)[0]

    @cached_property
    def ordinary(self) -> Sequence[str]:
        """1,500 keys."""
        return _make(ORDINARY_KEYS)

    @cached_property
    def many(self) -> Sequence[str]:
        """15,000 keys."""
        return _make(MANY_KEYS)

    @cached_property
    def low(self) -> Sequence[str]:
        """Keys with so few credits that each request is charged before its response."""
        return _make(self.low_count)

    def save(self, database_url: str) -> None:
        """Insert all keys into the database."""
        kinds = (
            ("hot", [self.hot], HOT_CREDITS, HOT_RATE),
            ("ordinary", self.ordinary, ORDINARY_CREDITS, None),
            ("many", self.many, ORDINARY_CREDITS, None),
            ("low", self.low, LOW_CREDITS, None),
        )
        with connect(database_url) as connection:
            for name, keys, credits, rate in kinds:
                hashes = [key_hash(key) for key in keys]
                connection.execute(
                    _INSERT, {"name": name, "credits": credits, "rate": rate, "hashes": hashes}
                )
            connection.execute("VACUUM ANALYZE api_keys")


def _make(count: int) -> list[str]:
    # One key per insertion by the command line takes half a second, so they are made here.
    return [PREFIX + secrets.token_urlsafe(32) for _ in range(count)]

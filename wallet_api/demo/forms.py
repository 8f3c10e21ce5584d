"""Generate amounts, times, addresses and signatures in valid text forms, fast enough for millions."""

from datetime import UTC, datetime
from functools import lru_cache
from random import Random

_ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_TO_BASE58 = bytes(_ALPHABET[byte % 58] for byte in range(256))


def seeded(*parts: object) -> Random:
    """Return a random generator with the same numbers for the same `parts` in every process."""
    return Random("/".join(map(str, parts)))  # noqa: S311 - not for secrets


def decimal_text(units: int, decimals: int) -> str:
    """Return `units` of 10^-decimals as a decimal without trailing zeros: 1500000000 at 9 is `1.5`."""
    if decimals == 0:
        return str(units)
    digits = str(units).zfill(decimals + 1)
    fraction = digits[-decimals:].rstrip("0")
    return f"{digits[:-decimals]}.{fraction}" if fraction else digits[:-decimals]


def time_text(unix_seconds: int) -> str:
    """Return an ISO 8601 time in UTC: `2026-01-30T12:51:16Z`."""
    hour, rest = divmod(unix_seconds, 3600)
    return f"{_hour_text(hour)}{rest // 60:02d}:{rest % 60:02d}Z"


def solana_address(random: Random, prefix: str = "") -> str:
    """Return 44 base58 digits that encode 32 bytes, beginning with `prefix`."""
    # 58^43 > 2^248 and 17 * 58^43 < 2^256, so a first digit from 1 to 16 makes exactly 32 bytes.
    digits = random.randbytes(43).translate(_TO_BASE58).decode()
    text = chr(_ALPHABET[1 + random.getrandbits(4)]) + digits
    return prefix + text[len(prefix) :]


def solana_signature(random: Random) -> str:
    """Return 88 base58 digits that encode 64 bytes."""
    # 58^87 > 2^504 and 5 * 58^87 < 2^512, so a first digit from 1 to 4 makes exactly 64 bytes.
    return chr(_ALPHABET[1 + random.getrandbits(2)]) + random.randbytes(87).translate(_TO_BASE58).decode()


def evm_address(random: Random, prefix: str = "0x") -> str:
    """Return `0x` and 40 lower-case hexadecimal digits, beginning with `prefix`."""
    text = f"0x{random.getrandbits(160):040x}"
    return prefix + text[len(prefix) :]


def evm_hash(random: Random) -> str:
    """Return `0x` and 64 lower-case hexadecimal digits."""
    return f"0x{random.getrandbits(256):064x}"


@lru_cache(maxsize=4096)
def _hour_text(hour: int) -> str:
    return datetime.fromtimestamp(hour * 3600, UTC).strftime("%Y-%m-%dT%H:")

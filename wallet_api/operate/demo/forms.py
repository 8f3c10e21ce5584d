"""Generate addresses and signatures in valid text forms, fast enough for millions."""

from random import Random

# The wallets exist on no chain, and their addresses show it.
SOLANA_PREFIX = "DemoWaLLet"
EVM_PREFIX = "0xde30de30de30"

_ALPHABET = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_TO_BASE58 = bytes(_ALPHABET[byte % 58] for byte in range(256))


def seeded(*parts: object) -> Random:
    """Return a random generator with the same numbers for the same `parts` in every process."""
    return Random("/".join(map(str, parts)))  # noqa: S311 - not for secrets


def solana_address(random: Random, prefix: str = "") -> str:
    """Return 44 base58 digits that encode 32 bytes, beginning with `prefix`."""
    # 58^43 > 2^248 and 17 * 58^43 < 2^256, so a first digit from 1 to 16 makes exactly 32 bytes.
    return prefix + _base58(random, 4, 43)[len(prefix) :]


def solana_signature(random: Random) -> str:
    """Return 88 base58 digits that encode 64 bytes."""
    # 58^87 > 2^504 and 5 * 58^87 < 2^512, so a first digit from 1 to 4 makes exactly 64 bytes.
    return _base58(random, 2, 87)


def evm_address(random: Random, prefix: str = "0x") -> str:
    """Return `0x` and 40 lower-case hexadecimal digits, beginning with `prefix`."""
    return prefix + f"0x{random.getrandbits(160):040x}"[len(prefix) :]


def evm_hash(random: Random) -> str:
    """Return `0x` and 64 lower-case hexadecimal digits."""
    return f"0x{random.getrandbits(256):064x}"


def _base58(random: Random, bits: int, digits: int) -> str:
    """Return a digit from 1 to 2^bits, and others."""
    others = random.randbytes(digits).translate(_TO_BASE58).decode()
    return chr(_ALPHABET[1 + random.getrandbits(bits)]) + others

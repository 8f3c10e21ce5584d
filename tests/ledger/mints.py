"""Valid mints that can be read: a name, filled up to an address of its chain."""

# Base58 has no 0, O, I and l. Digits stay in their order.
_IN_BASE58 = str.maketrans("0123456789OIl-_ :+.", "abcdefghijoiLxxxxxx")


def mint_of(name: str) -> str:
    """Return a mint of Solana; names in another order than their mints begin with one another."""
    # 43 characters of base58, of which the first is not among the lowest, are 32 bytes.
    return name.translate(_IN_BASE58).ljust(43, "z")


def evm_mint_of(digits: str) -> str:
    """Return a mint of an EVM chain that ends with these hexadecimal digits."""
    return f"0x{digits.rjust(40, '0')}"

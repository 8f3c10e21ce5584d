"""The signatures of transactions in one form, in which the ledger stores and compares them."""

import re
from functools import lru_cache

import base58

from wallet_api.base.forms import MAX_SIGNATURE, BadRow, check_text, shown

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
# A hash of an EVM chain as it is stored, and what is 64 bytes in base58 whatever follows the first character.
_STORED = re.compile(rf"0x[0-9a-f]{{64}}|[3-9A-HJ-NP-Za-km-z]{_BASE58}{{86}}|[2-5]{_BASE58}{{87}}")
_EVM_HASH = re.compile(r"(?:0x|\\x)?([0-9a-f]{64})", re.IGNORECASE)
_SIGNATURE = re.compile(rf"{_BASE58}{{64,88}}")
_SIGNATURE_BYTES = 64

# What is no hash of a transaction, but was one before something cut, joined or wrapped it.
_DAMAGED = re.compile(
    r"(?:0x|\\x)[0-9a-f]*"  # of another length
    r"|.*[0-9a-f]{64}.*[0-9a-f]{64}.*"  # several in one
    r"|.*(?:://|…|\.\.\.).*"  # its address on the web, or shortened
    r"|[0-9a-z]{80,}",  # as long as a signature of Solana
    re.IGNORECASE,
)
# What stands for a hash where there is none.
_PLACEHOLDER = re.compile(r"[-–—_.?]+|#?n/?a|null|nan|none|undefined|#\w+[!?]|(?:0x)?0{8,}", re.IGNORECASE)

_FORM = "the hash of a transaction (0x and 64 hexadecimal digits, or base58 of 64 bytes), or an id of its own"


def is_hash(signature: str) -> bool:
    """Return whether a stored signature is the hash of a transaction, and no id of a source's own."""
    if _STORED.fullmatch(signature):
        return True
    return bool(_SIGNATURE.fullmatch(signature)) and _decoded_bytes(signature) == _SIGNATURE_BYTES


# Cached, since each trade is checked twice, and decoding is slow. What is no signature may be of any length,
# and does not get here.
@lru_cache(maxsize=1024)
def _decoded_bytes(signature: str) -> int:
    return len(base58.b58decode(signature))


def stored_signature(text: str) -> str:
    """Return the form in which a signature is stored and compared: an EVM hash as 0x and lower case.

    Others are as they are, without blanks around them.
    """
    text = text.strip()
    found = _EVM_HASH.fullmatch(text)
    return f"0x{found[1].lower()}" if found else text


def check_signature(text: str) -> str:
    """Return the stored form. Raises BadRow for what was a hash, or stands for none."""
    if is_hash(text) and not text.startswith("0x00000000"):
        return text
    signature = check_text("tx_signature", stored_signature(text), MAX_SIGNATURE, required=True)
    is_damaged = not is_hash(signature) and (
        _DAMAGED.fullmatch(signature) or _is_parted(signature) or not signature.isprintable()
    )
    if is_damaged or _PLACEHOLDER.fullmatch(signature):
        raise BadRow(f"tx_signature must be {_FORM}", f", not {shown(text)}")
    return signature


def _is_parted(signature: str) -> bool:
    """Return whether it is a hash with blanks within."""
    whole = "".join(signature.split())
    return whole != signature and is_hash(stored_signature(whole))

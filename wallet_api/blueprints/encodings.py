"""Content codings of large answers: which one a caller takes, and an end after what is compressed already.

What callers share of an answer is compressed once; the few bytes that are each one's own follow it as a
block that is stored as it is, which both formats allow: RFC 1951, 3.2.4, and RFC 8878, 3.1.1.2.
"""

import sys
import zlib
from collections.abc import Callable
from typing import NamedTuple

from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Below this the time to compress costs a caller more than the bytes do.
MIN_BYTES = 1024
# The fastest levels: the bytes that higher ones save take longer to find than to send.
_GZIP_LEVEL = 1
_ZSTD_LEVEL = 1
# No name, no time, and an unknown system: RFC 1952, 2.3.
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"


class Begun(NamedTuple):
    """A compressed beginning, and what its end has to know of it: the checksum and the number of bytes."""

    compressed: bytes
    checksum: int
    size: int


class Coding(NamedTuple):
    """How one coding begins and ends."""

    begin: Callable[[bytes], Begun]
    end: Callable[[Begun, bytes], bytes]


def choose(header: str | None) -> str | None:
    """The coding that an Accept-Encoding header likes best, of equals the fastest; None for none."""
    if not header:
        return None
    qualities = {name.lower(): quality for name, quality in parse_accept_header(header, Accept)}
    # Whoever takes anything knows gzip.
    qualities.setdefault("gzip", qualities.get("*", 0))
    best = max(CODINGS, key=lambda coding: qualities.get(coding, 0))
    quality = qualities.get(best, 0)
    # No coding at all is the last choice, unless it is named.
    return best if quality > 0 and quality >= qualities.get("identity", 0) else None


def _begin_gzip(content: bytes) -> Begun:
    deflate = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    # A sync flush ends at a whole byte, and leaves the stream open.
    compressed = _GZIP_HEAD + deflate.compress(content) + deflate.flush(zlib.Z_SYNC_FLUSH)
    return Begun(compressed, zlib.crc32(content), len(content))


def _end_gzip(begun: Begun, end: bytes) -> bytes:
    stored = b"\x01" + len(end).to_bytes(2, "little") + (len(end) ^ 0xFFFF).to_bytes(2, "little") + end
    size = (begun.size + len(end)) & 0xFFFFFFFF
    return stored + zlib.crc32(end, begun.checksum).to_bytes(4, "little") + size.to_bytes(4, "little")


def _begin_zstd(content: bytes) -> Begun:
    compressor = zstd.ZstdCompressor(level=_ZSTD_LEVEL)
    return Begun(compressor.compress(content, zstd.ZstdCompressor.FLUSH_BLOCK), 0, len(content))


def _end_zstd(begun: Begun, end: bytes) -> bytes:
    # The last block, of the raw kind.
    return (len(end) << 3 | 1).to_bytes(3, "little") + end


# The fastest first.
CODINGS = {"zstd": Coding(_begin_zstd, _end_zstd), "gzip": Coding(_begin_gzip, _end_gzip)}

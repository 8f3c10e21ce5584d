"""Compression: which responses have which coding, and that the document stays the same."""

import zlib

import pytest
from werkzeug.test import TestResponse

from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer

ACCEPTED = {
    **dict.fromkeys((None, "", "identity", "gzip;q=0.5, identity", "gzip;q=0", "br, deflate", ";;q=,")),
    **dict.fromkeys(("gzip", "GZIP", "gzip, deflate, br, zstd", "br;q=0, *", "*;q=0.1"), "gzip"),
    "identity;q=0.5, gzip;q=0.8": "gzip",
}


@pytest.fixture(autouse=True)
def _wallets(importer: Importer) -> None:
    """A list that is large, and whose texts are not only ASCII."""
    importer.wallets(
        {"blockchain": "eth", "type": "kol", "wallet_address": f"0x{number:040x}", "name": f"Wället {number}"}
        for number in range(1_000)
    )


def decoded(answer: TestResponse) -> bytes:
    """The body: a single gzip member, as the strictest clients want it, or plain."""
    if "Content-Encoding" not in answer.headers:
        return answer.data
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    body = inflate.decompress(answer.data)
    assert (inflate.eof, inflate.unused_data) == (True, b"")
    return body


def test_the_coding_is_the_one_that_the_caller_prefers(caller: Caller) -> None:
    def sent(accepted: str | None, path: str = "/wallets?blockchain=eth&type=kol") -> TestResponse:
        return caller.send(path, headers={} if accepted is None else {"Accept-Encoding": accepted})

    plain = sent(None)
    assert plain.headers["ETag"].startswith('W/"')
    for accepted, coding in ACCEPTED.items():
        answer = sent(accepted)
        assert answer.headers.get("Content-Encoding") == coding, accepted
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(answer.data)
        assert answer.headers["ETag"] == plain.headers["ETag"]
        assert coding is None or len(answer.data) < len(plain.data) / 4
        # All but meta, which ends both.
        body = decoded(answer)
        assert body.partition(b',"meta":')[0] == plain.data.partition(b',"meta":')[0]
        assert body.endswith(b"}}")
    # Small ones and errors are not compressed.
    for path in (LIST, "/transactions/volume?blockchain=eth&type=kol", f"{LIST}&limit=0"):
        answer = sent("gzip", path)
        assert not {"Content-Encoding", "Vary"} & {*answer.headers.keys()}
        assert "meta" in answer.json

"""Compression: which responses have which coding, and that the document stays the same."""

import gzip
import zlib
from collections.abc import Callable

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from tests.ledger.caller import LIST, Caller
from tests.ledger.in_process import Importer
from tests.processes import StartGunicorn
from wallet_api.responses.compression import Prefix

DECODERS: dict[str | None, Callable[[bytes], bytes]] = {None: bytes, "gzip": gzip.decompress}
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


def test_the_coding_is_the_one_that_the_caller_prefers(caller: Caller) -> None:
    def ask(accepted: str | None, path: str = "/wallets?blockchain=eth&type=kol") -> TestResponse:
        return caller.send(path, headers={} if accepted is None else {"Accept-Encoding": accepted})

    plain = ask(None)
    assert plain.headers["ETag"].startswith('W/"')
    for accepted, coding in ACCEPTED.items():
        answer = ask(accepted)
        assert answer.headers.get("Content-Encoding") == coding, accepted
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(answer.data)
        assert answer.headers["ETag"] == plain.headers["ETag"]
        assert coding is None or len(answer.data) < len(plain.data) / 4
        # All but meta, which ends both.
        body = DECODERS[coding](answer.data)
        assert body.partition(b',"meta":')[0] == plain.data.partition(b',"meta":')[0]
        assert body.endswith(b"}}")
    # Small ones and errors are not compressed.
    for path in (LIST, "/transactions/volume?blockchain=eth&type=kol", f"{LIST}&limit=0"):
        answer = ask("gzip", path)
        assert not {"Content-Encoding", "Vary"} & {*answer.headers.keys()}
        assert "meta" in answer.json


def test_an_ordinary_client_reads_a_compressed_response_of_gunicorn(
    gunicorn: StartGunicorn, caller: Caller
) -> None:
    server = gunicorn(workers=1)
    url = f"{server.url}/v1/wallets?blockchain=eth&type=kol"
    for accepted, coding in (("gzip", "gzip"), ("identity", None)):
        headers = {"Authorization": f"Bearer {caller.key}", "Accept-Encoding": accepted}
        answer = requests.get(url, headers=headers, timeout=20)
        assert answer.headers.get("Content-Encoding") == coding
        assert len(answer.json()["data"]["wallets"]) == 1_001
        head = requests.head(url, headers=headers, timeout=20)
        assert (head.status_code, head.content, head.headers.get("Content-Encoding")) == (200, b"", coding)
    assert "Traceback" not in server.log


@given(st.binary(max_size=300_000), st.lists(st.binary(max_size=300), min_size=2, max_size=2))
def test_bodies_with_the_same_prefix_are_single_gzip_members(common: bytes, ends: list[bytes]) -> None:
    prefix = Prefix(common)
    for end in ends:
        compressed = prefix.gzip(end)
        # One member, as the strictest clients want it.
        inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        assert inflate.decompress(compressed) == common + end
        assert (inflate.eof, inflate.unused_data) == (True, b"")

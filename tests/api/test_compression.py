"""Compression: which responses have which coding, and that the document stays the same."""

import gzip
import zlib
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.in_process import Importer
from tests.processes import StartGunicorn
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.responses.compression import Prefix

LIST = "/v1/wallets?blockchain=eth&type=kol"
DECODERS = {None: bytes, "gzip": gzip.decompress}


@pytest.fixture
def key(database_url: str, connection: Connection) -> str:
    """A key, and 1,000 wallets."""
    wallets = [
        {"blockchain": "eth", "type": "kol", "wallet_address": f"0x{number:040x}", "name": f"Wället {number}"}
        for number in range(1_000)
    ]
    Importer(database_url).wallets(wallets)
    return create_key(connection, "caller", rate="1000000/minute")


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (None, None),
        ("", None),
        ("identity", None),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("gzip, deflate, br, zstd", "gzip"),
        ("identity;q=0.5, gzip;q=0.8", "gzip"),
        ("gzip;q=0.5, identity", None),
        ("gzip;q=0", None),
        ("br;q=0, *", "gzip"),
        ("*;q=0.1", "gzip"),
        ("br, deflate", None),
        (";;q=,", None),
    ],
)
def test_the_coding_is_the_one_that_the_caller_prefers(
    client: FlaskClient, key: str, accepted: str | None, coding: str | None
) -> None:
    plain = _ask(client, key, LIST, None)
    answer = _ask(client, key, LIST, accepted)
    assert answer.headers.get("Content-Encoding") == coding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    if coding:
        assert len(answer.data) < len(plain.data) / 4
    # All but meta, which ends both.
    body = DECODERS[coding](answer.data)
    assert body.partition(b',"meta":')[0] == plain.data.partition(b',"meta":')[0]
    assert body.endswith(b"}}")


def test_an_etag_is_the_same_in_every_coding(client: FlaskClient, key: str) -> None:
    etags = {_ask(client, key, LIST, accepted).headers["ETag"] for accepted in (None, "gzip")}
    assert len(etags) == 1
    assert etags.pop().startswith('W/"')


def test_small_responses_and_errors_are_not_compressed(client: FlaskClient, key: str) -> None:
    for path in (f"{LIST}&limit=1", "/v1/transactions/volume?blockchain=eth&type=kol", f"{LIST}&limit=0"):
        answer = _ask(client, key, path, "gzip")
        assert "Content-Encoding" not in answer.headers
        assert "Vary" not in answer.headers
        assert "meta" in answer.json


@pytest.mark.parametrize(("accepted", "coding"), [("gzip", "gzip"), ("identity", None)])
def test_an_ordinary_client_reads_a_compressed_response_of_gunicorn(
    gunicorn: StartGunicorn, key: str, accepted: str, coding: str | None
) -> None:
    server = gunicorn(workers=1)
    headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": accepted}
    for _ in range(2):
        answer = requests.get(server.url + LIST, headers=headers, timeout=20)
        assert answer.headers.get("Content-Encoding") == coding
        assert len(answer.json()["data"]["wallets"]) == 1_000
    head = requests.head(server.url + LIST, headers=headers, timeout=20)
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


def _ask(client: FlaskClient, key: str, path: str, accepted: str | None) -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    if accepted is not None:
        headers["Accept-Encoding"] = accepted
    return client.get(path, headers=headers)

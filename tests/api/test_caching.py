"""Cached data: which requests share it, when it is computed again, and what it costs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.ledger.in_process import Importer
from wallet_api.database import Connection
from wallet_api.keys import create_key
from wallet_api.settings import Settings

MakeApp = Callable[[Settings], Flask]

ADDRESSES = ["0x" + digit * 40 for digit in "123456"]
LIST = "/v1/wallets?blockchain=eth&type=kol"


@pytest.fixture
def importer(database_url: str) -> Importer:
    """Takes rows in; three wallets are there."""
    importer = Importer(database_url)
    importer.wallets(_wallets(ADDRESSES[:3]))
    return importer


@pytest.fixture
def keeping(settings: Settings, make_app: MakeApp, importer: Importer) -> FlaskClient:
    """A caller of an application that caches data for a minute."""
    return make_app(replace(settings, answer_ttl_seconds=60.0, leaderboard_ttl_seconds=60.0)).test_client()


@pytest.fixture
def key(connection: Connection) -> str:
    """A key with 100 credits."""
    return create_key(connection, "caller", credits=100)


def test_an_equal_request_within_the_ttl_gets_the_cached_data_with_new_meta(
    keeping: FlaskClient, key: str, importer: Importer
) -> None:
    first = _ask(keeping, key, LIST)
    importer.wallets(_wallets(ADDRESSES[3:]))
    second = _ask(keeping, key, LIST)
    assert (first.json["meta"]["cached"], second.json["meta"]["cached"]) == (False, True)
    assert second.json["data"] == first.json["data"]
    assert (
        second.json["meta"]["request_id"] == second.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    )


def test_without_a_ttl_every_response_has_what_was_imported_before(
    settings: Settings, make_app: MakeApp, key: str, importer: Importer
) -> None:
    client = make_app(replace(settings, answer_ttl_seconds=0.0, leaderboard_ttl_seconds=0.0)).test_client()
    for known in (3, 4, 5):
        answer = _ask(client, key, LIST).json
        assert (answer["data"]["pagination"]["total"], answer["meta"]["cached"]) == (known, False)
        importer.wallets(_wallets(ADDRESSES[: known + 1]))


@pytest.mark.parametrize(
    ("path", "cached"),
    [
        pytest.param("/v1/wallets?type=kol&blockchain=eth&cursor=", True, id="other order, empty cursor"),
        pytest.param(f"{LIST}&limit=3", False, id="a limit"),
        pytest.param("/v1/wallets?blockchain=base&type=kol", False, id="another chain"),
        pytest.param("/v1/transactions/volume?blockchain=eth&type=kol", False, id="another operation"),
    ],
)
def test_data_is_shared_by_equal_arguments_only(
    keeping: FlaskClient, key: str, path: str, cached: bool
) -> None:
    _ask(keeping, key, LIST)
    assert _ask(keeping, key, path).json["meta"]["cached"] is cached


def test_a_request_for_cached_data_passes_the_whole_gate(
    keeping: FlaskClient, connection: Connection
) -> None:
    key = create_key(connection, "poor", credits=2, rate="4/hour")
    outcomes = []
    for _ in range(5):
        answer = _ask(keeping, key, LIST)
        outcomes.append((answer.status_code, answer.headers["X-Credits-Remaining"]))
    assert outcomes == [(200, "1"), (200, "0"), (403, "0"), (403, "0"), (429, "0")]
    assert keeping.get(LIST).status_code == 401
    assert _ask(keeping, "wk_wrong", LIST).status_code == 403


def test_a_refusal_is_not_cached(keeping: FlaskClient, key: str, importer: Importer) -> None:
    path = f"/v1/wallets/history?blockchain=eth&type=kol&address={ADDRESSES[4]}"
    assert _ask(keeping, key, path).status_code == 404
    importer.wallets(_wallets(ADDRESSES))
    assert _ask(keeping, key, path).status_code == 200


def test_unchanged_data_is_a_304_without_body_and_without_charge(keeping: FlaskClient, key: str) -> None:
    first = _ask(keeping, key, LIST)
    again = _ask(keeping, key, LIST, if_none_match=f'"other", {first.headers["ETag"]}')
    assert (again.status_code, again.data) == (304, b"")
    assert "Content-Type" not in again.headers
    for name in ("ETag", "Vary", "Cache-Control", "X-Credits-Remaining"):
        assert again.headers.get(name) == first.headers.get(name), name
    assert int(again.headers["X-RateLimit-Remaining"]) == int(first.headers["X-RateLimit-Remaining"]) - 1


def test_a_key_without_credits_gets_no_304_either(keeping: FlaskClient, connection: Connection) -> None:
    key = create_key(connection, "poor", credits=1)
    etag = _ask(keeping, key, LIST).headers["ETag"]
    refused = _ask(keeping, key, LIST, if_none_match=etag)
    assert (refused.status_code, refused.json["error"]["reason"]) == (403, "insufficient_credits")


def test_an_etag_changes_with_the_data_and_not_with_a_new_computation(
    settings: Settings, make_app: MakeApp, key: str, importer: Importer
) -> None:
    client = make_app(replace(settings, answer_ttl_seconds=0.0, leaderboard_ttl_seconds=0.0)).test_client()
    etag = _ask(client, key, LIST).headers["ETag"]
    assert _ask(client, key, LIST).headers["ETag"] == etag
    importer.wallets(_wallets(ADDRESSES[3:4]))
    changed = _ask(client, key, LIST, if_none_match=etag)
    assert (changed.status_code, changed.json["data"]["pagination"]["total"]) == (200, 4)
    assert changed.headers["ETag"] != etag


def _wallets(addresses: list[str]) -> list[dict[str, str]]:
    return [{"blockchain": "eth", "type": "kol", "wallet_address": address} for address in addresses]


def _ask(client: FlaskClient, key: str, path: str, *, if_none_match: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {key}"}
    if if_none_match is not None:
        headers["If-None-Match"] = if_none_match
    return client.get(path, headers=headers)

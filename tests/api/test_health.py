"""The health checks: whether the process is alive, and whether it can serve requests."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from wallet_api.database import Connection
from wallet_api.settings import Settings

MakeApp = Callable[[Settings], Flask]


def _nobody_there(url: str) -> str:
    return url.replace("host=", "host=%2Fnonexistent")


def test_a_process_that_responds_is_healthy_without_any_key(client: FlaskClient) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json["success"], answer.json["data"]) == (200, True, {"status": "ok"})
    assert answer.headers["X-Request-ID"] == answer.json["meta"]["request_id"]


def test_a_service_with_all_its_parts_is_ready(client: FlaskClient) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json["data"] == {
        "status": "ready",
        "database": "ok",
        "tables": "ok",
        "primary": "ok",
        "store": "ok",
    }


def test_a_dead_database_makes_the_service_unready_but_not_unhealthy(
    settings: Settings, make_app: MakeApp
) -> None:
    client = make_app(replace(settings, database_url=_nobody_there(str(settings.database_url)))).test_client()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "1"
    assert answer.json["error"]["code"] == "service_unavailable"
    assert answer.json["error"]["reason"] == "database"
    assert client.get("/healthz").status_code == 200


def test_missing_tables_are_named(client: FlaskClient, connection: Connection) -> None:
    connection.execute("DELETE FROM schema_migrations WHERE name LIKE '0002%'")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["error"]["reason"]) == (503, "migrations")
    assert "0002_" in answer.json["error"]["message"]


def test_a_database_without_any_table_is_not_ready(
    settings: Settings, make_app: MakeApp, empty_database_url: str
) -> None:
    client = make_app(replace(settings, database_url=empty_database_url)).test_client()
    assert client.get("/readyz").json["error"]["reason"] == "migrations"


def test_reads_from_a_standby_keep_the_service_ready_while_the_primary_is_away(
    settings: Settings, make_app: MakeApp
) -> None:
    url = str(settings.database_url)
    parted = replace(settings, database_url=_nobody_there(url), database_read_url=url)
    answer = make_app(parted).test_client().get("/readyz")
    assert (answer.status_code, answer.json["data"]["primary"]) == (200, "away")


@pytest.mark.parametrize(("url", "told"), [(None, "none"), ("valkey://127.0.0.1:9", "away")])
def test_the_store_of_limits_is_reported_but_not_required(
    settings: Settings, make_app: MakeApp, url: str | None, told: str
) -> None:
    answer = make_app(replace(settings, valkey_url=url)).test_client().get("/readyz")
    assert (answer.status_code, answer.json["data"]["store"]) == (200, told)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_other_methods_are_refused(client: FlaskClient, path: str) -> None:
    answer = client.post(path)
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]

"""The location of a database as a text, without the password."""

import pytest

from wallet_api.database import location_of
from wallet_api.settings import SettingsError


@pytest.fixture(autouse=True)
def _no_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGUSER", "PGSERVICE", "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("postgresql://writer:secret@db1/ledger", "ledger on db1:5432 as writer"),
        ("postgres://writer:secret@db1:6432/ledger?sslmode=require", "ledger on db1:6432 as writer"),
        ("postgresql://db1/ledger?user=writer&password=secret", "ledger on db1:5432 as writer"),
        ("postgresql://writer@db1", "writer on db1:5432 as writer"),
        ("postgresql://w%40x:se%3Acret@db1/a%20b", "a b on db1:5432 as w@x"),
        ("postgresql://writer@db1:5433,db2:5434/ledger", "ledger on db1:5433, db2:5434 as writer"),
        ("postgresql://writer@/ledger?host=db1,db2&port=5433", "ledger on db1:5433, db2:5433 as writer"),
        ("postgresql://writer@[2001:db8::1]/ledger", "ledger on [2001:db8::1]:5432 as writer"),
        ("postgresql://writer@/ledger?hostaddr=10.0.0.1", "ledger on 10.0.0.1:5432 as writer"),
        ("postgresql://writer@/ledger?host=%2Frun%2Fpg", "ledger on /run/pg:5432 as writer"),
        ("postgresql://writer@/ledger", "ledger on the local socket as writer"),
        ("postgresql://?service=prod", "the database of the connection service prod"),
    ],
)
def test_a_database_is_named_without_its_password(url: str, location: str) -> None:
    assert location_of(url) == location


def test_what_the_url_leaves_out_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"PGHOST": "db9", "PGPORT": "6000", "PGUSER": "someone", "PGDATABASE": "elsewhere"}
    for name, value in (own | {"PGPASSWORD": "secret"}).items():
        monkeypatch.setenv(name, value)
    assert location_of("postgresql://") == "elsewhere on db9:6000 as someone"
    assert location_of("postgresql://writer@db1:5432/ledger") == "ledger on db1:5432 as writer"


@pytest.mark.parametrize("url", ["postgresql://a:secret%zz@db1/x", "postgresql://a:secret@[db1/x"])
def test_a_malformed_url_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL") as refused:
        location_of(url)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None

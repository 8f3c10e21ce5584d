"""Commands whose files are on a full disk: the message names the file, and no part of one is left."""

import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.ledger.in_process import Importer
from tests.ledger.rows import ndjson, price_row
from tests.lib.backups import refused
from tests.lib.folders import small_disk
from wallet_api.operate import embedded
from wallet_api.settings import Settings

NOW = datetime.now(UTC).replace(microsecond=0)
HOURS = [NOW - timedelta(hours=number) for number in range(30_000)]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")


@pytest.fixture
def disk() -> Iterator[Path]:
    """A disk with room for little."""
    with small_disk("256k") as disk:
        yield disk


def test_what_does_not_fit_is_named_and_not_left_in_part(
    settings: Settings, database_url: str, disk: Path
) -> None:
    # Not even compressed do they fit.
    digits = random.Random(1)
    prices = [price_row(f"150.{digits.randrange(10**18):018d}", hour) for hour in HOURS]
    Importer(database_url).prices(prices)
    for name, *command in (
        ("prices.ndjson", "export", "prices"),
        ("prices.csv", "export", "prices"),
        ("all.dump", "backup"),
    ):
        error = refused(*command, disk / name, settings=settings)
        assert str(disk / name) in error
        assert "No space left on device" in error
        assert list(disk.iterdir()) == []


def test_rejected_rows_that_do_not_fit_are_named_and_the_last_one_left_is_whole(
    settings: Settings, disk: Path
) -> None:
    file = disk / "prices.ndjson"
    file.write_bytes(ndjson(*(price_row("free", hour) for hour in HOURS[:1500])))
    rejects = disk / "prices.ndjson.rejects.ndjson"
    error = refused("import", "prices", file, settings=settings)
    assert error == f"[Errno 28] No space left on device: '{rejects}'"
    lines = rejects.read_bytes().splitlines(keepends=True)
    assert lines
    assert json.loads(lines[-1])["line"] == len(lines)


def test_logs_that_are_too_large_are_emptied_where_there_is_no_room_for_a_copy(disk: Path) -> None:
    home = embedded.home_folder(Settings(wallet_api_home=str(disk)))
    log = home / "log" / "access.log"
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(embedded, "LOG_LIMIT_BYTES", 100_000)
        log.write_bytes(b"x" * 150_000)
        embedded.trim_logs(home)
    assert log.stat().st_size == 0
    assert [file.name for file in log.parent.iterdir()] == ["access.log"]

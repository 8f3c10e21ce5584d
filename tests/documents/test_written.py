"""Documents that are generated are as their writers write them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.documents import write_examples, write_reference
from wallet_api.database import Connection

Write = Callable[[str], str]


@pytest.fixture
def writers(database_url: str, connection: Connection) -> dict[Path, Write]:
    """The function of each document that returns it as it should be."""
    of_ledger = partial(write_examples.written, database_url=database_url, connection=connection)
    return {write_examples.FILE: of_ledger, **write_reference.WRITERS}


def test_documents_are_as_they_are_generated(writers: dict[Path, Write]) -> None:
    for file, write in writers.items():
        text = file.read_text(encoding="utf-8")
        assert write(text) == text, f"{file.name} is out of date: run `make examples reference`"

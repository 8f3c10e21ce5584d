"""The report of faults and attacks. With FAULTS_REPORT set to a file, it is written there: docs/faults.md."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults_report import Report


@pytest.fixture(scope="session")
def report() -> Iterator[Report]:
    """The lines of the report, written when all tests have run."""
    report = Report()
    yield report
    if os.environ.get("FAULTS_REPORT"):
        report.write(Path(os.environ["FAULTS_REPORT"]))

"""The operation in docs/examples works: it is four files."""

import os
import shutil
import sys
from pathlib import Path

from tests.lib.processes import run_program
from wallet_api.settings import Settings

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "operation"


def test_an_operation_added_as_the_document_shows_passes_its_test_and_those_of_the_whole(
    tmp_path: Path, servers: Settings
) -> None:
    for name in ("wallet_api", "tests", "config", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "wsgi.py"):
        shutil.copy(ROOT / name, tmp_path)
    # The first line of each says where it belongs.
    texts = [file.read_text(encoding="utf-8").split("\n", 1) for file in EXAMPLE.iterdir()]
    files = {place.split()[1]: text for place, text in texts}
    assert sorted(files) == [
        "tests/api/test_tracked.py",
        "wallet_api/api/blueprints/tracked.py",
        "wallet_api/api/schemas/tracked.py",
        "wallet_api/queries/tracked.py",
        "wallet_api/queries/tracked.sql",
    ]
    for name, text in files.items():
        assert not (tmp_path / name).exists()
        (tmp_path / name).write_text(text, encoding="utf-8")
    # The databases of its tests are on the server of these.
    own = {"PYTHONPATH": str(tmp_path), "DATABASE_URL": str(servers.database_url)}
    environment = {**os.environ, **own}
    run_program(
        [sys.executable, "-m", "tests.documents.write_reference"],
        cwd=tmp_path,
        env=environment,
        timeout=60,
        check=True,
    )
    reference = (tmp_path / "docs" / "reference.md").read_text(encoding="utf-8")
    assert "\n## GET /v1/wallets/tracked\n" in reference
    chosen = "test_tracked or test_sql_files or valid_openapi or every_parameter"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *("-k", chosen),
        *("tests/api/test_tracked.py", "tests/api/test_openapi.py"),
        "tests/integration/test_sql_files.py",
    ]
    done = run_program(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr

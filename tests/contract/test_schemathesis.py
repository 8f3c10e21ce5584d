"""schemathesis against the OpenAPI document: no crash, no undocumented status, every response as documented.

Some hundreds of calls here; `make fuzz` makes more than 5,000, by FUZZ_EXAMPLES, FUZZ_CALLS and FUZZ_PHASES.
"""

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, StartGunicorn, run_program
from wallet_api.base.chains import CHAINS
from wallet_api.database import connect

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "6"))
CALLS = int(os.environ.get("FUZZ_CALLS", "200"))
PHASES = os.environ.get("FUZZ_PHASES", "examples,fuzzing")
# What a parameter by itself cannot say: which types a chain has, the form of its addresses, and that a
# cursor is one of ours. So a call that keeps to each parameter may be refused all the same.
LEFT_OUT = "positive_data_acceptance"
# Valid requests may have larger whole numbers than the int64 of the document, which are capped.
LEFT_OUT_OF_VALID = f"{LEFT_OUT},negative_data_rejection"


@pytest.mark.timeout(1800)
def test_generated_calls_find_nothing_that_is_not_described(
    gunicorn: StartGunicorn, demo: DemoService, tmp_path: Path
) -> None:
    server = gunicorn(replace(demo.settings, holdings_wait_seconds=0.2))
    (tmp_path / "schemathesis.toml").write_text(
        'headers = { Authorization = "Bearer ${API_KEY}" }\n'
        # The document describes amounts that are numbers.
        'parameters = { "query.amounts" = "number" }\n'
    )
    hooks = {"SCHEMATHESIS_HOOKS": "tests.contract.fuzz_hooks", "PYTHONPATH": str(Path(__file__).parents[2])}
    calls = _generated(server, demo, tmp_path, LEFT_OUT, f"--phases={PHASES}", **hooks)
    # Most of these are refused. Now such that can be answered.
    calls += _generated(
        *(server, demo, tmp_path, LEFT_OUT_OF_VALID, "--phases=fuzzing", "--mode=positive"),
        FUZZ_VALUES=str(_values(demo, tmp_path / "values.json")),
        **hooks,
    )
    answered = server.log.count('HTTP/1.1" 200 ')
    sys.stdout.write(f"schemathesis made {calls} calls, of which {answered} got data\n")
    assert calls >= CALLS
    assert answered >= calls // 20
    assert " ERROR " not in server.log
    assert '" 500 ' not in server.log


def _generated(
    server: Gunicorn, demo: DemoService, folder: Path, left_out: str, *options: str, **environment: str
) -> int:
    """Run schemathesis, and return how many calls it has made."""
    run = run_program(
        [
            *(str(Path(sys.executable).parent / "schemathesis"), "run", f"{server.url}/v1/openapi.json"),
            *("--checks=all", f"--exclude-checks={left_out}", "--continue-on-failure"),
            *(f"--max-examples={EXAMPLES}", "--workers=2", "--no-color", "--warnings=off"),
            # That check measures the machine.
            "--suppress-health-check=too_slow",
            *options,
        ],
        cwd=folder,
        env=os.environ | {"API_KEY": demo.key} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
    tested = re.search(r"Tested: (\d+)", run.stdout)
    generated = re.search(r"(\d[\d,]*) generated", run.stdout)
    assert tested is not None
    assert generated is not None
    described = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()["paths"]
    assert int(tested[1]) == len(described)
    return int(generated[1].replace(",", ""))


def _values(demo: DemoService, file: Path) -> Path:
    """Write what the ledger contains, by chain: the types, addresses and mints."""
    with connect(str(demo.settings.database_url)) as connection:
        mints = connection.execute("SELECT blockchain, mint FROM tokens ORDER BY token_id").fetchall()
    values = {
        chain.name: {
            "types": list(chain.types),
            "addresses": [
                str(row["wallet_address"]) for row in demo.wallets if row["blockchain"] == chain.name
            ],
            "mints": [row["mint"] for row in mints if row["blockchain"] == chain.name],
        }
        for chain in CHAINS.values()
    }
    file.write_text(json.dumps(values))
    return file

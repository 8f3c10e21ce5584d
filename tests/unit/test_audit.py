"""`make audit` without the network: it fails with the reason."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONFIG = Path(__file__).parent.parent.parent / "config"


def test_an_audit_without_the_network_fails_with_the_reason(tmp_path: Path) -> None:
    shutil.copytree(CONFIG, tmp_path / "config")
    cut_off = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "HTTPS_PROXY": "http://127.0.0.1:9"}
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    done = subprocess.run(
        ["sh", str(tmp_path / "config" / "audit.sh"), sys.executable],
        env=own | cut_off,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    said, cause = done.stderr.splitlines()
    assert said == (
        "audit: pip-audit could not be installed. This needs the network; nothing is known of the versions."
    )
    assert cause.startswith("ERROR: No matching distribution")

"""docs/webhooks.md: its rules are read, and its receivers accept what is sent."""

import base64
import json
import os
import re
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.lib.processes import run_program
from tests.lib.receiver import SECRET
from wallet_api.notify.messages import headers_of
from wallet_api.notify.rules_file import RulesFile

DOCS = Path(__file__).parents[2] / "docs"
DOCUMENT = (DOCS / "webhooks.md").read_text()
RECEIVERS = [
    (language, (DOCS / "examples" / f"receive.{ending}").read_text())
    for language, ending in (("python", "py"), ("javascript", "js"))
]
USES = {
    "python": """
import json, sys
for headers, body in json.load(sys.stdin):
    try:
        print(receive(headers, body.encode()))
    except ValueError:
        print("refused")
""",
    "javascript": """
for (const [headers, body] of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  try { console.log(receive(headers, body) ? "True" : "False"); } catch { console.log("refused"); }
}
""",
}


@pytest.mark.parametrize(("language", "program"), RECEIVERS, ids=[name for name, _ in RECEIVERS])
def test_the_printed_receivers_accept_each_message_once_and_no_forged_one(
    language: str, program: str
) -> None:
    key, body = base64.b64decode(SECRET.removeprefix("whsec_")), '{"type":"trade","data":{"token_name":"ü"}}'
    ours = headers_of([b"x" * 32, key], "msg_1", datetime.now(UTC), body)
    forged = headers_of([b"y" * 32], "msg_2", datetime.now(UTC), body)
    old = headers_of([key], "msg_3", datetime.now(UTC) - timedelta(minutes=10), body)
    messages = json.dumps([(ours, body), (ours, body), (forged, body), (ours, body + " "), (old, body)])
    interpreter = sys.executable if language == "python" else shutil.which("node")
    if interpreter is None:
        pytest.skip("needs node")
    command = [interpreter, "-c" if language == "python" else "-e", program + USES[language]]
    environment = os.environ | {"SECRETS": SECRET}
    done = run_program(command, input=messages, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["True", "False", "refused", "refused", "refused"]


def test_the_printed_rules_are_rules(tmp_path: Path) -> None:
    [text] = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    file = tmp_path / "rules.toml"
    file.write_text(text)
    rules = RulesFile(file)
    assert sorted(rules.targets) == ["bot", "chat"]
    assert [rule.name for rule in rules.rules] == ["large-buys", "friends", "exits", "together"]

"""Clients of compiled languages, where their generators and compilers are installed: docs/development.md.

What they need of the document is in test_openapi.py, and tested everywhere.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, run_program

_GO = """\
package main

import (
	"context"
	"fmt"
	"os"

	client "example.test/client"
)

func main() {
	config := client.NewConfiguration()
	config.Servers = client.ServerConfigurations{{URL: os.Getenv("API")}}
	config.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("KEY"))
	groups := client.NewAPIClient(config).GroupsAPI
	for _, after := range []string{"", "start"} {
		request := groups.ListLatestTrades(context.Background())
		request = request.Blockchain(client.BLOCKCHAIN_SOLANA).Type_(client.WALLET_TYPE_KOL).Limit(9)
		if after != "" {
			request = request.After(after)
		}
		response, _, err := request.Execute()
		if err != nil {
			panic(err)
		}
		for _, row := range response.Data.Transactions {
			if row.Change != nil {
				fmt.Println(row.Change.ArrivedTrade.Event, row.Change.ArrivedTrade.TxSignature)
			} else {
				fmt.Println("row", row.Trade.TxSignature)
			}
		}
	}
}
"""
# The module that a union needs checks nothing here.
_VALIDATOR = "package validator\n\nfunc Validate(value interface{}) error { return nil }\n"
_TYPESCRIPT = """\
import type { components } from "./schema.js";

type Latest = components["schemas"]["LatestResponse"];

function line(row: Latest["data"]["transactions"][number]): string {
  if (!("event" in row)) return `row ${row.tx_signature}`;
  switch (row.event) {
    case "trade":
    case "correction":
      return `${row.event} ${row.tx_signature}${row.value > 0 ? "" : " for nothing"}`;
    case "removal":
      return row.mint;
    case "wallet_removal":
      return row.profile.name;
    case "purge":
      return row.before ?? row.mint ?? "";
    default: {
      const none: never = row;
      return none;
    }
  }
}

for (const after of ["", "start"]) {
  const query = new URLSearchParams({ blockchain: "solana", type: "kol", limit: "9", after });
  const headers = { Authorization: `Bearer ${process.env.KEY}` };
  const response = await fetch(`${process.env.API}/v1/transactions/latest?${query}`, { headers });
  const { data } = (await response.json()) as Latest;
  console.log(data.transactions.map(line).join("\\n"));
}
"""


def _needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def _run(folder: Path, *command: str, **environment: str) -> str:
    done = run_program(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return str(done.stdout)


def _document(server: Gunicorn, folder: Path) -> None:
    response = requests.get(f"{server.url}/v1/openapi.json", timeout=20)
    (folder / "openapi.json").write_bytes(response.content)


def _expected(server: Gunicorn, demo: DemoService) -> list[str]:
    def rows(**place: str) -> list[dict[str, Any]]:
        arguments: Mapping[str, str] = {"blockchain": "solana", "type": "kol", "limit": "9"} | place
        headers = {"Authorization": f"Bearer {demo.key}"}
        url = f"{server.url}/v1/transactions/latest"
        found = requests.get(url, arguments, headers=headers, timeout=20).json()["data"]
        return list(found["transactions"])

    newest = [f"row {row['tx_signature']}" for row in rows()]
    return newest + [f"{row['event']} {row['tx_signature']}" for row in rows(after="start")]


@_needs("openapi-generator-cli", "java", "go")
def test_a_client_in_go_compiles_and_reads_trades_and_changes(
    server: Gunicorn, demo: DemoService, tmp_path: Path
) -> None:
    _document(server, tmp_path)
    options = ("--git-host=example.test", "--git-user-id=x", "--git-repo-id=client")
    generate = ("openapi-generator-cli", "generate", "-i", "openapi.json", "-g", "go", "-o", "client")
    _run(tmp_path, *generate, *options)
    validator, program = tmp_path / "validator", tmp_path / "program"
    for folder, name, code in (
        (validator, "gopkg.in/validator.v2", _VALIDATOR),
        (program, "example.test/program", _GO),
    ):
        folder.mkdir()
        (folder / "go.mod").write_text(f"module {name}\n\ngo 1.18\n")
        (folder / "main.go").write_text(code)
    client = tmp_path / "client"
    (client / "go.mod").write_text("module example.test/client\n\ngo 1.18\n")
    replaced = "\nrequire {name} v2.0.0\n\nreplace {name} => ../{folder}\n"
    for folder in (client, program):
        with (folder / "go.mod").open("a") as module:
            module.write(replaced.format(name="gopkg.in/validator.v2", folder="validator"))
    with (program / "go.mod").open("a") as module:
        module.write(replaced.format(name="example.test/client", folder="client").replace("v2.0.0", "v0.0.0"))
    for test in (client / "test").glob("*.go"):
        test.unlink()
    _run(client, "go", "build", "./...")
    # Money in floats of 32 bits was the other fault.
    assert not [file.name for file in client.glob("model_*.go") if "float32" in file.read_text()]
    line = _run(program, "go", "run", ".", API=server.url, KEY=demo.key).splitlines()
    assert line == _expected(server, demo)


@_needs("openapi-typescript", "tsc", "node")
def test_types_of_typescript_tell_trades_and_changes_apart(
    server: Gunicorn, demo: DemoService, tmp_path: Path
) -> None:
    _document(server, tmp_path)
    _run(tmp_path, "openapi-typescript", "openapi.json", "-o", "schema.ts")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    # Of node, the program uses this alone.
    (tmp_path / "node.d.ts").write_text("declare const process: { env: Record<string, string> };\n")
    (tmp_path / "program.ts").write_text(_TYPESCRIPT)
    options = ("--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom,dom.iterable")
    _run(tmp_path, "tsc", *options, "program.ts", "node.d.ts")
    line = _run(tmp_path, "node", "program.js", API=server.url, KEY=demo.key).splitlines()
    assert line == _expected(server, demo)

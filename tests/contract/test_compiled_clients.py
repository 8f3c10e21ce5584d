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

# With the modules that a client needs, and which checks or reads nothing that is tested.
_PROGRAMS = Path(__file__).parents[1] / "data" / "clients"
_JARS = [
    Path(f"/usr/share/java/{name}.jar")
    for name in ("jackson-core", "jackson-databind", "jackson-annotations", "jakarta-annotation-api")
]


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


def _document(server: Gunicorn, folder: Path, query: str = "") -> None:
    response = requests.get(f"{server.url}/v1/openapi.json{query}", timeout=60)
    (folder / "openapi.json").write_bytes(response.content)


def _expected(server: Gunicorn, demo: DemoService) -> list[str]:
    def rows(**place: str) -> list[dict[str, Any]]:
        arguments: Mapping[str, str] = {"blockchain": "solana", "type": "kol", "limit": "9"} | place
        headers = {"Authorization": f"Bearer {demo.key}"}
        url = f"{server.url}/v1/transactions/latest"
        found = requests.get(url, arguments, headers=headers, timeout=60).json()["data"]
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
    for folder, name, file in (
        (validator, "gopkg.in/validator.v2", "validator.go"),
        (program, "example.test/program", "main.go"),
    ):
        folder.mkdir()
        (folder / "go.mod").write_text(f"module {name}\n\ngo 1.18\n")
        shutil.copy(_PROGRAMS / file, folder)
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
    printed = _run(program, "go", "run", ".", API=server.url, KEY=demo.key).splitlines()
    assert printed == _expected(server, demo)


@_needs("openapi-typescript", "tsc", "node")
def test_types_of_typescript_tell_trades_and_changes_apart(
    server: Gunicorn, demo: DemoService, tmp_path: Path
) -> None:
    _document(server, tmp_path, "?format=json")
    _run(tmp_path, "openapi-typescript", "openapi.json", "-o", "schema.ts")
    rows = [f'export type {name} = components["schemas"]["{name}"];' for name in ("Change", "Trade")]
    rows = ['import type { components } from "./schema.js";', *rows]
    (tmp_path / "rows.ts").write_text("\n".join(rows))
    _compiled_types_read_the_same(server, demo, tmp_path, "types.ts")


@_needs("openapi-ts", "tsc", "node")
def test_functions_of_typescript_tell_trades_and_changes_apart(
    server: Gunicorn, demo: DemoService, tmp_path: Path
) -> None:
    _document(server, tmp_path, "?format=json")
    # By it, the generator decides how modules are named.
    shutil.copy(_PROGRAMS / "tsconfig.json", tmp_path)
    _run(tmp_path, "openapi-ts", "-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch")
    (tmp_path / "rows.ts").write_text('export type { Change, Trade } from "./client/index.js";')
    _compiled_types_read_the_same(server, demo, tmp_path, "functions.ts")


def _compiled_types_read_the_same(server: Gunicorn, demo: DemoService, folder: Path, program: str) -> None:
    for file in ("tsconfig.json", "told.ts"):
        shutil.copy(_PROGRAMS / file, folder)
    shutil.copy(_PROGRAMS / program, folder / "program.ts")
    (folder / "package.json").write_text('{"type": "module"}')
    _run(folder, "tsc")
    printed = _run(folder, "node", "program.js", API=server.url, KEY=demo.key).splitlines()
    assert printed == _expected(server, demo)


@_needs("openapi-generator-cli", "javac")
@pytest.mark.skipif(
    not all(jar.exists() for jar in _JARS), reason="the libraries of Jackson are not installed"
)
def test_a_client_in_java_compiles_and_reads_trades_and_changes(
    server: Gunicorn, demo: DemoService, tmp_path: Path
) -> None:
    _document(server, tmp_path)
    generate = ("openapi-generator-cli", "generate", "-i", "openapi.json", "-g", "java", "-o", "client")
    options = ("--library=native", "--additional-properties=openApiNullable=false,useJakartaEe=true")
    _run(tmp_path, *generate, *options)
    sources = tmp_path / "client" / "src" / "main" / "java"
    own = sources / "org" / "openapitools" / "client"
    # Debian does not have the module for times that these need.
    (own / "RFC3339InstantDeserializer.java").unlink()
    shutil.copy(_PROGRAMS / "RFC3339JavaTimeModule.java", own)
    for file in ("JavaTimeModule.java", "Program.java"):
        shutil.copy(_PROGRAMS / file, sources)
    jars = ":".join(map(str, _JARS))
    _run(tmp_path, "javac", "-nowarn", "-d", "out", "-cp", jars, *map(str, sources.rglob("*.java")))
    printed = _run(tmp_path, "java", "-cp", f"out:{jars}", "Program", API=server.url, KEY=demo.key)
    assert printed.splitlines() == _expected(server, demo)

"""A client that is generated from the OpenAPI document works."""

import inspect
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
import requests

from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, run_program
from wallet_api.responses.examples import MINT

NAME = "generated_wallet_client"


class _Running(NamedTuple):
    url: str
    demo: DemoService
    document: Path

    @property
    def arguments(self) -> dict[str, str]:
        """The values of required arguments."""
        address = self.demo.wallet("solana", "kol")
        group = {"blockchain": "solana", "type": "kol", "period": "7d"}
        return group | {"address": address, "mint": MINT}


@pytest.fixture
def running(server: Gunicorn, demo: DemoService, tmp_path: Path) -> _Running:
    """A service with data, and its OpenAPI document in a file."""
    document = tmp_path / "openapi.json"
    document.write_bytes(requests.get(f"{server.url}/v1/openapi.json", timeout=20).content)
    return _Running(server.url, demo, document)


def _run(*command: str, folder: Path) -> str:
    done = run_program(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def python_client(running: _Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new Python client, which can be imported."""
    # Its code need not be formatted.
    (tmp_path / "generator.yml").write_text("post_hooks: []\n")
    generate = ("-m", "openapi_python_client", "generate", "--meta=none", "--config=generator.yml")
    _run(
        *(sys.executable, *generate, f"--path={running.document}", f"--output-path={NAME}"),
        "--fail-on-warning",
        folder=tmp_path,
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / NAME
    for module in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[module]


def _operations(document: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield the path, the description and the generated module of each operation."""
    for path, item in json.loads(document.read_text())["paths"].items():
        operation = item["get"]
        name = f"{NAME}.api.{operation['tags'][0].lower()}.{operation['operationId']}"
        yield path, operation, import_module(name)


def _given(module: Any, arguments: dict[str, str], names: set[str]) -> dict[str, Any]:
    """Return arguments as the generated function takes them: words of a fixed set are enumerations."""
    parameters = inspect.signature(module.sync_detailed).parameters
    given: dict[str, Any] = {}
    for name in names:
        # `type` is a function of Python, so the generator calls it `type_`.
        own_name = name if name in parameters else f"{name}_"
        kind = parameters[own_name].annotation
        # That of an optional one is a union.
        enums = [one for one in get_args(kind) or (kind,) if isinstance(one, type) and issubclass(one, Enum)]
        given[own_name] = enums[0](arguments[name]) if enums else arguments[name]
    return given


def test_a_generated_client_calls_every_operation_with_types_names_and_errors(
    running: _Running, python_client: Path
) -> None:
    own = import_module(NAME)
    with own.AuthenticatedClient(base_url=running.url, token=running.demo.key) as client:
        called = 0
        for path, operation, module in _operations(running.document):
            examples = {p["name"]: p["example"] for p in operation["parameters"] if "example" in p}
            arguments = examples | running.arguments
            answer = module.sync_detailed(client=client, **_given(module, arguments, set(examples)))
            assert answer.status_code == 200, path
            assert answer.parsed is not None, path
            if hasattr(answer.parsed, "success"):
                assert answer.parsed.success is True
                sent = json.loads(answer.content)
                assert answer.parsed.data.to_dict().keys() == sent["data"].keys(), path
                assert datetime.now(UTC) >= answer.parsed.meta.timestamp
                # Nothing was received that the client has no name for.
                assert answer.parsed.data.additional_properties == {}, path
            called += 1
        assert called > 20
    _has_types_names_and_errors(running, own)


def _has_types_names_and_errors(running: _Running, own: Any) -> None:
    wallets, models = import_module(f"{NAME}.api.wallets.get_history"), import_module(f"{NAME}.models")
    values = [getattr(models, name) for name in models.__all__]
    periods = [value for value in values if isinstance(value, type) and issubclass(value, Enum)]
    assert periods
    assert not [member for kind in periods for member in kind if member.name.startswith("VALUE_")]
    assert models.LeaderboardPeriod.PERIOD_6H == "6h"
    # What operations share is one class for all of them.
    assert len(periods) < 20
    arguments = {name: running.arguments[name] for name in ("blockchain", "type", "address")}
    with own.AuthenticatedClient(base_url=running.url, token=running.demo.key) as client:
        given = _given(wallets, arguments, set(arguments))
        history = wallets.sync(client=client, **given, limit=5)
        newest = history.data.trades[0].created_at
        assert isinstance(newest, datetime)
        since = history.data.trades[-1].created_at
        again = wallets.sync(client=client, **given, limit=5, since=since)
        assert [trade.tx_signature for trade in again.data.trades] == [
            trade.tx_signature for trade in history.data.trades
        ]
        missing = wallets.sync_detailed(client=client, **given | {"address": "1" * 32})
        assert (missing.status_code, missing.parsed.error.code) == (404, "not_found")
    with own.AuthenticatedClient(base_url=running.url, token="wk_wrong") as nobody:
        refused = wallets.sync_detailed(client=nobody, **given)
        assert (refused.status_code, refused.parsed.error.reason) == (403, "invalid_api_key")

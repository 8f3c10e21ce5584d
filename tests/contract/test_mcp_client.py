"""The official client of MCP with the running service: every tool, and six questions about the demo."""

import json
import os
import shutil
from collections.abc import Awaitable, Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, run_program

if TYPE_CHECKING:
    # It takes more than a second to load, which each worker would do to collect this file.
    from mcp import Client

GROUP = {"blockchain": "solana", "type": "kol"}
Work = Callable[["Client"], Awaitable[Any]]


def _with_client(server: Gunicorn, key: str, work: Work, mode: str = "auto") -> Any:
    """Run `work` with a connected client; `legacy` begins with `initialize`."""

    mcp, streamable_http = import_module("mcp"), import_module("mcp.client.streamable_http")

    async def connected() -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        async with import_module("httpx2").AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
            transport = streamable_http.streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with mcp.Client(transport, mode=mode) as client:
                return await work(client)

    return import_module("anyio").run(connected)


def _data(result: Any) -> Any:
    assert not result.is_error, result.content[0].text
    body = json.loads(result.content[0].text, parse_float=Decimal)
    return body.get("data", body)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_lists_and_calls_every_tool(
    server: Gunicorn, demo: DemoService, mode: str
) -> None:
    values = demo.arguments | {"q": "a"}
    modes = {"list_signals": "cluster", "get_analytics": "net_flow"}
    document = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()

    async def work(client: "Client") -> None:
        tools = (await client.list_tools()).tools
        names = {item["get"]["operationId"] for item in document["paths"].values()}
        assert {tool.name for tool in tools} == names
        for tool in tools:
            # A period is required where no window is given.
            wanted = {*tool.input_schema["required"], "blockchain", "type", "period"} & {
                *tool.input_schema["properties"]
            }
            result = await client.call_tool(
                tool.name, {name: values.get(name) or modes[tool.name] for name in wanted}
            )
            assert _data(result), tool.name
            assert sum(len(block.text) for block in result.content) <= 25_000
        wrong = await client.call_tool("list_wallets", GROUP | {"type": "cow"})
        assert wrong.is_error
        assert json.loads(wrong.content[0].text)["error"]["allowed"] == ["kol", "smart", "whale", "all"]
        with pytest.raises(import_module("mcp").MCPError, match="There is no tool"):
            await client.call_tool("no_tool", {})

    _with_client(server, demo.key, work, mode)


def test_a_body_without_a_length_has_at_most_64_kb_too(server: Gunicorn, demo: DemoService) -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for size, status in ((65_536, 200), (65_537, 413)):
        chunks = iter([ping, b" " * (size - len(ping))])
        response = requests.post(f"{server.url}/mcp", data=chunks, headers=demo.headers, timeout=60)
        assert response.status_code == status, size
    # What was left of a body is not taken for a request.
    with requests.Session() as session:
        for size, status in ((65_537, 413), (65_536, 200), (65_537, 413), (100, 200)):
            body = ping.ljust(size)
            response = session.post(f"{server.url}/mcp", data=body, headers=demo.headers, timeout=60)
            assert response.status_code == status, size


def _has_sdk() -> bool:
    folders = os.environ.get("NODE_PATH", "").split(os.pathsep)
    return shutil.which("node") is not None and any(
        Path(folder, "@modelcontextprotocol/sdk/package.json").is_file() for folder in folders
    )


@pytest.mark.skipif(not _has_sdk(), reason="needs node, and @modelcontextprotocol/sdk (npm) in NODE_PATH")
def test_the_official_client_in_typescript_pings_lists_and_calls_every_tool(
    server: Gunicorn, demo: DemoService
) -> None:
    values: dict[str, Any] = demo.arguments | {"q": "a"}
    values |= {"list_signals": {"mode": "cluster"}, "get_analytics": {"mode": "net_flow"}}
    done = run_program(
        ["node", str(Path(__file__).parents[1] / "data" / "clients" / "mcp.mjs")],
        env=os.environ | {"URL_OF_MCP": f"{server.url}/mcp", "KEY": demo.key, "VALUES": json.dumps(values)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()
    assert done.stdout == f"wallet-api {len(document['paths'])}\n"

"""A client that is generated from the OpenAPI document works.

That each operation responds as described is in test_error_table.py and test_schemathesis.py.
"""

import sys
from collections.abc import Iterator
from datetime import datetime
from enum import Enum
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest
import requests

from tests.lib.demo_service import DemoService
from tests.lib.processes import Gunicorn, run_program
from wallet_api.api.openapi.words import WORDS

NAME = "generated_wallet_client"


@pytest.fixture(scope="module")
def python_client(server: Gunicorn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A new Python client."""
    tmp_path = tmp_path_factory.mktemp("client")
    document = requests.get(f"{server.url}/v1/openapi.json?format=json", timeout=60).content
    (tmp_path / "openapi.json").write_bytes(document)
    # Its code need not be formatted.
    (tmp_path / "generator.yml").write_text("post_hooks: []\n")
    generate = ("-m", "openapi_python_client", "generate", "--path=openapi.json", f"--output-path={NAME}")
    options = ("--meta=none", "--config=generator.yml", "--fail-on-warning")
    done = run_program(
        [sys.executable, *generate, *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        yield import_module(NAME)
    for module in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[module]


def test_a_generated_client_has_types_names_and_errors(
    server: Gunicorn, demo: DemoService, python_client: Any
) -> None:
    operation, models = import_module(f"{NAME}.api.wallets.get_history"), import_module(f"{NAME}.models")
    values = [getattr(models, name) for name in models.__all__]
    enumerations = [value for value in values if isinstance(value, type) and issubclass(value, Enum)]
    assert enumerations
    assert not [member for kind in enumerations for member in kind if member.name.startswith("VALUE_")]
    assert models.Period.PERIOD_6H == "6h"
    # What operations share is one class for all of them.
    assert {kind.__name__ for kind in enumerations} == set(WORDS)
    # No response is a text. A 304 has no body, and so any type.
    types = {models.HistoryResponse, models.Error, Any, type(None)}
    assert set(get_args(get_type_hints(operation.sync)["return"])) == types
    # `type` is a function of Python, so the generator calls it `type_`.
    given = {"blockchain": models.Blockchain.BLOCKCHAIN_SOLANA, "type_": models.WalletType.WALLET_TYPE_KOL}
    given["address"] = demo.wallet("solana", "kol")
    with python_client.AuthenticatedClient(base_url=server.url, token=demo.key) as client:
        history = operation.sync(client=client, **given, limit=5)
        # Nothing was received that the client has no name for.
        assert history.data.additional_properties == {}
        assert isinstance(history.data.trades[0].created_at, datetime)
        since = history.data.trades[-1].created_at
        again = operation.sync(client=client, **given, limit=5, since=since)
        assert [trade.tx_signature for trade in again.data.trades] == [
            trade.tx_signature for trade in history.data.trades
        ]
        missing = operation.sync_detailed(client=client, **given | {"address": "1" * 32})
        assert (missing.status_code, missing.parsed.error.code) == (404, "not_found")
    with python_client.AuthenticatedClient(base_url=server.url, token="wk_wrong") as nobody:
        refused = operation.sync_detailed(client=nobody, **given)
        assert (refused.status_code, refused.parsed.error.reason) == (403, "invalid_api_key")


def test_a_generated_client_tells_trades_from_changes_and_knows_words_with_a_default(
    server: Gunicorn, demo: DemoService, python_client: Any
) -> None:
    models = import_module(f"{NAME}.models")
    latest = import_module(f"{NAME}.api.groups.list_latest_trades")
    stats = import_module(f"{NAME}.api.tokens.get_token_stats")
    group = {"blockchain": models.Blockchain.BLOCKCHAIN_SOLANA, "type_": models.WalletType.WALLET_TYPE_KOL}
    with python_client.AuthenticatedClient(base_url=server.url, token=demo.key) as client:
        newest = latest.sync(client=client, **group, limit=3).data.transactions
        assert {type(row) for row in newest} == {models.Trade}
        changes = latest.sync(client=client, **group, limit=3, after="start").data.transactions
        assert {type(row) for row in changes} == {models.ArrivedTrade}
        assert {row.event for row in changes} == {models.TradeEvent.TRADE_EVENT_TRADE}
        token = {"blockchain": group["blockchain"], "mint": newest[0].mint}
        traders = stats.sync(
            client=client, **token, sort=models.TraderSort.TRADER_SORT_FIRST_BUY
        ).data.traders
        firsts = [row.trader_stats.first_buy_at for row in traders if row.trader_stats.first_buy_at]
        assert firsts == sorted(firsts)

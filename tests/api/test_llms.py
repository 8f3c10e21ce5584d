"""GET /llms.txt: what a language model needs, from the OpenAPI document."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from tests.documents.described import Described
from tests.ledger.caller import Caller
from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, GROUP, trade_row
from tests.lib.serving import Shared
from wallet_api.api.schemas import analytics


@pytest.fixture(scope="module")
def asker(shared: Shared) -> FlaskClient:
    """A client of a service that tracks nobody."""
    return shared.app.test_client()


def test_a_model_gets_every_operation_with_its_arguments_and_their_words(asker: FlaskClient) -> None:
    document = asker.get("/v1/openapi.json").json
    described = Described(document)
    response = asker.get("/llms.txt")
    assert (response.status_code, response.content_type) == (200, "text/plain; charset=utf-8")
    lines = dict(re.findall(r"^- \[(\w+)\]\((.*)$", response.text, re.MULTILINE))
    assert len(lines) == len(document["paths"]) > 20
    for path, item in document["paths"].items():
        line = lines[item["get"]["operationId"]]
        assert line.startswith(f"{path}): ")
        shown = set(re.findall(r"`(\w+)`\*", line.rpartition(" (")[2]))
        assert shown == set(described.required(path)), path
        # That of all operations is described once.
        names = described.parameters(path) - {"amounts"}
        assert [name for name in names if f"`{name}`" not in line] == [], path
    assert "`blockchain`* solana|bnb|base|eth" in lines["list_wallets"]
    assert "`limit`=50" in lines["list_latest_trades"]
    assert "`period`=1d" in lines["get_tracker"]
    for words in (
        "`after=now`",
        "`after=start`",
        "`limit` 1000",
        "signals 168 hours",
        "timerange 3600 seconds",
    ):
        assert words in response.text
    # It has to fit beside other things into what a model can read.
    assert len(response.data) < 30_000


def test_a_model_gets_the_names_of_all_fields(asker: FlaskClient) -> None:
    schemas = asker.get("/v1/openapi.json").json["components"]["schemas"]
    text = asker.get("/llms.txt").text
    objects = dict(re.findall(r"^- (\w+): (.*)$", text.partition("## Objects")[2], re.MULTILINE))
    lines = dict(re.findall(r"^- \[(\w+)\].*\n  -> (.*)$", text, re.MULTILINE))
    assert (
        lines["list_wallets"]
        == "blockchain, type, currency, pagination: Pagination, wallets[]: ListedProfile"
    )
    assert "transactions[]: Change or Trade" in lines["list_latest_trades"]
    assert objects["Change"] == "ArrivedTrade or Removal or WalletRemoval or Purge"
    named = {*re.findall(r": ([A-Z]\w+)", "\n".join([*lines.values(), *objects.values()]))}
    assert named <= objects.keys()
    for name, shown in objects.items():
        fields = [field.partition(":")[0].rstrip("?[]") for field in shown.split(", ")]
        assert name == "Change" or fields == [*schemas[name]["properties"]], name


def test_the_defaults_that_it_names_are_those_of_the_service(caller: Caller, importer: Importer) -> None:
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=30)
    importer.trades(
        trade_row(address, f"{address}-{number}", at, value=f"{number + 1}", mint=mint_of(f"mint {number}"))
        for number in range(9)
        for address in (ANN, BEN)
    )
    known = {"address": ANN, "mint": mint_of("mint 1"), "period": "7d", "q": "mint"} | GROUP
    modes = {"get_analytics": analytics.MODES, "list_signals": ("cluster", "entry", "exit")}
    lines = re.findall(
        r"^- \[(\w+)\]\(/v1(.*?)\): .* \((.*)\)$", caller.client.get("/llms.txt").text, re.MULTILINE
    )
    shown = 0
    for operation, path, arguments in lines:
        required = {name: known[name] for name in re.findall(r"`(\w+)`\*", arguments) if name != "mode"}
        defaults = re.findall(r"`(\w+)`\*?=(\w+)", arguments)
        for mode in modes.get(operation, (None,)):
            for name, default in defaults:
                others = re.findall(rf"`{name}`=\w+ \[(\w+) (?:with|for) (\w+)\]", arguments)
                if name in ("sort", "order") and mode not in (None, "net_flow"):
                    continue
                # A window stands in the place of a period there.
                if (name, mode == "signal_outcomes") in (("signal", False), ("period", True)):
                    continue
                value = next((other for other, of in others if of == mode), default)
                if value == "all":
                    continue
                question = required | ({} if mode is None else {"mode": mode})
                if mode == "signal_outcomes":
                    question |= {"since": (at - timedelta(days=1)).isoformat(), "until": at.isoformat()}
                plain, given = (caller.get(path, **question, **more) for more in ({}, {name: value}))
                for data in (plain, given):
                    # Echoed if it is given, and of another second.
                    for part in (name, "as_of"):
                        data.pop(part, None)
                assert plain == given, (path, mode, name, value)
                shown += 1
    assert shown > 30
    assert "`order`=desc [asc for first_buy]" in {one[0]: one[2] for one in lines}["list_holders"]


def test_a_limit_above_the_maximum_is_capped_but_where_it_says_that_there_is_none(
    caller: Caller, importer: Importer
) -> None:
    importer.trades([trade_row(ANN, "a", datetime.now(UTC) - timedelta(minutes=5))])
    text = caller.client.get("/llms.txt").text
    (uncapped,) = re.findall(r"`limit` 1000 \(of (.*?) none, with `chart=true` 100\)", text)
    known = {"address": ANN, "mint": mint_of("mint"), "period": "7d", "mode": "cluster", "q": "mint"} | GROUP
    found = set()
    for operation, path, arguments in re.findall(
        r"^- \[(\w+)\]\(/v1(.*?)\): .* \((.*)\)$", text, re.MULTILINE
    ):
        if operation == "get_holdings":
            # Without a provider here: see tests/holdings.
            found.add(operation)
        elif "`limit`" in arguments:
            question = {name: known[name] for name in re.findall(r"`(\w+)`\*", arguments)}
            if operation == "get_analytics":
                question["mode"] = "net_flow"
            data = caller.get(path, **question, limit=1001)
            if not data.get("warnings"):
                found.add(operation)
    assert found == {*re.findall(r"\w+_\w+", uncapped)}
    assert caller.refused("/wallet/leaderboard", **GROUP, period="7d", chart="true", limit=101)


def test_it_begins_as_llms_txt_does_and_is_not_sent_again(asker: FlaskClient) -> None:
    first = asker.get("/llms.txt")
    title, _, summary, *_ = first.text.splitlines()
    assert (title, summary[:2]) == ("# Wallet Intelligence API", "> ")
    # Its links lead somewhere.
    for path in re.findall(r"\]\((/v1/(?:meta|openapi\.json))\)", first.text):
        assert asker.get(path).status_code == 200
    again = asker.get("/llms.txt", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")

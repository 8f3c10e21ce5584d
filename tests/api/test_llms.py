"""GET /llms.txt: what a language model needs, from the OpenAPI document."""

import re

from flask.testing import FlaskClient

from tests.documents.described import Described


def test_a_model_gets_every_operation_with_its_arguments_and_their_words(client: FlaskClient) -> None:
    document = client.get("/v1/openapi.json").json
    described = Described(document)
    response = client.get("/llms.txt")
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
    # It has to fit beside other things into what a model can read.
    assert len(response.data) < 24_000


def test_a_model_gets_the_names_of_all_fields(client: FlaskClient) -> None:
    schemas = client.get("/v1/openapi.json").json["components"]["schemas"]
    text = client.get("/llms.txt").text
    objects = dict(re.findall(r"^- (\w+): (.*)$", text.partition("## Objects")[2], re.MULTILINE))
    lines = dict(re.findall(r"^- \[(\w+)\].*\n  -> (.*)$", text, re.MULTILINE))
    assert lines["list_wallets"] == "blockchain, type, currency, pagination: Pagination, wallets[]: Profile"
    assert "transactions[]: Change or Trade" in lines["list_latest_trades"]
    assert objects["Change"] == "ArrivedTrade or Removal or WalletRemoval or Purge"
    named = {*re.findall(r": ([A-Z]\w+)", "\n".join([*lines.values(), *objects.values()]))}
    assert named <= objects.keys()
    for name, shown in objects.items():
        fields = [field.partition(":")[0].rstrip("?[]") for field in shown.split(", ")]
        assert name == "Change" or fields == [*schemas[name]["properties"]], name


def test_what_after_does_and_the_maxima_are_said(client: FlaskClient) -> None:
    text = client.get("/llms.txt").text
    for sentence in (
        "`after=now`",
        "`after=start`",
        "`limit` 1000",
        "signals 168 hours",
        "timerange 3600 seconds",
    ):
        assert sentence in text


def test_it_begins_as_llms_txt_does_and_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/llms.txt")
    title, _, summary, *_ = first.text.splitlines()
    assert (title, summary[:2]) == ("# Wallet Intelligence API", "> ")
    # Its links lead somewhere.
    for path in re.findall(r"\]\((/v1/(?:meta|openapi\.json))\)", first.text):
        assert client.get(path).status_code == 200
    again = client.get("/llms.txt", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")

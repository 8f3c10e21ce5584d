"""What a search for wallets keeps of a node's results, so that it goes on with them."""

from contextlib import closing
from hashlib import sha256

import msgspec
import pytest

from tests.sync.operator import Operator
from wallet_api.chain.discovery.results import Results
from wallet_api.chain.providers.jsonrpc import Error, NodeResult
from wallet_api.database import Connection, connect


def key(name: str) -> bytes:
    """The hash of a call."""
    return sha256(name.encode()).digest()


def result(body: bytes) -> NodeResult:
    """What a node returned."""
    return NodeResult(result=msgspec.Raw(body))


@pytest.fixture
def session(operator: Operator) -> Connection:
    """A session of the empty database."""
    return connect(operator.url)


def test_results_are_there_at_once_and_go_if_they_were_wrong(operator: Operator, session: Connection) -> None:
    with closing(session):
        results = Results(session, "one.ndjson")
        results.add({key("right"): result(b'{"number":"0x1"}')})
        results.confirm()
        results.add({key("wrong"): result(b"1")})
        results.discard()
        # What may be there later, and a fault that may pass, are no results.
        results.add({key("later"): result(b"null"), key("limit"): NodeResult(error=Error(429, "Too many"))})
        results.add({key("refused"): NodeResult(error=Error(-32601, "no such method"))})
        with closing(connect(operator.url)) as other:
            assert Results(other, "two.ndjson").find([key("right")]) == {}
    with closing(connect(operator.url)) as connection:
        again = Results(connection, "one.ndjson")
        found = again.find([key(name) for name in ("right", "refused", "wrong", "later", "limit")])
        assert found.keys() == {key("right"), key("refused")}
        assert found[key("right")].read(dict[str, str]) == {"number": "0x1"}
        assert found[key("refused")].error == Error(-32601, "no such method")
        assert len(again) == 2
        assert again.since is not None


def test_what_a_search_that_ended_left_unread_is_requested_again_if_it_was_wrong(
    operator: Operator, session: Connection
) -> None:
    with closing(session):
        # The last request was spent before they were read.
        Results(session, "one.ndjson").add({key("right"): result(b'"0x1"'), key("wrong"): result(b'"0x2"')})
    with closing(connect(operator.url)) as connection:
        results = Results(connection, "one.ndjson")
        assert results.find([key("right")])
        results.confirm()
        assert results.find([key("wrong")])
        results.discard()
        assert results.find([key("right"), key("wrong")]).keys() == {key("right")}


def test_what_nobody_went_on_with_for_a_month_is_removed(operator: Operator, session: Connection) -> None:
    with closing(session):
        Results(session, "one.ndjson").add({key("call"): result(b"1")})
        session.execute("UPDATE discovery_results SET kept_at = now() - interval '31 days'")
        Results(session, "two.ndjson")
        assert session.fetch_value("SELECT count(*) FROM discovery_results") == 0

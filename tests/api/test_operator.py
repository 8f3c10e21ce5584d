"""Who runs a service: at / and /docs, and in the OpenAPI document, as the settings say."""

from tests.api.conftest import ClientOf

HTML = {"Accept": "text/html"}


def test_the_operator_is_on_the_page_and_in_the_document_that_docs_shows(client_of: ClientOf) -> None:
    client = client_of(
        operator_name="Wallets & Sons <GmbH>",
        operator_contact="help@example.com",
        operator_terms_url="https://example.com/terms?a=1&b=2",
    )
    page = client.get("/", headers=HTML).text
    assert (
        '<footer class="words">Operated by Wallets &amp; Sons &lt;GmbH&gt; · '
        '<a href="mailto:help@example.com" rel="noopener">Contact</a> · '
        '<a href="https://example.com/terms?a=1&amp;b=2" rel="noopener">Terms</a></footer>' in page
    )
    info = client.get("/v1/openapi.json").get_json()["info"]
    assert info["contact"] == {"name": "Wallets & Sons <GmbH>", "email": "help@example.com"}
    assert info["termsOfService"] == "https://example.com/terms?a=1&b=2"
    by_url = client_of(operator_contact="https://example.com/@help")
    assert by_url.get("/v1/openapi.json").get_json()["info"]["contact"] == {
        "url": "https://example.com/@help"
    }
    assert 'href="https://example.com/@help"' in by_url.get("/", headers=HTML).text


def test_without_an_operator_nothing_is_said(client_of: ClientOf) -> None:
    client = client_of()
    assert "<footer" not in client.get("/", headers=HTML).text
    assert not {"contact", "termsOfService"} & client.get("/v1/openapi.json").get_json()["info"].keys()

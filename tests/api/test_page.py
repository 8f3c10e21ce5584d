"""The page at / in a real browser: its views, its key, and what it shows where something is missing."""

import hashlib
import json
import re
from pathlib import Path

import pytest
import requests
from flask.testing import FlaskClient

from tests.api.conftest import ClientOf
from tests.lib.browser import Page
from tests.lib.chromium import Chromium, needs_chromium
from tests.lib.demo_service import DemoService
from tests.lib.looks import DRAWN_WIDTH, TOO_PALE, needs_axe, violations
from tests.lib.page import (
    LOADED,
    MINT,
    MODULES,
    POLL,
    VIEW,
    enter,
    import_wallets,
    in_each_browser,
    open_again,
    open_view,
    search,
)
from tests.lib.processes import Gunicorn, StartGunicorn
from tests.lib.waiting import eventually
from wallet_api.api.keys import create_key
from wallet_api.api.schemas import wallet_tokens
from wallet_api.api.schemas.signals import MODES
from wallet_api.api.schemas.tokens import TRADER_SORTS
from wallet_api.base.orders import BOARD_SORTS
from wallet_api.base.periods import BOARD_PERIODS
from wallet_api.database import Connection

_BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
_PAGES = Path(__file__).parents[2] / "wallet_api" / "api" / "pages"
_NAME = "<img src=x onerror=document.title='run'><script>document.title='run'</script>"

# Before the page polls.
_REQUESTED = """
performance.getEntriesByType("resource")
  .filter((entry) => entry.name.includes("/v1/") && entry.startTime < 14000)
  .map((entry) => entry.name)
"""
# Blocks that have to be scrolled sideways.
_CUT = """
[...document.querySelectorAll(".body")].filter((body) => body.scrollWidth > body.clientWidth)
  .map((body) => `${body.parentElement.ariaLabel}: ${body.scrollWidth - body.clientWidth}`)
"""
_SHIFTED = """
new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, shift) => sum + shift.value, 0)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(0), 300);
})
"""


def _views(demo: DemoService) -> dict[str, str]:
    """Return the address of each view, and a heading that it has."""
    address = demo.wallet("solana", "kol")
    trade = next(row for row in demo.world.trade_rows() if row.blockchain == "solana")
    kind = next(row["type"] for row in demo.wallets if row["wallet_address"] == trade.wallet_address)
    return {
        "Ranks": "#/board/solana/kol",
        "Profit over time": f"#/wallet/solana/kol/{address}",
        "Who was first": f"#/token/solana/{trade.mint}",
        "Step by step": f"#/position/solana/{kind}/{trade.wallet_address}/{trade.mint}",
    }


def test_browsers_get_the_page_and_programs_get_json(client: FlaskClient) -> None:
    page = client.get("/", headers=_BROWSER)
    assert page.content_type == "text/html; charset=utf-8"
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
        answer = client.get("/", headers=headers)
        assert answer.json["data"]["documentation"] == "/docs"
        assert answer.headers["Vary"] == page.headers["Vary"] == "Accept"


def test_the_operator_and_the_hosts_of_pictures_are_those_of_the_settings(
    client: FlaskClient, client_of: ClientOf
) -> None:
    own = client_of(
        operator_name="Wallets & Sons <GmbH>",
        operator_contact="help@example.com",
        operator_terms_url="https://example.com/terms?a=1&b=2",
        page_image_hosts="pbs.twimg.com,img.example.com",
    )
    footer = [
        '<footer class="words">Operated by Wallets &amp; Sons &lt;GmbH&gt; · '
        '<a href="mailto:help@example.com" rel="noopener">Contact</a> · '
        '<a href="https://example.com/terms?a=1&amp;b=2" rel="noopener">Terms</a></footer>'
    ]
    contact = {"name": "Wallets & Sons <GmbH>", "email": "help@example.com"}
    of_document = {"contact": contact, "termsOfService": "https://example.com/terms?a=1&b=2"}
    hosts = " https://pbs.twimg.com https://img.example.com"
    for service, shown, said, allowed in ((own, footer, of_document, hosts), (client, [], {}, "")):
        page = service.get("/", headers=_BROWSER)
        assert re.findall("<footer.*?</footer>", page.text) == shown
        assert f"img-src 'self' data:{allowed};" in page.headers["Content-Security-Policy"]
        info = service.get("/v1/openapi.json").json["info"]
        assert {name: info[name] for name in ("contact", "termsOfService") if name in info} == said
    by_url = client_of(operator_contact="https://example.com/@help")
    assert by_url.get("/v1/openapi.json").json["info"]["contact"] == {"url": "https://example.com/@help"}
    assert 'href="https://example.com/@help"' in by_url.get("/", headers=_BROWSER).text
    without = client_of(page=False)
    assert without.get("/", headers=_BROWSER).json["success"] is True
    assert without.get("/page/page.js").status_code == 404


@pytest.mark.parametrize(
    ("path", "folder", "names"),
    [
        ("/", "page", {"icon.svg", "uPlot.min.css", "page.css", "uPlot.iife.min.js", "page.js"}),
        ("/docs", "docs", {"icon.svg", "swagger-ui.css", "docs.css", "swagger-ui-bundle.js", "docs.js"}),
    ],
)
def test_a_page_needs_nothing_from_another_server(
    client: FlaskClient, path: str, folder: str, names: set[str]
) -> None:
    page = client.get(path, headers=_BROWSER)
    # Explorers are linked for who asks for it.
    assert "http" not in re.sub(r'data-explorers="[^"]*"', "", page.text)
    # Only a service of the demo shows a key.
    assert "data-key" not in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    # Relative, so that a prefix of a proxy works.
    assert set(re.findall(rf'(?:href|src)="{folder}/([^"]+)"', page.text)) == names
    for name in names:
        answer = client.get(f"/{folder}/{name}")
        assert answer.status_code == 200
        kept = client.get(f"/{folder}/{name}", headers={"If-None-Match": answer.headers["ETag"]})
        assert (kept.status_code, kept.data) == (304, b"")
        assert client.get(f"/{folder}/{name}", headers={"If-Match": '"another"'}).status_code == 200
    for name in ("..%2fsetup.py", "%2e%2e/settings.py", "page.html", "docs.html", "uPlot.LICENSE", "nothing"):
        missing = client.get(f"/{folder}/{name}")
        assert (missing.status_code, missing.json["error"]["code"]) == (404, "not_found")
    others = "docs.js" if folder == "page" else "page.js"
    assert client.get(f"/{folder}/{others}").status_code == 404


def test_the_library_of_the_plots_is_the_released_one_with_its_licence() -> None:
    notes = (_PAGES / "uPlot.LICENSE").read_text()
    sums = re.findall(r"^([0-9a-f]{64})  (\S+)$", notes, re.MULTILINE)
    assert {name for _, name in sums} == {file.name for file in _PAGES.glob("uPlot*.*s*")}
    for digest, name in sums:
        assert hashlib.sha256((_PAGES / name).read_bytes()).hexdigest() == digest
    assert "MIT" in notes


def test_the_page_stays_small() -> None:
    kinds = (".js", ".css", ".html")
    files = [
        file
        for file in _PAGES.iterdir()
        if file.suffix in kinds and file.stem.split(".")[0] not in ("docs", "uPlot")
    ]
    assert len(files) > 15
    assert sum(len(file.read_text().splitlines()) for file in files) <= 1300


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("heading", ["Ranks", "Profit over time", "Who was first", "Step by step"])
def test_each_view_is_readable_in_both_colors_within_its_width_and_policy(
    server: Gunicorn, demo: DemoService, page: Chromium, heading: str, width: int
) -> None:
    page.resize(width)
    open_view(page, server.url, demo.key, _views(demo)[heading])
    if heading == "Profit over time":
        assert page.value("document.querySelectorAll('[aria-label=Tokens] tbody tr').length") > 0
    headings = page.value("[...document.querySelectorAll('h2')].map((e) => e.textContent)")
    assert {heading, "Signals", "Signals later", "Newest trades"} <= set(headings)
    assert page.value(_SHIFTED) < 0.1
    requested = page.value(_REQUESTED)
    assert len(set(requested)) == len(requested) > 0
    for colors in ("light", "dark"):
        page.prefer(colors)
        assert page.value(DRAWN_WIDTH) <= width
        assert eventually(lambda: page.value(TOO_PALE) == []), page.value(TOO_PALE)
    # Where there is less room, a row has fewer columns.
    for room in (width, 768, 1000):
        page.resize(room)
        assert page.value(DRAWN_WIDTH) <= room
        # A block is laid out when it is seen.
        assert eventually(lambda: page.value(_CUT) == []), page.value(_CUT)
    if heading == "Ranks":
        rows, charts = (
            f"document.querySelectorAll('[aria-label=Ranks] {part}').length"
            for part in ("tbody tr", ".spark")
        )
        assert page.value(rows) == page.value(charts) > 0
    # Each block shows its request, without the key.
    codes = page.value("[...document.querySelectorAll('.request pre')].map((e) => e.textContent)")
    assert len(codes) == len(headings)
    for code in codes:
        for line in code.splitlines():
            url = re.fullmatch(r"""curl -H "Authorization: Bearer \$KEY" '([^']+)'""", line)
            assert url is not None, line
            assert requests.get(url[1], headers=demo.headers, timeout=60).status_code == 200
    assert page.value("document.images.length") == 1
    assert page.problems == []


@needs_chromium
@needs_axe
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_nothing_in_any_view_and_color(
    server: Gunicorn, demo: DemoService, page: Chromium, width: int
) -> None:
    page.resize(width)
    page.open(f"{server.url}/")
    page.await_true("document.activeElement.id === 'key'")
    assert violations(page) == []
    for view in ("#/key", "#/token/solana/abc", *_views(demo).values()):
        page.open_tab()
        page.resize(width)
        enter(page, server.url, demo.key, view)
        page.await_true(
            f"document.querySelector('.block') && ({LOADED} || document.querySelector('.loss + a'))"
        )
        for colors in ("light", "dark"):
            page.prefer(colors)
            assert violations(page) == [], view


@needs_chromium
def test_what_can_be_chosen_is_what_the_operations_take(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    open_view(page, server.url, demo.key, "#/board/solana/kol?ranks.sort=pnl_without_best_token")
    assert page.value("document.querySelector('#view thead').innerText").split("\t")[3] == "Less best ↓"
    chosen = page.value("[PERIODS, SORTS, EXTRA, TRADER_SORTS, MODES, TOKEN_SORTS].map(Object.keys)")
    taken = (BOARD_PERIODS, BOARD_SORTS, BOARD_SORTS, TRADER_SORTS, MODES, wallet_tokens.SORTS)
    for names, choices in zip(chosen, taken, strict=True):
        assert set(names) <= set(choices)
    page.value(
        "(() => { const least = document.querySelector('[aria-label=\"Signals: transactions\"]');"
        " least.value = '2'; least.dispatchEvent(new Event('change')); })()"
    )
    page.await_true(f"location.hash.includes('signals.min_transactions=2') && {LOADED}")
    asked = page.value("document.querySelector('[aria-label=Signals] pre').innerText")
    assert "&min_transactions=2" in asked
    later = page.value("document.querySelector('[aria-label=\"Signals later\"] .body').innerText")
    assert "sync quotes keeps the signals" in later


@needs_chromium
def test_pictures_of_the_demo_are_drawn_without_a_request(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    page.open(f"{server.url}/")
    page.await_true("document.activeElement.id === 'key'")
    pictures = {row["image_url"] for row in demo.wallets if row.get("image_url")}
    assert len(pictures) > 2
    draw = "(src) => Object.assign(new Image(), { src }).decode()"
    drawn = page.value(f"Promise.all({json.dumps(sorted(pictures))}.map({draw}))")
    assert len(drawn) == len(pictures)


@in_each_browser
def test_a_missing_or_wrong_key_is_asked_for_and_the_right_one_stays_in_its_tab(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    view = _views(demo)["Profit over time"]
    enter(page, server.url, "wk_wrong", view)
    page.await_true("document.querySelector('#refused').textContent.includes('key')")
    assert page.value("document.querySelector('#ask').innerText.includes('wallet-api keys create')")
    assert not page.value("document.querySelector('#search').checkVisibility()")
    assert page.value("document.querySelectorAll('.block').length") == 0
    assert page.value("sessionStorage.length") == 0
    page.type(demo.key)
    page.press("Enter")
    page.await_true(f"document.querySelector('.block') && {LOADED}")
    # A new document, which a reload would begin only after it has returned.
    page.open(f"{server.url}/?again{view}")
    page.await_true(f"document.querySelector('.block') && {LOADED}")
    assert page.value("location.hash") == view
    assert page.value("Object.keys(localStorage).length") == 0
    page.value("document.querySelector('#forget').click()")
    page.await_true("document.activeElement.id === 'key'")
    assert demo.key not in page.value("JSON.stringify(sessionStorage) + document.documentElement.outerHTML")


@in_each_browser
def test_names_addresses_and_mints_are_found_from_the_keyboard(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    open_view(page, server.url, demo.key)
    page.value("document.activeElement.blur()")
    named = next(row for row in demo.wallets if row["name"] and row["blockchain"] == "solana")
    search(page, named["wallet_address"])
    page.await_true(f"location.hash === '#/wallet/solana/kol/{named['wallet_address']}'")
    page.await_true(f"document.querySelector('#view h1').textContent === '{named['name']}'")
    page.await_true("document.querySelector('[aria-label=Tokens] tbody a')")
    page.value("document.querySelector('[aria-label=Tokens] tbody a').focus()")
    page.press("Enter")
    page.await_true("location.hash.startsWith('#/token/') && document.activeElement.id === 'main'")
    page.value("document.activeElement.blur()")
    page.value("document.querySelector('#view .opener').focus()")
    page.press("Enter")
    page.await_true("document.querySelector('.request').checkVisibility()")
    page.press("Escape")
    page.await_true("!document.querySelector('.request').checkVisibility()")
    assert page.value("document.activeElement.className") == "opener"
    views = _views(demo)
    search(page, views["Who was first"].rpartition("/")[2])
    page.await_true(f"location.hash === '{views['Who was first']}'")
    # Several are listed.
    search(page, named["name"].split()[0])
    page.await_true("document.querySelector('#said').textContent.startsWith('Found by')")
    assert page.value("document.querySelectorAll('#said a').length") > 1
    assert page.value(DRAWN_WIDTH) <= 1280
    page.press("Escape")
    page.await_true("document.querySelector('#said').textContent === ''")
    for unknown in ("0x" + "1" * 40, "Nobody Nowhere"):
        search(page, unknown)
        page.await_true(f"document.querySelector('#said').textContent.includes('“{unknown}”')")
    assert page.problems == []


@needs_chromium
def test_a_page_that_nothing_changes_for_costs_no_credit(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    import_wallets(database_url)
    key = create_key(connection, "visitor", credits=1000)
    open_view(page, url, key)

    def left() -> int:
        headers = {"Authorization": f"Bearer {key}"}
        credits: int = requests.get(f"{url}/v1/key", headers=headers, timeout=60).json()["data"]["credits"][
            "left"
        ]
        return credits

    before = left()
    assert before < 1000
    for _ in range(3):
        page.value(POLL)
        page.await_true("state.blocks.every((block) => block.at)")
    assert left() == before
    # Nor does a view that is opened again: what it was made of is kept.
    ranks = "document.querySelector('[aria-label=Ranks] tbody tr')"
    page.value("document.querySelector('#own a').click()")
    page.await_true("document.querySelector('[aria-label=\"Limits and use\"] tbody tr')")
    page.value("history.back()")
    page.await_true(f"{ranks} && {LOADED}")
    assert left() == before
    # Nothing is requested while the tab is hidden.
    page.value("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    requested = "performance.getEntriesByType('resource').length"
    known = page.value(requested)
    page.value("state.polledAt = 0; new Promise((resolve) => setTimeout(resolve, 2500))")
    assert page.value(requested) == known
    page.value("delete document.hidden")
    page.await_true(f"{requested} > {known}")


@needs_chromium
def test_an_empty_ledger_says_what_to_do_and_shows_the_first_wallets(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    open_view(page, url, create_key(connection, "visitor"))
    assert "No wallet is tracked yet" in page.value(VIEW)
    assert "No trade yet." in page.value("document.querySelector('#beside').innerText")
    import_wallets(database_url)
    page.await_true(
        "(state.polledAt = 0, document.querySelectorAll('[aria-label=Ranks] tbody tr').length === 1)"
    )
    assert "eth kol (1)" in page.value(VIEW)
    assert page.problems == []


@needs_chromium
def test_what_a_token_is_named_is_never_run(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    address = import_wallets(database_url, name=_NAME)
    key = create_key(connection, "visitor")
    for view in (f"#/wallet/eth/kol/{address}", f"#/token/eth/{MINT}"):
        page.open_tab()
        enter(page, url, key, view)
        for part in ("#view", "#beside"):
            page.await_true(f"document.querySelector('{part}').innerText.includes({json.dumps(_NAME)})")
        assert page.value("document.title").endswith("Wallet Intelligence")
        assert page.value("document.querySelectorAll('main img, main script').length") == 0
        # Without a provider there are no balances.
        assert [problem for problem in page.problems if "/v1/wallets/holdings?" not in problem] == []


@needs_chromium
def test_a_service_that_stops_is_named_and_what_was_shown_stays(
    gunicorn: StartGunicorn, connection: Connection, database_url: str, page: Page
) -> None:
    import_wallets(database_url)
    service = gunicorn(workers=1)
    open_view(page, service.url, create_key(connection, "visitor"))
    service.stop()
    page.value("poll()")
    state = "document.querySelector('#view .state').textContent"
    page.await_true(f"{state}.startsWith('The service does not respond. Last updated')")
    assert "; next try at " in page.value(state)
    # There is one page.
    assert not page.value("document.querySelector('[aria-label=Ranks] .pages').checkVisibility()")
    assert page.value("document.querySelectorAll('[aria-label=Ranks] tbody tr').length") == 1


@needs_chromium
def test_a_key_over_its_rate_pauses_the_page_as_long_as_the_service_says(
    url: str, connection: Connection, page: Page
) -> None:
    enter(page, url, create_key(connection, "visitor", rate="2/day"))
    page.await_true("/Not loaded; next try at [0-9:]{8}/.test(document.querySelector('#main').textContent)")
    page.await_true("[...document.querySelectorAll('.state')].every((state) => state.textContent)")
    page.value(MODULES)
    assert page.value("state.pausedUntil > Date.now()")
    requested = "performance.getEntriesByType('resource').length"
    known = page.value(requested)
    page.value("state.polledAt = 0; new Promise((resolve) => setTimeout(resolve, 2500))")
    assert page.value(requested) == known


@needs_chromium
def test_a_thousand_wallets_are_shown_page_by_page(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    import_wallets(database_url, wallets=1000)
    open_view(page, url, create_key(connection, "visitor"))
    seen = set()
    first = "document.querySelectorAll('[aria-label=Ranks] tbody tr td:first-child')"
    ranks = f"[...{first}].map((e) => e.textContent)"
    while True:
        shown = page.value(ranks)
        assert not seen & set(shown)
        seen |= set(shown)
        following = "[...document.querySelectorAll('[aria-label=Ranks] .pages button')].at(-1)"
        if page.value(f"{following}.disabled"):
            break
        page.value(f"{following}.click()")
        page.await_true(f"{ranks}[0] !== '{shown[0]}'")
    assert len(seen) == 1000
    assert page.problems == []


@in_each_browser
def test_back_a_reload_and_a_shared_link_give_the_same_view(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    open_view(page, server.url, demo.key)
    title = "document.querySelector('#view h1').textContent"
    page.value("document.querySelector('#view tbody a').click()")
    page.await_true(f"{title} !== 'Board' && {LOADED}")
    page.value("history.back()")
    page.await_true(f"{title} === 'Board' && document.querySelector('#view tbody tr')")
    page.value("history.forward()")
    page.await_true(f"{title} !== 'Board' && {LOADED}")
    # What is chosen in a block, and its page, are in the address.
    # All of the page: a token may be the first by several figures.
    links = "[...document.querySelectorAll('[aria-label=Tokens] tbody a')]"
    first = f"{links}.map((a) => a.getAttribute('href')).join()"
    newest = page.value(first)
    head = (
        "[...document.querySelectorAll('[aria-label=Tokens] th button')]"
        ".find((e) => e.innerText.startsWith('Bought'))"
    )
    page.value(f"{head}.click()")
    page.await_true(f"location.hash.includes('tokens.sort=invested') && {first} !== {json.dumps(newest)}")
    assert page.value(f"{head}.parentElement.ariaSort") == "descending"
    largest = page.value(first)
    page.value("document.querySelector('[aria-label=Tokens] .pages button:last-child').click()")
    page.await_true(f"location.hash.includes('tokens.after=') && {first} !== {json.dumps(largest)}")
    second, shared = page.value(first), page.value("location.hash")
    page.value("document.querySelector('[aria-label=Tokens] .pages button').click()")
    page.await_true(f"{first} === {json.dumps(largest)}")
    page.value("history.back()")
    page.await_true(f"location.hash === {json.dumps(shared)} && {first} === {json.dumps(second)}")
    # The skip link is not a view.
    page.value("document.querySelector('#skip').click()")
    assert page.value("[location.hash, document.activeElement.id]") == [shared, "main"]
    page.open(f"{server.url}/?again{shared}")
    page.await_true(f"{first} === {json.dumps(second)}")
    assert page.problems == []


@needs_chromium
def test_a_slow_line_shows_the_view_and_no_error(server: Gunicorn, demo: DemoService, page: Chromium) -> None:
    page.change_line(1500)
    said = "document.querySelector('#said').textContent"
    page.value("document.title = ''")
    enter(page, server.url, demo.key)
    page.await_true(f"document.querySelector('#view tbody tr') || {said}")
    page.await_true(LOADED)
    assert page.value(said) == ""
    metas = (
        "performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('v1/meta')).length"
    )
    assert page.value(metas) == 1
    # A line that is lost comes back.
    page.value(MODULES)
    page.change_line(is_lost=True)
    page.value("poll()")
    page.await_true("document.querySelector('#view .state').textContent.startsWith('The service does not')")
    page.change_line()
    page.value("poll()")
    page.await_true(LOADED)


@needs_chromium
@pytest.mark.parametrize("view", ["wallet/eth/kol/Nope", f"wallet/eth/kol/0x{'9' * 40}", "token/eth/abc"])
def test_what_cannot_be_shown_is_said_once_and_not_requested_again(
    url: str, connection: Connection, database_url: str, page: Page, view: str
) -> None:
    import_wallets(database_url)
    enter(page, url, create_key(connection, "visitor"), f"#/{view}")
    page.await_true("document.querySelector('#view > .loss + a')")
    assert page.value("document.querySelectorAll('#view .block').length") == 0
    page.value(MODULES)
    page.await_true("state.blocks.every((block) => block.at)")
    page.value("new Promise((resolve) => setTimeout(resolve, 1000))")
    about = view.rpartition("/")[2]
    requested = f"performance.getEntriesByType('resource').filter((e) => e.name.includes('{about}')).length"
    known = page.value(requested)
    page.value(POLL)
    page.value("new Promise((resolve) => setTimeout(resolve, 500))")
    assert page.value(requested) == known
    page.value("document.querySelector('#view > a').click()")
    page.await_true("document.querySelector('#view tbody tr')")


@needs_chromium
def test_links_lead_out_for_ids_of_the_chain_alone(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    address = import_wallets(database_url)
    key = create_key(connection, "visitor")
    enter(page, url, key, f"#/wallet/eth/kol/{address}")
    page.await_true("document.querySelector('[aria-label=Trades] tbody tr')")
    out = "[...document.querySelectorAll('#view a.out')].map((a) => [a.href, a.rel, a.target])"
    where = {"rel": "noopener noreferrer", "target": "_blank"}
    found = {href for href, *rest in page.value(out) if rest == list(where.values())}
    assert found == {f"https://etherscan.io/address/{address}", f"https://etherscan.io/tx/0x{1:064x}"}
    open_again(page, url, f"#/token/eth/{MINT}")
    links = {href for href, *_ in page.value(out)}
    assert {f"https://etherscan.io/token/{MINT}", f"https://dexscreener.com/ethereum/{MINT}"} <= links
    linked = (
        "(ids) => import('./page/elements.js').then((m) => ids.filter((id) => m.explorerLink(...id, '')))"
    )
    hashes = [f"0x{'A' * 64}", "my-own-id-1", f"0x{'a' * 63}", "javascript:alert(1)", f"0x{'a' * 64}"]
    ids = [["eth", "transaction", each] for each in hashes]
    assert page.value(f"({linked})({json.dumps(ids)})") == ids[-1:]


@needs_chromium
def test_favourites_and_a_remembered_key_stay_in_the_browser(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    page.open(f"{server.url}/")
    page.await_true("document.activeElement.id === 'key'")
    page.value("document.querySelector('#remember').click(); document.querySelector('#key').focus()")
    page.type(demo.key)
    page.press("Enter")
    page.await_true("document.querySelector('#view tbody a')")
    assert page.value("sessionStorage.length") == 0
    page.value("document.querySelector('#view tbody a').click()")
    page.await_true(f"document.querySelector('#view h1').textContent !== 'Board' && {LOADED}")
    page.value("document.querySelector('.title input[type=checkbox]').click()")
    name, view = page.value("[document.querySelector('#view h1').textContent, location.hash]")
    page.open(f"{server.url}/?again")
    page.await_true("document.querySelector('#view .links a')")
    kept = "document.querySelector('#view > .links').innerHTML"
    assert f'<a href="{view}">{name}</a>' in page.value(kept)
    page.value("document.querySelector('#forget').click()")
    assert page.value("Object.keys(localStorage)") == ["wallet-api.favourites"]
    page.value("localStorage.clear()")


@needs_chromium
def test_a_caller_sees_the_use_of_his_key(server: Gunicorn, demo: DemoService, page: Page) -> None:
    open_view(page, server.url, demo.key, "#/key")
    figures = page.value("document.querySelector('[aria-label=\"Limits and use\"] dl').innerText")
    assert "Requests this month" in figures
    assert demo.key not in page.value("document.body.innerText")
    assert page.problems == []


@needs_chromium
def test_a_bound_key_begins_with_a_group_of_its_own(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    import_wallets(database_url)
    key = create_key(connection, "bound", chains=["base"])
    open_view(page, url, key)
    groups = page.value("[...document.querySelectorAll('.title option')].map((e) => e.value)")
    assert groups
    assert {group.partition("/")[0] for group in groups} == {"base"}
    assert page.problems == []
    # A link to another one says why it shows nothing.
    page.open(f"{url}/?again#/board/eth/kol")
    page.await_true("document.querySelector('[aria-label=Ranks] .body').innerText.includes('key is bound')")
    assert page.value("document.querySelector('.title select').value") == "eth/kol"


@needs_chromium
def test_each_figure_says_in_a_sentence_what_it_is(server: Gunicorn, demo: DemoService, page: Page) -> None:
    # What the page computes of an amount and a price.
    computed = {"Amount", "Worth, SOL", "Worth, $"}
    for view in _views(demo).values():
        page.open_tab()
        open_view(page, server.url, demo.key, view)
        heads = page.value("[...document.querySelectorAll('#view th.n')].map((e) => [e.innerText, e.title])")
        assert {head for head, title in heads if head and not title.endswith(".")} <= computed
        untold = "document.querySelectorAll('#view dl > div:not([title$=\".\"])').length"
        assert page.value(untold) <= 2


@needs_chromium
def test_plots_are_as_wide_as_their_block_at_first_sight(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    open_view(page, server.url, demo.key, _views(demo)["Profit over time"])
    page.await_true("document.querySelector('.plot canvas')")
    widths = (
        "[document.querySelector('.plot .u-wrap').clientWidth, document.querySelector('.plot').clientWidth]"
    )
    drawn, there = page.value(widths)
    assert there - 20 < drawn <= there

"""The page at /docs in a real browser: its policy, its operations, and a request with a key."""

import requests

from tests.lib.browser import Page
from tests.lib.chromium import Chromium, needs_chromium
from tests.lib.demo_service import DemoService
from tests.lib.looks import DRAWN_WIDTH, TOO_PALE
from tests.lib.processes import Gunicorn
from tests.lib.waiting import eventually

_WALLETS = "#operations-Wallets-list_wallets"
_LIVE = f"{_WALLETS} .live-responses-table"


def _open(page: Page, server: Gunicorn) -> None:
    page.open(f"{server.url}/docs")
    page.await_true("document.querySelectorAll('.opblock').length > 0")


def _click(page: Page, selector: str) -> None:
    page.value(f"document.querySelector('{selector}').click()")


def _open_dialog(page: Page) -> None:
    _click(page, ".btn.authorize")
    page.await_true("document.querySelector('#auth-bearer-value, .auth-container .btn:not(.authorize)')")


def _open_wallets(page: Page) -> None:
    """Open the first operation. The console fills in the examples after it has drawn the form."""
    _click(page, f"{_WALLETS} .opblock-summary-control")
    page.await_true(f"document.querySelector('{_WALLETS} select').value === 'solana'")


def _execute_wallets(page: Page, status: int) -> None:
    """Send its request, and wait until this status is shown."""
    page.await_true(f"document.querySelector('{_WALLETS} .execute:enabled')")
    _click(page, f"{_WALLETS} .execute")
    shown = f"document.querySelector('{_LIVE} .response .response-col_status').innerText"
    page.await_true(f"{shown}.startsWith('{status}')")


@needs_chromium
def test_a_key_is_sent_and_survives_a_reload_in_its_tab_until_it_is_removed(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    _open(page, server)
    _open_dialog(page)
    # The field that has the focus as the dialog opens is that of the header.
    page.await_true("document.activeElement.id === 'auth-bearer-value'")
    page.type(demo.key)
    _click(page, ".auth-container .btn.authorize")
    page.await_true("document.querySelector('.auth-container .btn:not(.authorize)')")
    _open(page, server)
    page.await_true("document.querySelector('.btn.authorize.locked')")
    _open_wallets(page)
    _execute_wallets(page, 200)
    assert demo.wallet("solana", "kol") in page.value(f"document.querySelector('{_LIVE}').innerText")
    # Nothing is wider than the screen.
    for width in (768, 320):
        page.resize(width)
        assert page.value(DRAWN_WIDTH) <= width
    assert page.value("localStorage.length") == 0
    _open_dialog(page)
    logout = "[...document.querySelectorAll('.auth-container .btn')].find((e) => e.innerText === 'Logout')"
    page.await_true(logout)
    page.value(f"{logout}.click()")
    page.await_true("document.querySelector('#auth-bearer-value')")
    _execute_wallets(page, 401)
    # A reload would find nothing of it.
    assert demo.key not in page.value("JSON.stringify(sessionStorage)")


@needs_chromium
def test_each_operation_is_listed_readable_and_short_and_reached_by_keyboard(
    server: Gunicorn, page: Chromium
) -> None:
    _open(page, server)
    described = requests.get(f"{server.url}/v1/openapi.json", timeout=60).json()["paths"]
    listed = page.value(
        "[...document.querySelectorAll('.opblock-summary [data-path]')].map((e) => e.dataset.path)"
    )
    assert sorted(listed) == sorted(described)
    page.press("Tab")
    assert page.value("document.activeElement.className") == "skip"
    page.press("Enter")
    focused = "document.activeElement"
    for _ in range(30):
        page.press("Tab")
        assert page.value(f"getComputedStyle({focused}).outlineStyle !== 'none'")
        if page.value(f"Boolean({focused}.closest('{_WALLETS} .opblock-summary-control'))"):
            break
    page.press("Enter")
    page.await_true(f"document.querySelector('{_WALLETS} .execute')")
    # Those with the most responses and arguments.
    for operation in (_WALLETS, "#operations-Wallets-get_history", "#operations-Groups-get_leaderboard"):
        if operation != _WALLETS:
            _click(page, f"{operation} .opblock-summary-control")
        page.await_true(f"document.querySelector('{operation} tr.folded')")
        assert page.value(f"document.querySelector('{operation}').offsetHeight") < 2900, operation
        # Of the responses, that of a success is open.
        parts = f"document.querySelectorAll('{operation} tr.folded > td > details"
        assert page.value(f"{parts}').length") > page.value(f"{parts}[open]').length") == 1
    # With all that can be opened.
    page.value("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.value("document.querySelectorAll('[data-name=model]').forEach((tab) => tab.click())")
    page.await_true("document.querySelector('.json-schema-2020-12')")
    _open_dialog(page)
    for colors in ("light", "dark"):
        page.prefer(colors)
        page.value(DRAWN_WIDTH)
        is_dark = page.value("getComputedStyle(document.body).backgroundColor") == "rgb(28, 32, 34)"
        assert is_dark == (colors == "dark")
        assert eventually(lambda: page.value(TOO_PALE) == []), page.value(TOO_PALE)
    assert page.value("[...document.images].filter((image) => !image.complete).length") == 0
    assert page.problems == []

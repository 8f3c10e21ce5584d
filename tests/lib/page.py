"""The page at / in a browser: how a test opens its views, and a ledger of its own."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.ledger.in_process import Importer
from tests.lib.browser import Page
from tests.lib.chromium import needs_chromium
from tests.lib.firefox import needs_firefox

# What is of the browser more than of the page: history, keys, storage.
in_each_browser = pytest.mark.parametrize(
    "page",
    [pytest.param("chromium", marks=needs_chromium), pytest.param("firefox", marks=needs_firefox)],
    indirect=True,
)

MINT = "0x" + "b" * 40

# Those that nothing else is in the way of have the same text after a refresh, but for the times.
LOADED = "[...document.querySelectorAll('.state')].every((state) => state.textContent.startsWith('updated'))"
VIEW = "document.querySelector('#view').innerText"
# Later than responses are shared.
POLL = """
new Promise((resolve) => setTimeout(resolve, 1100)).then(() => {
  for (const block of state.blocks) if (!block.follows) block.at = 0;
  poll();
})
"""
# What the modules of the page export, as names of the tab.
MODULES = """
Promise
  .all(["state", "page", "board", "beside", "wallet", "token"].map((name) => import(`./page/${name}.js`)))
  .then((modules) => void Object.assign(window, ...modules))
"""


def enter(page: Page, url: str, key: str, view: str = "") -> None:
    """Open a view, and enter the key that it requires."""
    page.open(f"{url}/{view}")
    page.await_true("document.activeElement.id === 'key'")
    page.type(key)
    page.press("Enter")


def open_view(page: Page, url: str, key: str, view: str = "") -> None:
    """Open a view with a key, and wait until all of it is loaded."""
    enter(page, url, key, view)
    page.await_true(f"document.querySelector('.block') && {LOADED}")
    page.value(MODULES)


def open_again(page: Page, url: str, view: str) -> None:
    """Open another view in the same tab, with the key that it has."""
    page.open(f"{url}/?{view.count('/')}{view}")
    page.await_true(f"document.querySelector('.block') && {LOADED}")


def search(page: Page, text: str) -> None:
    page.value("document.activeElement.blur()")
    page.press("/")
    page.value("document.querySelector('#sought').value = ''")
    page.type(text)
    page.press("Enter")


def import_wallets(url: str, name: str = "Token", wallets: int = 1) -> str:
    """Import wallets with a purchase each of a token of this name, and return the address of the first."""
    importer, now = Importer(url), datetime.now(UTC)
    addresses = [f"0x{number:040x}" for number in range(1, wallets + 1)]
    importer.wallets({"blockchain": "eth", "type": "kol", "wallet_address": address} for address in addresses)
    importer.trades(
        {
            "blockchain": "eth",
            "wallet_address": address,
            "tx_signature": f"0x{number:064x}",
            "mint": MINT,
            "token_name": name,
            "transaction_type": "buy",
            "token_amount": "5",
            "value": "2",
            "created_at": (now - timedelta(minutes=5)).isoformat(),
        }
        for number, address in enumerate(addresses, 1)
    )
    return addresses[0]

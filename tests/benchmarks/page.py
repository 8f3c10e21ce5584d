"""The page at / in headless Chromium: how soon a view is seen after the key, and its requests.

    python -m tests.benchmarks.page [--trades 1000000] [--runs 5] [--url URL --key KEY]

Without the address of a service, one with 1,000 demo wallets is made, which takes some minutes. Measured are
the board of the group with most wallets, its wallet with most trades, the token that it bought most of, that
position, and the key; each run in a new tab without a cache.
"""

import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import requests

from tests.benchmarks.http_servers import gunicorn
from tests.ledger.alone import ledger_alone
from tests.lib.chromium import Chromium, chromium
from tests.lib.demo_service import demo_service
from tests.lib.processes import environment_of

# The demo's page has a key from the beginning.
_BEGUN = "document.querySelector('.block') || !document.querySelector('#ask').hidden"
# Note when a frame with the first block of the view is drawn, and when one with all blocks.
_WATCH = """
Promise.all(["state", "page"].map((name) => import(`./page/${name}.js`)))
  .then(([{ state }, { askForKey }]) => {
  state.meta = null;
  askForKey("");
  window.seen = {};
  addEventListener("submit", () => {
    seen.key = performance.now();
    const note = (moment) => setTimeout(() => { seen[moment] ??= performance.now() - seen.key; });
    const look = () => {
      const states = [...document.querySelectorAll(".state")].map((state) => state.textContent);
      if (states.some(Boolean)) note("first");
      if (states.length && states.every(Boolean)) note("all");
      else requestAnimationFrame(look);
    };
    look();
  }, { once: true, capture: true });
})
"""
# With the sizes of the requests of the view.
_SEEN = """
new Promise((resolve) => setTimeout(resolve, 300)).then(() => {
  const requests = performance.getEntriesByType("resource").filter((entry) => entry.startTime >= seen.key);
  return { ...seen, sizes: requests.map((entry) => entry.decodedBodySize) };
})
"""

Seen = dict[str, Any]


@click.command()
@click.option("--trades", default=1_000_000, show_default=True, help="Size of the ledger that is made.")
@click.option("--runs", default=5, show_default=True, help="Tabs of each view; times are medians.")
@click.option("--url", default="", help="A running service, without a slash at the end.")
@click.option("--key", default="", help="Its key.")
def main(trades: int, runs: int, url: str, key: str) -> None:
    """Print a table of the views."""
    if url:
        _measure(url, key, runs)
    else:
        with _service(trades) as (its_url, its_key):
            _measure(its_url, its_key, runs)


@contextmanager
def _service(trades: int) -> Iterator[tuple[str, str]]:
    """A service of a demo world, with the provider of its balances: its address and a key."""
    with (
        ledger_alone() as settings,
        demo_service(settings, wallets=1000, trades=trades, days=90) as demo,
        gunicorn("page", "wsgi:app", Path(settings.wallet_api_home), environment_of(demo.settings)) as server,
    ):
        yield server.url, demo.key


def _views(url: str, key: str) -> dict[str, str]:
    """Return the address of each view that is measured."""

    def requested(operation: str, **arguments: str | int) -> Any:
        headers = {"Authorization": f"Bearer {key}"}
        response = requests.get(f"{url}/v1/{operation}", arguments, headers=headers, timeout=60).json()
        return response.get("data", response)

    groups = {
        (chain, kind): wallets
        for chain, kinds in requested("meta")["wallet_counts"].items()
        for kind, wallets in kinds.items()
    }
    chain, kind = max(groups, key=lambda group: groups[group])
    group: dict[str, str | int] = {"blockchain": chain, "type": kind, "limit": 1}
    wallet = requested("wallet/leaderboard", **group, period="all", sort="total_txn")["leaderboard"][0][
        "wallet"
    ]
    token = requested("wallets/tokens", **group, address=wallet, sort="invested")["tokens"][0]["mint"]
    return {
        "board": f"#/board/{chain}/{kind}",
        "wallet": f"#/wallet/{chain}/{kind}/{wallet}",
        "token": f"#/token/{chain}/{token}",
        "position": f"#/position/{chain}/{kind}/{wallet}/{token}",
        "key": "#/key",
    }


def _measure(url: str, key: str, runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as page:
        found = {
            name: [_seen(page, f"{url}/{view}", key) for _ in range(runs)]
            for name, view in _views(url, key).items()
        }
    click.echo(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    click.echo("| view | first block, ms | all, ms | requests | largest, kB |")
    click.echo("|---|---:|---:|---:|---:|")
    for name, of in found.items():
        click.echo(f"| {name} | {' | '.join(_figures(of))} |")


def _seen(page: Chromium, url: str, key: str) -> Seen:
    """Enter the key in a new tab, and return the moments and the requests of the view."""
    page.open_tab()
    page.resize(1280)
    page.command("Network.setCacheDisabled", cacheDisabled=True)
    page.open(url)
    page.await_true(_BEGUN)
    page.value(_WATCH)
    page.type(key)
    page.press("Enter")
    page.await_true("seen.all")
    seen: Seen = page.value(_SEEN)
    return seen


def _figures(runs: list[Seen]) -> Iterator[str]:
    for moment in ("first", "all"):
        yield f"{statistics.median(seen[moment] for seen in runs):.0f}"
    yield f"{statistics.median(len(seen['sizes']) for seen in runs):.0f}"
    yield f"{max(size for seen in runs for size in seen['sizes']) / 1000:.0f}"


if __name__ == "__main__":
    main()

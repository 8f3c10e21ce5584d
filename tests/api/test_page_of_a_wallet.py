"""What the page at / shows of a wallet: its brief, a position step by step, and what a sync has read."""

import json
from datetime import UTC, datetime, timedelta

import requests

from tests.ledger.in_process import Importer
from tests.ledger.rows import trade_row
from tests.lib.browser import Page
from tests.lib.chromium import needs_chromium
from tests.lib.demo_service import DemoService
from tests.lib.page import LOADED, MODULES, POLL, enter, import_wallets, open_again, open_view
from tests.lib.processes import Gunicorn
from wallet_api.api.keys import create_key
from wallet_api.database import Connection

pytestmark = needs_chromium

_LINKS = ("twitter", "telegram", "copytrade_link")


def _rows(block: str) -> str:
    """The texts of the cells of a block's table, by row."""
    cells = "[...row.cells].map((cell) => cell.innerText)"
    return f"[...document.querySelectorAll('[aria-label=\"{block}\"] tbody tr')].map((row) => {cells})"


def test_a_wallet_begins_with_its_brief(server: Gunicorn, demo: DemoService, page: Page) -> None:
    of = {"blockchain": "solana", "type": "kol", "address": demo.wallet("solana", "kol")}
    open_view(page, server.url, demo.key, f"#/wallet/solana/kol/{of['address']}")
    url = f"{server.url}/v1/wallets/brief"
    brief = requests.get(url, of, headers=demo.headers, timeout=30).json()["data"]
    assert page.value("document.querySelector('#view .block h2').innerText") == "In short"
    assert page.value("document.querySelector('#view h1').innerText") == brief["profile"]["name"]
    links = page.value("[...document.querySelectorAll('#profile a')].map((a) => a.href)")
    assert links == [brief["profile"][name] for name in _LINKS if brief["profile"][name]] != []
    shown = page.value(_rows("In short"))
    assert [row[0] for row in shown] == ["all time", "30 days", "7 days"]
    assert [row[-1] for row in shown] == [
        f"{brief[window]['total_txn']:,}" for window in ("all", "month", "week")
    ]
    figures = page.value("document.querySelector('[aria-label=\"In short\"] dl').innerText")
    assert f"Tokens held\n{brief['held']['tokens']}" in figures
    named = page.value("[...document.querySelectorAll('[aria-label=\"In short\"] .who')].map((a) => a.title)")
    assert named == [token["mint"] for token in brief["best"] + brief["worst"]]
    assert page.problems == []


def test_a_position_is_explained_trade_by_trade(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    address, other = import_wallets(database_url, wallets=2), "0x" + "2".rjust(40, "0")
    begin = datetime.now(UTC) - timedelta(days=1)
    trades = [
        ("buy", "100", "1"),
        ("buy", "100", "3"),
        ("sell", "50", "2"),
        ("sell", "300", "12"),
        ("sell", "10", "0.5"),
    ]
    trades += [("buy", "1", "1")] * 60
    mint = "0x" + "c" * 40
    Importer(database_url).trades(
        trade_row(
            address,
            f"0x{1000 + number:064x}",
            begin + timedelta(minutes=number),
            blockchain="eth",
            mint=mint,
            token_name="Explained",
            transaction_type=side,
            token_amount=amount,
            value=value,
            block=7_000 + number,
        )
        for number, (side, amount, value) in enumerate(trades)
    )
    key = create_key(connection, "visitor")
    enter(page, url, key, f"#/wallet/eth/kol/{address}")
    why = f"document.querySelector('[aria-label=Tokens] a.why[href$=\"{mint}\"]')"
    page.await_true(why)
    # From the keyboard, as any link.
    page.value(f"{why}.focus()")
    page.press("Enter")
    page.await_true(
        f"location.hash === '#/position/eth/kol/{address}/{mint}' && {_rows('Step by step')}.length"
    )
    assert page.value("document.querySelector('#view h1').innerText") == "Explained"
    steps = page.value(_rows("Step by step"))
    assert len(steps) == 50
    heads = page.value("[...document.querySelectorAll('#view th')].map((e) => e.innerText)")
    walked = [dict(zip(heads, row, strict=True)) for row in steps[:5]]
    assert [row["What"] for row in walked] == [
        *("buy", "buy", "sell", "sell of more than was bought", "sell without a buy")
    ]
    assert [row["Profit, ETH"] for row in walked] == ["–", "–", "+1.00", "+3.00", "–"]
    assert [row["Without cost"] for row in walked][2:] == ["0.00", "6.00", "0.50"]
    assert [row["Held then"] for row in walked] == ["100.00", "200.00", "150.00", "0.00", "0.00"]
    assert [row["At a cost of"] for row in walked] == ["1.00", "4.00", "3.00", "0.00", "0.00"]
    out = page.value("[...document.querySelectorAll('#view tbody tr:first-child a.out')].map((a) => a.href)")
    assert out == [f"https://etherscan.io/tx/0x{1000:064x}", "https://etherscan.io/block/7000"]
    figures = page.value("document.querySelector('[aria-label=\"Step by step\"] dl').innerText")
    assert "Realized, ETH\n+4.00" in figures
    page.value("document.querySelector('#view .pages button:last-child').click()")
    page.await_true(f"{_rows('Step by step')}.length === 15 && location.hash.includes('steps.after=')")
    page.value("history.back()")
    page.await_true(f"{_rows('Step by step')}.length === 50")
    # From the view of a token too; what the wallet never traded is said once.
    open_again(page, url, f"#/token/eth/{mint}")
    assert page.value("document.querySelector('[aria-label=\"Who was first\"] a.why').hash").endswith(
        f"{address}/{mint}"
    )
    open_again(page, url, f"#/position/eth/kol/{other}/{mint}")
    page.await_true("document.querySelector('#view > .loss + a')")
    assert "never traded this token" in page.value("document.querySelector('#view').innerText")


def test_a_wallet_has_its_return_beside_that_of_a_copier(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    of = {"blockchain": "solana", "type": "kol", "address": demo.wallet("solana", "kol")}
    since = f"{datetime.now(UTC) - timedelta(days=30):%Y-%m-%d}"
    url = f"{server.url}/v1/wallets/copy"
    copy = requests.get(url, of | {"since": since}, headers=demo.headers, timeout=30).json()["data"]
    open_view(page, server.url, demo.key, f"#/wallet/solana/kol/{of['address']}")
    figures = page.value("document.querySelector('[aria-label=\"If copied\"] dl').innerText")
    names = {
        "Followed": "followed",
        "Buys not followed": "not_followed",
        "Stuck": "stuck",
    }
    for label, name in names.items():
        assert f"{label}\n{copy[name]:,}" in figures
    assert f"The copier, %\n{'+' if copy['return_percent'] > 0 else '−'}" in figures
    said = page.value("document.querySelector('[aria-label=\"If copied\"] p').innerText")
    assert "5 s after each trade, for a fee of 1 %. No price moves by the copier's own orders" in said
    assert page.problems == []


def test_the_page_shows_how_far_the_first_reading_of_each_wallet_is(
    url: str, connection: Connection, database_url: str, page: Page
) -> None:
    address = import_wallets(database_url, wallets=3)
    connection.execute(
        "INSERT INTO sync_wallets (wallet_id, synced_from, synced_until, tried_at)"
        " SELECT wallet_id, now() - interval '30 days 1 hour', now() - interval '18 days', now() FROM wallets"
        "  WHERE address = %s",
        [address],
    )
    connection.execute(
        "INSERT INTO sync_wallets (wallet_id, synced_from, synced_until, tried_at)"
        " SELECT wallet_id, '2026-10-28T07:00Z', now(), now() FROM wallets WHERE address LIKE '%%2'"
    )
    key = create_key(connection, "visitor")
    open_view(page, url, key, "#/board/eth/kol")
    begun = f"{datetime.now(UTC) - timedelta(days=30, hours=1):%b %-d, %Y}"
    known = [row[-1] for row in page.value(_rows("Tracked wallets"))]
    assert known == [f"{begun}, 12 d of 30 d read", "Oct 28, 2026", "as imported"]
    # Without a provider there are no balances.
    page.open(f"{url}/?again#/wallet/eth/kol/{address}")
    figures = "document.querySelector('[aria-label=\"All time\"] .body').innerText"
    page.await_true(f"{figures}.endsWith('12 d of 30 d read')")
    page.value(MODULES)
    connection.execute("UPDATE sync_wallets SET synced_until = now()")
    page.value(POLL)
    page.await_true(f"{figures}.endsWith({json.dumps(begun)})")


def test_a_board_and_a_wallet_show_a_window_by_two_dates(
    server: Gunicorn, demo: DemoService, page: Page
) -> None:
    today = datetime.now(UTC).date()
    end = (today + timedelta(days=1)).isoformat()
    open_view(page, server.url, demo.key, "#/board/solana/kol?ranks.period=30d")
    assert "period=30d" in page.value("document.querySelector('[aria-label=Ranks] pre').innerText")
    # From the keyboard, as any form: a date is typed, Enter shows it.
    page.value(f"document.querySelector('input[name=from]').value = '{today}'")
    page.value(f"document.querySelector('input[name=to]').value = '{today}'")
    page.value("document.querySelector('input[name=to]').focus()")
    page.value("document.querySelector('.title form').requestSubmit()")
    page.await_true(f"location.hash === '#/board/solana/kol?from={today}&to={today}'")
    page.await_true(LOADED)
    asked = "document.querySelector('[aria-label=Ranks] pre').innerText"
    assert f"since={today}T00" in page.value(asked)
    assert "period=" not in page.value(asked)
    # The day has not ended: its window ends now.
    assert end not in page.value(asked)
    # What is chosen stays in another group, but for its page.
    page.value(
        "(() => { const group = document.querySelector('.title select');"
        " group.value = 'solana/smart'; group.dispatchEvent(new Event('change')); })()"
    )
    page.await_true(f"location.hash === '#/board/solana/smart?from={today}&to={today}' && {LOADED}")
    page.value("history.go(-2)")
    page.await_true("document.querySelector('input[name=from]').value === ''")
    address, before = demo.wallet("solana", "kol"), today - timedelta(days=1)
    page.open(f"{server.url}/?again#/wallet/solana/kol/{address}?from={before}&to={before}")
    page.await_true(f"document.querySelector('.block') && {LOADED}")
    shown = page.value(_rows("In short"))
    assert [row[0] for row in shown][:2] == ["these dates", "all time"]
    of = {"blockchain": "solana", "type": "kol", "address": address, "limit": "1000", "overview": "false"}
    dated = of | {"since": f"{before}T00:00:00Z", "until": f"{today}T00:00:00Z"}
    url = f"{server.url}/v1/wallets/history"
    trades = requests.get(url, dated, headers=demo.headers, timeout=30).json()["data"]["trades"]
    assert shown[0][-1] == str(len(trades))
    assert len(page.value(_rows("Trades"))) == min(25, len(trades))
    assert page.problems == []

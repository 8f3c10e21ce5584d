"""`wallet-api sync status`, `accept` and `forget`: what syncs did and left out, and what to do about it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import click

from wallet_api.base.chains import CHAINS
from wallet_api.base.times import shown_time
from wallet_api.chain.sync import report
from wallet_api.chain.sync.finality import forget_final
from wallet_api.chain.sync.left_out import accept, read_named
from wallet_api.database import Row
from wallet_api.operate.cli.environment import database
from wallet_api.operate.cli.output import json_option, print_json, print_table, typed
from wallet_api.settings import Settings

_SYNCS = ("SYNC", "CHAIN", "LAST SUCCESS", "WALLETS", "FAILED", "DELAY", "UNDER WAY")
_NODES = ("CHAIN", "NEWEST BLOCK", "OF", "CALLS A MINUTE")
_FOLLOWS = ("CHAIN", "FOLLOWED BY", "WALLETS", "CONNECTED", "RECONNECTS", "GAPS", "HALF IN", "9 OF 10 IN")
_NAMED = ("CHAIN", "WALLET", "TRANSACTION", "AT", "WHAT MOVED")
_BEYOND = ("CHAIN", "WALLET", "NOT NAMED")
_OF_METRICS = ("buckets", "named_chains")
_REASONS = ("CHAIN", "REASON", "TOTAL", "LAST ROUND", "KEPT")
# All of its chains are synced by one process.
_WHOLE: dict[str, report.SyncName] = {"prices": "prices", "tokens": "tokens", "quotes": "quotes"}


@click.command("status")
@json_option
def sync_status(as_json: bool) -> None:
    """Print by chain when its sync last succeeded, what failed, and what is left out and why.

    UNDER WAY is how far a round is that takes longer than a minute.

    DELAY is the median time from block to ledger in the last round with new trades; OF is the age of the
    newest block that was read. GAPS are wallets that were read since they were not followed for a time,
    HALF IN and 9 OF 10 IN the time from block to ledger of so many new trades, since ever. KEPT transactions
    are tried again at each start of a sync and once a day; no_trade counts what is no trade by a rule,
    liquidity what a pool or an order book of Solana keeps or settles, unsigned what others did, which is
    tried again once and, after a week, expired, others what was read on Solana and only names its wallet,
    from_logs trades whose value comes from logs, since the node had no state, denied trades in tokens of
    TOKEN_DENYLIST, reorganised trades that were removed with their blocks, late transactions that a node has
    left out when their block was read first.

    WHAT MOVED is what looks like a trade of a dollar or more, and nothing proves that the wallet agreed to
    it: 'wallet-api sync accept TRANSACTION WALLET' takes it in. The first 100 of a wallet are named.
    """
    with database() as connection:
        lists = report.read(connection, datetime.now(UTC))
        named, beyond = read_named(connection)
        major, minor = divmod(connection.info.server_version, 10_000)
    # Its updates are those of this service's environment.
    embedded = {} if Settings.from_environment().database_url else {"embedded_postgresql": f"{major}.{minor}"}
    if embedded and not as_json:
        click.echo(f"The embedded server is PostgreSQL {major}.{minor}.")
    if as_json:
        shown = {name: rows for name, rows in lists.items() if name not in _OF_METRICS}
        print_json(shown | embedded | {"named": named, "named_beyond": beyond})
    elif not lists["syncs"] and not lists["left_out"]:
        click.echo(f"Nothing was synced yet. Run '{typed('sync trades')}' and '{typed('sync prices')}'.")
    else:
        tables = (
            [_SYNCS, *map(_sync, lists["syncs"])],
            [_NODES, *_nodes(lists)],
            [_FOLLOWS, *_follows(lists)],
            [_REASONS, *_reasons(lists)],
            [_NAMED, *map(_named, named)],
            [_BEYOND, *(tuple(map(str, row.values())) for row in beyond)],
        )
        for number, table in enumerate(table for table in tables if len(table) > 1):
            if number:
                click.echo()
            print_table(table)


def _sync(one: Row) -> tuple[str, ...]:
    numbers = (str(one["wallets"]), str(one["failed"])) if one["job"] == "trades" else ("", "")
    ago = f"{_time(one['age_seconds'])} ago"
    last = ago if one["has_succeeded"] else f"never, first tried {ago}"
    under_way = ""
    if one["round_wallets"] is not None:
        under_way = f"{one['round_read']} of {one['round_wallets']} wallets, {one['round_trades']} trades"
    return (one["job"], one["blockchain"], last, *numbers, _time(one["delay_seconds"]), under_way)


def _nodes(lists: report.Report) -> Iterable[tuple[str, ...]]:
    newest = {one["blockchain"]: one for one in lists["blocks"]}
    for chain in dict.fromkeys(one["blockchain"] for one in lists["methods"]):
        block = newest.get(chain)
        place = (str(block["number"]), f"{_time(block['age_seconds'])} ago") if block else ("", "")
        calls = (
            f"{one['method']} {one['per_minute']:.1f}"
            for one in lists["methods"]
            if one["blockchain"] == chain
        )
        yield (chain, *place, ", ".join(calls))


def _follows(lists: report.Report) -> Iterable[tuple[str, ...]]:
    delays = {one["blockchain"]: one for one in lists["delays"]}
    for one in lists["follows"]:
        met = delays.get(one["blockchain"])
        within = ("", "") if met is None else (met["half_seconds"], met["nine_of_ten_seconds"])
        yield (
            *(one["blockchain"], one["method"], f"{one['followed']} of {one['wallets']}"),
            *("yes" if one["is_connected"] else "no", str(one["reconnects"]), str(one["gaps"])),
            *(part if isinstance(part, str) else f"{part:g} s" for part in within),
        )


def _reasons(lists: report.Report) -> Iterable[tuple[str, ...]]:
    for one in lists["left_out"]:
        if one["total"] or one["kept"]:
            numbers = (one["total"], one["last_round"], one["kept"])
            yield (one["blockchain"], one["reason"], *map(str, numbers))


def _named(row: Row) -> tuple[str, ...]:
    place = (row["blockchain"], row["wallet_address"], row["tx_signature"], shown_time(row["created_at"]))
    return (*place, "; ".join(_moved(row["blockchain"], trade) for trade in row["trades"]))


def _moved(blockchain: str, trade: Mapping[str, str]) -> str:
    value = (
        f"{trade['value']} {CHAINS[blockchain].currency}"
        if "value" in trade
        else f"{trade.get('value_usd', '?')} USD"
    )
    return f"{trade['transaction_type']} {trade['token_amount']} of {trade['mint']} for {value}"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else str(timedelta(seconds=round(seconds)))


@click.command("accept")
@click.argument("transaction", metavar="TX")
@click.argument("wallet")
def sync_accept(transaction: str, wallet: str) -> None:
    """Write what a named transaction TX moved as trades of WALLET: such as an order of it.

    'wallet-api sync status' names such transactions: a token left the wallet and money came, or the
    reverse, and nothing proves that the wallet agreed. An accepted one stays until its block disappears from
    the chain or 'wallet-api remove trades' takes it out; later readings leave it as it is.
    """
    with database() as connection:
        row, changed = accept(connection, transaction, wallet)
    click.echo(
        f"Accepted {row['tx_signature']} of {row['wallet_address']} on {row['blockchain']}: {changed} trades."
    )


@click.command("forget")
@click.argument("name", metavar="CHAIN|prices|tokens|quotes", type=click.Choice((*CHAINS, *_WHOLE)))
def sync_forget(name: str) -> None:
    """Forget a sync that is no longer run: the trades of a chain, prices, tokens or quotes.

    Its metrics, and so its alerts, end; all blocks of the chain count as final. The ledger stays. A sync that
    still runs comes back.
    """
    whole = _WHOLE.get(name)
    with database() as connection, connection.transaction():
        found = report.forget(connection, whole or "trades", None if whole else name)
        if not whole:
            forget_final(connection, [name])
    what = f"sync of {name}" if whole else f"sync of trades on {name}"
    click.echo(f"Forgot the {what}." if found else f"There is no {what}.")

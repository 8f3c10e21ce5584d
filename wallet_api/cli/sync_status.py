"""`wallet-api sync status`: when each chain was last synced, and what was left out."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from wallet_api.cli.environment import database
from wallet_api.cli.output import json_option, print_json, print_table, typed
from wallet_api.sync.delays import Delays, read_delays
from wallet_api.sync.follows import Follow, read_follows
from wallet_api.sync.heartbeats import Heartbeat, read_heartbeats
from wallet_api.sync.left_out import ReasonCount, read_reasons
from wallet_api.sync.nodes import MethodCount, NewestBlock, read_methods, read_newest_blocks

_SYNCS = ("SYNC", "CHAIN", "LAST SUCCESS", "WALLETS", "FAILED", "DELAY", "UNDER WAY")
_NODES = ("CHAIN", "NEWEST BLOCK", "OF", "CALLS A MINUTE")
_FOLLOWS = ("CHAIN", "FOLLOWED BY", "WALLETS", "CONNECTED", "RECONNECTS", "GAPS", "HALF IN", "9 OF 10 IN")
_REASONS = ("CHAIN", "REASON", "TOTAL", "LAST ROUND", "KEPT")


@click.command("status")
@json_option
def sync_status(as_json: bool) -> None:
    """Print by chain when its sync last succeeded, what failed, and what is left out and why.

    UNDER WAY is how far a round is that takes longer than a minute.

    DELAY is the median time from block to ledger in the last round with new trades; OF is the age of the
    newest block that was read. GAPS are wallets that were read since they were not followed for a time,
    HALF IN and 9 OF 10 IN the time from block to ledger of so many new trades, since ever. KEPT transactions
    are tried again at each start of a sync and once a day; no_trade counts what is no trade by a rule,
    unsigned what others did, which is tried again once and, after a week, expired, others what was read on
    Solana and only names its wallet, from_logs trades whose value comes from logs, since the node had no
    state, denied trades in tokens of TOKEN_DENYLIST, reorganised trades that were removed with their blocks.
    """
    with database() as connection:
        heartbeats = read_heartbeats(connection, datetime.now(UTC))
        reasons = read_reasons(connection)
        blocks = read_newest_blocks(connection, datetime.now(UTC))
        methods = read_methods(connection)
        follows = read_follows(connection, datetime.now(UTC))
        delays = {one.blockchain: one for one in read_delays(connection)}
    if as_json:
        print_json(
            {
                "syncs": [asdict(one) for one in heartbeats],
                "left_out": [asdict(one) for one in reasons],
                "blocks": [asdict(one) for one in blocks],
                "methods": [asdict(one) for one in methods],
                "follows": [asdict(one) for one in follows],
                "delays": [_quantiles(one) for one in delays.values()],
            }
        )
    elif not heartbeats and not reasons:
        click.echo(f"Nothing was synced yet. Run '{typed('sync trades')}' and '{typed('sync prices')}'.")
    else:
        print_table([_SYNCS, *(_sync(one) for one in heartbeats)])
        if methods:
            click.echo()
            print_table([_NODES, *_nodes(blocks, methods)])
        if follows:
            click.echo()
            print_table([_FOLLOWS, *(_follow(one, delays.get(one.blockchain)) for one in follows)])
        click.echo()
        print_table([_REASONS, *_counts(reasons)])


def _sync(one: Heartbeat) -> tuple[str, ...]:
    numbers = (str(one.wallets), str(one.failed)) if one.job == "trades" else ("", "")
    ago = f"{_time(one.age_seconds)} ago"
    last = ago if one.has_succeeded else f"never, first tried {ago}"
    under_way = ""
    if one.round_wallets is not None:
        under_way = f"{one.round_read} of {one.round_wallets} wallets, {one.round_trades} trades"
    return (one.job, one.blockchain, last, *numbers, _time(one.delay_seconds), under_way)


def _nodes(blocks: Sequence[NewestBlock], methods: Sequence[MethodCount]) -> Iterable[tuple[str, ...]]:
    newest = {block.blockchain: block for block in blocks}
    for chain in dict.fromkeys(one.blockchain for one in methods):
        block = newest.get(chain)
        place = (str(block.number), f"{_time(block.age_seconds)} ago") if block else ("", "")
        calls = (f"{one.method} {one.per_minute:.1f}" for one in methods if one.blockchain == chain)
        yield (chain, *place, ", ".join(calls))


def _follow(one: Follow, delays: Delays | None) -> tuple[str, ...]:
    within = ("", "") if delays is None else (delays.quantile(0.5), delays.quantile(0.9))
    return (
        *(one.blockchain, one.method, f"{one.followed} of {one.wallets}"),
        *("yes" if one.is_connected else "no", str(one.reconnects), str(one.gaps)),
        *(part if isinstance(part, str) else f"{part:g} s" for part in within),
    )


def _quantiles(delays: Delays) -> dict[str, Any]:
    trades, half, most = delays.buckets[-1][1], delays.quantile(0.5), delays.quantile(0.9)
    return {
        "blockchain": delays.blockchain,
        "trades": trades,
        "half_seconds": half,
        "nine_of_ten_seconds": most,
    }


def _counts(reasons: Iterable[ReasonCount]) -> Iterable[tuple[str, ...]]:
    for one in reasons:
        if one.total or one.kept:
            yield (one.blockchain, one.reason, str(one.total), str(one.last_round), str(one.kept))


def _time(seconds: float | None) -> str:
    return "" if seconds is None else str(timedelta(seconds=round(seconds)))

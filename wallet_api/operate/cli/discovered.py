"""What `wallet-api discover` prints and writes: the tokens, and the ranked wallets with their numbers."""

import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import orjson

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import without_zeros
from wallet_api.chain.discovery.launches import Launch
from wallet_api.chain.discovery.purse import Purse
from wallet_api.chain.discovery.search import Discovered, Ranking, Search
from wallet_api.operate.cli.output import print_table, typed

# Of these sums there are none: the trades have neither dollars nor fees.
_ABSENT = re.compile("usd|fees")
# Identifiers of the temporary tables.
_INNER = ("wallet_id", "token_id")
_HEAD = ("", "WALLET", "WON", "PROFIT", "UNBOUGHT", "BLOCK", "TOGETHER", "<1MIN", "HOLDS", "LEFT OUT")
# Of the wallets that bought together with one, so many are named by their ranks.
_NAMED = 2
_LEGEND = (
    "WON: tokens with a profit, of those in which it was among the first buyers.\n"
    "The order is by WON, then by PROFIT in {currency}, realized over all trades in the given tokens.\n"
    "UNBOUGHT: tokens of which it sold more than it had bought. BLOCK: tokens bought in their first block.\n"
    "TOGETHER: wallets of this list that bought the same tokens, each within 5 seconds of it.\n"
    "<1MIN: sells after less than a minute, of all. HOLDS: tokens that it still holds.\n"
    "LEFT OUT: transactions of it that could not be read as trades."
)


def found_document(
    chain: str, wanted: Search, found: Discovered, ranking: Ranking, purse: Purse, file: Path
) -> dict[str, Any]:
    """Return all that was found; amounts are texts with all their digits."""
    return {
        "chain": chain,
        "is_whole": found.is_whole,
        "requests": {"sent": purse.spent, "most": purse.most},
        "tokens": [_token(launch, wanted) for launch in found.launches],
        "candidates": len(found.candidates),
        "unread": len(found.unread),
        "wallets": [_wallet(place, row, found, ranking) for place, row in enumerate(ranking.wallets, 1)],
        "output": str(file),
    }


def _token(launch: Launch, wanted: Search) -> dict[str, Any]:
    token: dict[str, Any] = {
        "mint": launch.mint,
        "is_whole": launch.is_whole,
        "buyers": len(launch.buyers),
        "left_out": launch.left_out,
    }
    if launch.first_block is None:
        return token | {"why": launch.why}
    return token | {"beginning": {"block": launch.first_block, "is_given": launch.mint in wanted.since}}


def _wallet(place: int, row: Mapping[str, Any], found: Discovered, ranking: Ranking) -> dict[str, Any]:
    address = row["address"]
    tokens = []
    for launch in found.launches:
        position = ranking.positions.get((address, launch.mint))
        if position is None:
            continue
        is_placed = launch.first_block is not None and address in launch.buyers
        tokens.append(
            {
                "mint": launch.mint,
                "place": list(launch.buyers).index(address) + 1 if is_placed else None,
                "is_in_first_block": launch.is_in_first_block(address),
                **_sums(position),
                "is_held": position["is_held"],
            }
        )
    return {
        "rank": place,
        "address": address,
        **_sums(row),
        "in_first_block": sum(token["is_in_first_block"] for token in tokens),
        "together_with": ranking.joint.get(address, ()),
        "left_out": ranking.left_out[address],
        "of_tokens": tokens,
    }


def _sums(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return all sums of a row but those of dollars and fees; amounts are texts, counts are not."""
    return {
        name: int(number)
        if isinstance(number, int) or name.endswith("_txn")
        else without_zeros(f"{number:f}")
        for name, number in row.items()
        if isinstance(number, int | Decimal) and not (name in _INNER or _ABSENT.search(name))
    }


def print_found(document: Mapping[str, Any], descriptions: Iterable[str]) -> None:
    """Print what was found as tables; the descriptions are of its tokens."""
    for token, description in zip(document["tokens"], descriptions, strict=True):
        click.echo(f"{token['mint']}: {description}")
    wallets, requests, file = document["wallets"], document["requests"], document["output"]
    ranks = {wallet["address"]: wallet["rank"] for wallet in wallets}
    if wallets:
        click.echo()
        print_table(_fitting([_HEAD, *(_cells(wallet, ranks) for wallet in wallets)]))
        click.echo(f"\n{_LEGEND.format(currency=CHAINS[document['chain']].currency)}\n")
    click.echo(
        f"{len(wallets):,} wallets of {document['candidates']:,} candidates, with {requests['sent']:,}"
        f" requests of at most {requests['most']:,}: {file}"
    )
    if document["unread"]:
        click.echo(f"{document['unread']:,} candidates are not read yet: run the command again to go on.")
    if wallets:
        click.echo(f"Check the list, then: {typed(f'import wallets {file}')}")


def _fitting(table: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the table with short addresses where a terminal has no room for whole ones; FILE has these."""
    width = sum(2 + max(map(len, column)) for column in zip(*table, strict=True)) - 2
    if not sys.stdout.isatty() or width <= shutil.get_terminal_size().columns:
        return table
    head, *rows = table
    return [head, *((rank, f"{address[:4]}…{address[-4:]}", *cells) for rank, address, *cells in rows)]


def _cells(wallet: Mapping[str, Any], ranks: Mapping[str, int]) -> tuple[str, ...]:
    others = sorted(ranks[address] for address in wallet["together_with"])
    together = " ".join(f"#{rank}" for rank in others[:_NAMED])
    return (
        f"{wallet['rank']}",
        wallet["address"],
        f"{wallet['won']}/{wallet['early_in']}",
        f"{Decimal(wallet['realized']):.4f}",
        f"{wallet['sold_unbought']}",
        f"{wallet['in_first_block']}",
        f"{together} +{len(others) - _NAMED}" if len(others) > _NAMED else together or "0",
        f"{wallet['fast_txn']}/{wallet['covered_txn']}",
        f"{wallet['still_holding']}",
        f"{sum(wallet['left_out'].values())}",
    )


def write_wallets(file: Path, chain: str, type_: str, ranking: Ranking) -> None:
    """Write the wallets in their order, as `wallet-api import wallets` reads them."""
    rows = ({"blockchain": chain, "type": type_, "wallet_address": row["address"]} for row in ranking.wallets)
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))

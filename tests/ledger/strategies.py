"""Ledgers of every awkward kind, for Hypothesis: few wallets and tokens, many coincidences."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.ledger.mints import evm_mint_of, mint_of
from tests.ledger.rows import EVM
from wallet_api.base.periods import Bounds

Row = dict[str, Any]

SOLANA = (
    "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU",
    "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    "So11111111111111111111111111111111111111112",
)
# By name; the first two are one token on EVM chains.
MINTS = {"Mint": evm_mint_of("AB"), "mint": evm_mint_of("ab"), "Zed": evm_mint_of("cd")}
GROUPS = (("solana", "kol"), ("solana", "smart"), ("eth", "kol"))
SMALL = ("1", "2", "3", "7", "0.1", "0.5", "1000")
OPTIONAL = ("event_index", "token_name", "value_usd", "exchanged_value", "block", "block_index")
_HEALTH = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large)
# psycopg_pool's threads use the global random for each connection, also while a strategy draws.
_OF_THREADS = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def for_any(**drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that runs a test with LEDGER_EXAMPLES examples of what is drawn."""
    examples = settings(
        max_examples=int(os.environ.get("LEDGER_EXAMPLES", "8")),
        deadline=None,
        print_blob=True,
        suppress_health_check=_HEALTH,
    )
    return lambda test: _OF_THREADS(pytest.mark.timeout(1200)(examples(given(**drawn)(test))))


def wallets(*, second_type: str = "kol") -> list[Row]:
    """Four tracked wallets, two or three of them in one group."""
    types = ("kol", second_type, "smart")
    rows = [
        {"blockchain": "solana", "type": type, "wallet_address": address, "name": f"wallet of {type}"}
        for type, address in zip(types, SOLANA, strict=True)
    ]
    return [
        *rows,
        {"blockchain": "eth", "type": "kol", "wallet_address": EVM, "twitter": "https://x.com/evm"},
    ]


def amounts(*, zero: bool = False, decimals: int = 18) -> st.SearchStrategy[str]:
    """Decimal texts: mostly of a few small numbers, so that quantities meet, else of any length."""
    long = st.builds(
        lambda digits, places: format(Decimal(digits).scaleb(-places), "f"),
        st.integers(1, 10**13),
        st.sampled_from(range(decimals + 1)),
    )
    small = st.sampled_from((*SMALL, "0") if zero else SMALL)
    return st.one_of(small, small, long)


# Beside the edges of windows, periods and buckets, mostly at one.
NUDGES = (
    *[timedelta(0)] * 3,
    timedelta(microseconds=1),
    timedelta(microseconds=-1),
    timedelta(seconds=1),
    timedelta(minutes=-20),
    timedelta(minutes=2),
)


def edges(now: datetime) -> list[datetime]:
    """Times at which windows, periods and buckets begin and end."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [
        now,
        *(now - timedelta(seconds=seconds) for seconds in (1, 10, 60, 90, 3599, 3600, 7200)),
        *(now - timedelta(hours=hours) for hours in (6, 23, 24, 25)),
        *(now - timedelta(days=days) for days in (2, 7, 30, 31, 40, 400)),
        *(now.replace(minute=0, second=0, microsecond=0) - hours * HOUR for hours in (0, 1, 6)),
        *(midnight - days * DAY for days in (0, 1, 6, 29)),
        midnight.replace(day=1),
    ]


def moments(now: datetime) -> st.SearchStrategy[str]:
    """Times of trades: at and around the edges of windows, periods and buckets, often the same ones."""
    nudged = st.builds(lambda edge, nudge: edge + nudge, st.sampled_from(edges(now)), st.sampled_from(NUDGES))
    return nudged.map(_text)


def spans(now: datetime) -> st.SearchStrategy[Bounds]:
    """Windows that begin and end at and around the edges, or with the first trade, or now."""
    ahead = st.sampled_from([now + timedelta(minutes=minutes) for minutes in (1, 5)])
    nudged = st.builds(lambda edge, nudge: edge + nudge, st.sampled_from(edges(now)), st.sampled_from(NUDGES))
    ends = st.one_of(nudged, nudged, ahead)
    pairs = st.lists(ends, min_size=2, max_size=2, unique=True).map(sorted)
    return st.one_of(
        pairs.map(lambda pair: Bounds(*pair)),
        ends.map(lambda since: Bounds(since=since)),
        ends.map(lambda until: Bounds(until=until)),
    )


def profiles() -> st.SearchStrategy[list[Row]]:
    """A file of tracked wallets with any part of their profiles, each any number of times."""
    text = st.sampled_from([None, "", "a", "b"])
    names = [{name: row[name] for name in ("blockchain", "wallet_address")} for row in wallets()]
    profile = st.fixed_dictionaries({}, optional={"name": text, "twitter": text, "telegram": text})
    rows = st.builds(lambda wallet, given: wallet | {"type": "kol"} | given, st.sampled_from(names), profile)
    return st.lists(rows, min_size=1, max_size=6)


def trades(now: datetime) -> st.SearchStrategy[Row]:
    """One trade of one of the wallets; its optional fields are given, empty, or left out."""
    empty = st.sampled_from([None, ""])
    fields = st.fixed_dictionaries(
        {
            "tx_signature": st.sampled_from(["a", "B", "é", "Ä", *(f"s{n}" for n in range(12))]),
            "transaction_type": st.sampled_from(["buy", "buy", "sell"]),
            "token_amount": amounts(),
            "value": amounts(zero=True),
            "created_at": moments(now),
        },
        optional={
            "event_index": st.sampled_from([0, 0, "0", 1, "", None]),
            "token_name": st.sampled_from(["Some Coin", "Other Coin", "", None]),
            "value_usd": empty | amounts(zero=True, decimals=6),
            "exchanged_value": empty | amounts(zero=True),
            "block": empty | st.sampled_from([0, 7, "7.0", 8]),
            "block_index": st.sampled_from(["", None, 0, 1, "1", "2.0"]),
        },
    ).map(_with_block)
    wallet = st.sampled_from(
        [*(("solana", address) for address in SOLANA), ("eth", EVM), ("eth", EVM.lower())]
    )
    return st.builds(_trade, wallet, st.sampled_from(list(MINTS)), fields)


def prices(now: datetime) -> st.SearchStrategy[Row]:
    """The price of a native coin at a moment."""
    return st.builds(
        lambda currency, usd, at: {"currency": currency, "usd": usd, "priced_at": at},
        st.sampled_from(["SOL", "SOL", "ETH"]),
        amounts(decimals=8),
        moments(now),
    )


def quotes(now: datetime) -> st.SearchStrategy[Row]:
    """A quote of a token, before the last half hour, of a minute of its own for each time."""
    minutes = (31, 32, 40, 41, 42, 51, 59, 60, 61, 90, 91, 119, 125, 1439, 1440, 1441, 1475, 1500)
    token = st.sampled_from([(chain, mint_on(chain, name)) for chain in ("solana", "eth") for name in MINTS])
    return st.builds(
        lambda token, usd, ago, liquidity: {
            "blockchain": token[0],
            "mint": token[1],
            "usd": usd,
            "priced_at": _text(now - timedelta(minutes=ago)),
            "liquidity_usd": liquidity,
        },
        token,
        amounts(decimals=8) | st.sampled_from(["10", "11", "12", "12.1", "100", "101", "1000"]),
        st.sampled_from(minutes),
        st.sampled_from([None, "999.9999", "1000", "20581.123456"]),
    )


def quote_key(row: Row) -> tuple[str, str, str]:
    """What makes two rows quotes of one token at one time."""
    return (row["blockchain"], row["mint"].lower(), row["priced_at"])


def mint_on(blockchain: str, name: str) -> str:
    """The mint of a name in MINTS as a file has it."""
    return MINTS[name] if blockchain == "eth" else mint_of(name)


def stored_mints(blockchain: str) -> list[str]:
    """All mints of a chain as the ledger has them, and one that nobody traded."""
    mints = [*(mint_on(blockchain, name) for name in MINTS), "never traded"]
    return [mint.lower() for mint in mints] if blockchain == "eth" else mints


def whole(row: Row) -> Row:
    """The row with all fields: none of them is as the ledger has it."""
    return dict.fromkeys(OPTIONAL) | row


def distinct(
    rows: st.SearchStrategy[Row], key: Callable[[Row], Any], most: int
) -> st.SearchStrategy[list[Row]]:
    """A list of rows no two of which are the same thing."""
    return st.lists(rows, unique_by=key, max_size=most)


def trade_key(row: Row) -> tuple[Any, ...]:
    """What makes two rows one trade."""
    folded = str if row["blockchain"] == "solana" else str.lower
    index = int(row.get("event_index") or 0)
    names = (folded(row["wallet_address"]), folded(row["mint"]), row["tx_signature"], row["transaction_type"])
    return (row["blockchain"], *names, index)


def price_key(row: Row) -> tuple[str, str]:
    """What makes two rows one price."""
    return (row["currency"], row["priced_at"])


def _trade(wallet: tuple[str, str], mint: str, fields: Row) -> Row:
    blockchain, address = wallet
    return {"blockchain": blockchain, "wallet_address": address, "mint": mint_on(blockchain, mint)} | fields


def _with_block(fields: Row) -> Row:
    """Leave out the place in a block that is not there: an import would reject the row."""
    if fields.get("block") in (None, ""):
        fields = {name: value for name, value in fields.items() if name != "block_index"}
    return fields


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

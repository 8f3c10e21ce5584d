"""Import quotes of tokens: what a provider or a file says that they cost on markets."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

from wallet_api.base.forms import BadRow
from wallet_api.database import Connection, load_statements, locks
from wallet_api.database.migrations import hold_tables
from wallet_api.ledger.files.lines import Record, Reject
from wallet_api.ledger.files.rows import QuoteRow, good
from wallet_api.ledger.imports import Summary, reject_repeated
from wallet_api.ledger.quote_verdicts import Judge, MarketQuote, NotUsed, Price
from wallet_api.ledger.tokens import find_tokens

# The last quote of each minute is kept for the first time, that of each hour for the second.
MINUTES_KEPT = timedelta(days=2)
HOURS_KEPT = timedelta(days=90)
# Rows of a file whose tokens are looked up together, and quotes that are judged in one transaction.
_ROWS_TOGETHER = 10_000
_QUOTES_TOGETHER = 20_000

_QUOTES = load_statements(__package__, "quotes")
_COPY = "COPY incoming_quotes (line_number, line, token_id, quoted_at, usd, liquidity_usd) FROM STDIN"
_LOCK = "SELECT pg_advisory_xact_lock(%(lock)s)"


class QuoteRule(NamedTuple):
    """Which quotes make prices: those of markets that hold at least this, beside trades of at least this."""

    min_liquidity_usd: Decimal = Decimal(1000)
    min_value_usd: Decimal = Decimal(1)


class StagedQuote(NamedTuple):
    """A quote of a token by its id. Without `usd` the provider had no price."""

    token_id: int
    at: datetime
    usd: Decimal | None
    liquidity_usd: Decimal | None


def import_quotes(
    connection: Connection, records: Iterator[Record[QuoteRow]], reject: Reject, rule: QuoteRule
) -> Summary:
    """Import the quotes of a file, some tokens at a time, each in a transaction.

    A quote of a token that no tracked wallet traded is rejected, and one that is too old to be kept.
    """
    now = datetime.now(UTC)
    summary = Summary()
    _prepare(connection)
    while part := list(islice(records, _ROWS_TOGETHER)):
        _stage(connection, part, now, reject, summary)
    reject_repeated(connection, _QUOTES, ("token_id", "quoted_at"), reject, summary)
    for token_ids in _shares(connection):
        with connection.transaction():
            changed, verdicts = _judge(connection, token_ids, now, rule)
        summary.changed += changed
        summary.not_used += verdicts
    purge_quotes(connection, now)
    return summary


def keep_quotes(
    connection: Connection, asked_at: datetime, quotes: Sequence[StagedQuote], rule: QuoteRule
) -> Counter[str]:
    """Keep what a provider has quoted of tokens that it was asked for, in one transaction.

    Return how many quotes are not used, by reason.
    """
    _prepare(connection)
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for number, quote in enumerate(quotes):
            copy.write_row((number, b"", *quote))
    token_ids = [quote.token_id for quote in quotes]
    with connection.transaction():
        _, verdicts = _judge(connection, token_ids, datetime.now(UTC), rule)
        connection.execute(_QUOTES["asked"], {"token_ids": token_ids, "asked_at": asked_at})
    return verdicts


def purge_quotes(connection: Connection, now: datetime) -> None:
    """Remove the quotes that are no longer kept."""
    with connection.transaction():
        _lock(connection)
        for name in ("purge", "purge_newest"):
            connection.execute(_QUOTES[name], _kept_since(now))


def _prepare(connection: Connection) -> None:
    connection.execute(_QUOTES["staging"])
    connection.execute(_QUOTES["clear"])


def _lock(connection: Connection) -> None:
    hold_tables(connection)
    connection.execute(_LOCK, {"lock": locks.QUOTES})


def _kept_since(now: datetime) -> dict[str, datetime]:
    return {"minutes_since": now - MINUTES_KEPT, "hours_since": now - HOURS_KEPT}


def _stage(
    connection: Connection,
    records: Sequence[Record[QuoteRow]],
    now: datetime,
    reject: Reject,
    summary: Summary,
) -> None:
    """Copy the good rows, and count them and the rejected ones."""
    checked: list[tuple[int, bytes, QuoteRow, tuple[datetime, str, str | None]]] = []
    for number, line, row in records:
        try:
            columns = good(row).check(now)
            if columns[0] < now - HOURS_KEPT:
                raise BadRow(f"priced_at is more than {HOURS_KEPT.days} days ago: quotes are not kept longer")
            checked.append((number, line, good(row), columns))
        except BadRow as fault:
            reject(number, line, fault)
            summary.rejected += 1
    token_ids = find_tokens(connection, list({(row.blockchain, row.mint) for _, _, row, _ in checked}))
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        for number, line, row, columns in checked:
            token_id = token_ids.get((row.blockchain, row.mint))
            if token_id is None:
                reject(number, line, BadRow("no tracked wallet ever traded this token"))
                summary.rejected += 1
            else:
                copy.write_row((number, line, token_id, *columns))
                summary.landed += 1


def _shares(connection: Connection) -> Iterator[list[int]]:
    """Yield the tokens in parts of about so many quotes as are judged together."""
    share: list[int] = []
    size = 0
    for row in connection.execute(_QUOTES["sizes"]).fetchall():
        share.append(row["token_id"])
        size += row["quotes"]
        if size >= _QUOTES_TOGETHER:
            yield share
            share, size = [], 0
    if share:
        yield share


def _judge(
    connection: Connection, token_ids: Sequence[int], now: datetime, rule: QuoteRule
) -> tuple[int, Counter[str]]:
    """Decide about the staged quotes of some tokens and keep them. Return changes, and what is not used."""
    _lock(connection)
    parameters = {"token_ids": list(token_ids), "price_min_usd": rule.min_value_usd}
    quotes = [
        MarketQuote(
            *(row["token_id"], row["quoted_at"], row["usd"], row["liquidity_usd"], row["price"]),
            None if row["trade_price"] is None else Price(row["traded_at"], row["trade_price"]),
        )
        for row in connection.execute(_QUOTES["incoming"], parameters)
    ]
    known = {
        token_id: [(row["is_far"], Price(row["quoted_at"], row["price"])) for row in rows]
        for token_id, rows in groupby(
            connection.execute(_QUOTES["known"], parameters).fetchall(), lambda row: row["token_id"]
        )
    }
    verdicts: list[NotUsed | None] = []
    for token_id, of_token in groupby(quotes, attrgetter("token_id")):
        verdicts += _verdicts(list(of_token), known.get(token_id, []), rule)
    columns = {
        "token_ids": [quote.token_id for quote in quotes],
        "times": [quote.at for quote in quotes],
        "usd": [quote.usd for quote in quotes],
        "prices": [quote.price for quote in quotes],
        "liquidity_usd": [quote.liquidity_usd for quote in quotes],
        "not_used": verdicts,
        **_kept_since(now),
    }
    changed = connection.execute(_QUOTES["keep"], columns).fetchall()
    for name in ("withdrawn", "newest"):
        connection.execute(_QUOTES[name], columns)
    return sum(row["hour"] for row in changed), Counter(word for word in verdicts if word is not None)


def _verdicts(
    quotes: Sequence[MarketQuote], known: Sequence[tuple[bool, Price]], rule: QuoteRule
) -> Iterator[NotUsed | None]:
    """Yield the verdicts about the quotes of a token, which come in the order of time."""
    judge = Judge(rule.min_liquidity_usd)
    stored = sorted(known, key=lambda each: each[1].at)
    place = 0
    for quote in quotes:
        while place < len(stored) and stored[place][1].at < quote.at:
            is_far, price = stored[place]
            judge.remember(price, is_far=is_far)
            place += 1
        yield judge.verdict(quote)

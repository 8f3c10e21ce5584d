"""Compute every figure from the input rows alone, with exact fractions, as a reference for tests.

Written from the definitions in docs/figures.md, without SQL and without code of the service.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from itertools import product
from typing import Any

from tests.naive.analytics import flows_of, trend_of
from tests.naive.calendar import calendar_of
from tests.naive.charts import chart_of, times_of
from tests.naive.connections import connections_of
from tests.naive.copies import Copier, Terms, copy_of
from tests.naive.luck import luck_of
from tests.naive.outcomes import SPANS, base_of, first_price, outcome_of, summary_of
from tests.naive.prices import (
    DAY,
    USUAL,
    Priced,
    Quote,
    Rule,
    block_of,
    judged,
    price_of,
    price_trade,
    shown_gain,
    unrealized,
)
from tests.naive.signals import Question, signals_of
from tests.naive.sums import (
    TOTALS,
    Part,
    Period,
    distribution,
    fees,
    held,
    holding,
    open_cost,
    open_costs,
    part_of,
    period_distribution,
    picked,
    sale,
    span_of,
    stated,
    stuck,
    sums,
    value,
)
from tests.naive.tokens import holders_of, sorted_by, stats_of
from tests.naive.tracker import tracker_of
from tests.naive.walk import (
    File,
    Position,
    Row,
    Trade,
    Usd,
    Wallet,
    folded,
    percentage,
    shown,
    shown_price,
    shown_time,
    stated_of,
    time_of,
    trade_of,
    walk,
)

CURRENCY = {"solana": "SOL", "bnb": "BNB", "base": "ETH", "eth": "ETH", "rh": "ETH"}
HOUR = timedelta(hours=1)
# What a token of a wallet has, and not that of its history.
_OF_HELD = ("price", "price_source", "worth", "worth_usd")


def _once(read: Callable[..., Any]) -> Callable[..., Any]:
    """Compute what a method of a ledger returns once, until its rows change: many figures have it."""

    @wraps(read)
    def keeping(ledger: "Ledger", *question: Any) -> Any:
        key = (read, *question)
        if key not in ledger.computed:
            ledger.computed[key] = read(ledger, *question)
        return ledger.computed[key]

    return keeping


class Ledger:
    """The rows imported so far, in their order."""

    def __init__(self) -> None:
        self.wallets: dict[Wallet, Row] = {}
        self.trades: dict[tuple[Any, ...], Trade] = {}
        self.prices: dict[tuple[str, datetime], Fraction] = {}
        self.price_rule: Rule = USUAL
        # Of each token by chain and mint.
        self.quotes: dict[tuple[str, str], list[Quote]] = {}
        self.computed: dict[tuple[Any, ...], Any] = {}

    def add_wallets(self, rows: Iterable[Row]) -> None:
        """Track wallets, or update the profile fields that a row has."""
        self.computed.clear()
        file = File()
        for row in rows:
            address = folded(row["blockchain"], row["wallet_address"])
            stated = {name: value or "" for name, value in row.items() if name != "wallet_address"}
            if not file.accepts((row["blockchain"], address), stated):
                continue
            known = self.wallets.get((row["blockchain"], address), {})
            self.wallets[row["blockchain"], address] = known | row | {"wallet_address": address}

    def add_trades(self, rows: Iterable[Row]) -> None:
        """Add the rows of a trades file. A derived USD value is kept while value and time are the same."""
        self.computed.clear()
        file = File()
        for row in rows:
            trade = trade_of(row, self.trades.get)
            if not file.accepts(trade.identity, stated_of(trade, row)):
                continue
            known = self.trades.get(trade.identity)
            if known is not None and known.derives_the_same_as(trade):
                self.trades[trade.identity] = replace(trade, usd=known.usd)
            else:
                self.trades[trade.identity] = self._valued(trade)

    def add_prices(self, rows: Iterable[Row]) -> None:
        """Add the rows of a prices file, and value the trades without a USD value."""
        self.computed.clear()
        file = File()
        for row in rows:
            key, usd = (row["currency"], time_of(row["priced_at"])), Fraction(str(row["usd"]))
            if file.accepts(key, {"usd": usd}):
                self.prices[key] = usd
        for identity, trade in self.trades.items():
            if trade.usd is None:
                self.trades[identity] = self._valued(trade)

    def add_quotes(self, rows: Iterable[Row], least_liquidity: Fraction = Fraction(1000)) -> None:
        """Add the rows of a file of quotes, none of a time that is known, and decide which are used."""
        self.computed.clear()
        for row in sorted(rows, key=lambda row: time_of(row["priced_at"])):
            blockchain, at, usd = row["blockchain"], time_of(row["priced_at"]), Fraction(row["usd"])
            place = (blockchain, folded(blockchain, row["mint"]))
            if not self._of_token(*place):
                continue
            liquidity = Fraction(row["liquidity_usd"]) if row.get("liquidity_usd") else None
            native = self._native_near(CURRENCY[blockchain], at)
            quote = Quote(at, usd, liquidity, None if native is None else usd / native)

            def usd_of(trade: Trade, native: Usd = native) -> Usd:
                return trade.usd if native is None or trade.usd is not None else trade.value * native

            trade = price_trade(at, (Fraction(1), DAY), self._of_token(*place), usd_of)
            traded = None if trade is None else Priced(trade.traded / trade.amount, trade.at)
            known = self.quotes.setdefault(place, [])
            known.append(judged(quote, known, traded, least_liquidity))

    def token(self, now: datetime, blockchain: str, mint: str, *, is_past: bool = False) -> Row | None:
        """Return the name and the price of a token, None if nobody traded it."""
        traded = self._of_token(blockchain, mint)
        priced = self._priced(now, blockchain, mint, is_past=is_past)
        return block_of(traded, priced, self._native_price(blockchain, now)) if traded else None

    def token_prices(self, now: datetime, blockchain: str, mints: Sequence[str]) -> list[Row]:
        """Return what is known of each token, with nothing from nodes."""
        names = ("price", "price_usd", "price_at", "price_source", "liquidity_usd")
        of_nodes = dict.fromkeys(("symbol", "token_decimals", "token_supply", "market_cap", "market_cap_usd"))
        unknown = {"token_name": "", **dict.fromkeys(names)}
        last: Rule = (self.price_rule[0], timedelta.max)

        def row(mint: str) -> Row:
            token = self.token(now, blockchain, mint, is_past=True)
            newest = self._priced(now, blockchain, mint, last, is_past=True)
            return {
                "mint": mint,
                "found": token is not None,
                **of_nodes,
                **(token or unknown),
                "last_price": None if newest is None else shown_price(newest.value),
                "last_price_at": None if newest is None else shown_time(newest.at),
            }

        return [row(mint) for mint in mints]

    def holdings_worth(
        self, now: datetime, blockchain: str, balances: Sequence[tuple[str, str]]
    ) -> dict[int, Row]:
        """Return by their places what balances of mints are worth, of those with a price."""
        native = max(self._native_prices(blockchain, now), default=None)
        found: dict[int, Row] = {}
        for place, (mint, amount) in enumerate(balances):
            if mint == "native":
                priced = None if native is None else Priced(Fraction(1), native[0], "")
            else:
                priced = self._priced(now, blockchain, mint)
            if priced is not None:
                worth = Fraction(amount) * priced.value
                found[place] = {
                    "price": shown_price(priced.value),
                    "price_at": shown_time(priced.at),
                    "price_source": priced.source or None,
                    "worth": shown(worth, 9),
                    "worth_usd": None if native is None else shown(worth * (native[1] or 0), 4),
                }
        return found

    def native_price(self, now: datetime, blockchain: str) -> Row:
        """Return the latest price of the native coin in USD, and its time."""
        at, usd = max(self._native_prices(blockchain, now), default=(None, None))
        return {
            "native_price_usd": None if usd is None else shown(usd, 18),
            "native_price_at": None if at is None else shown_time(at),
        }

    def history(self, now: datetime, blockchain: str, address: str) -> Row:
        """Return the history of a wallet, with all trades on one page."""
        positions = self._positions((blockchain, address))
        gains = self._unrealized(now, blockchain, positions)
        usd_of = self._usd_of(blockchain, now)
        worth = [gain for mint, gain in gains.items() if positions[mint].quantity and gain is not None]
        native = self._native_price(blockchain, now)
        currency = CURRENCY[blockchain]
        closed = [position for position in positions.values() if position.closed]
        won = [position for position in closed if position.realized > 0]
        sold = [position for position in positions.values() if position.sales]
        gained = [position for position in sold if position.realized > 0]
        priced = [mint for mint, gain in gains.items() if positions[mint].still_holding and gain is not None]
        return {
            "profile": self._profile((blockchain, address)),
            "lifetime_stats": {
                "currency": currency,
                **self.native_price(now, blockchain),
                **picked(
                    sums(part_of(positions.values()), usd_of),
                    *("buy", "buy_usd", "sell", "sell_usd", "realized_pnl", "realized_pnl_usd"),
                    *("realized_pnl_percentage", "sold_without_cost", "fees", "fees_unknown_txn"),
                    *("buy_txn", "sell_txn", "largest_buy", "best_trade_pnl", "worst_trade_pnl"),
                    total_tx_count="total_txn",
                ),
                "win_rate": percentage(Fraction(len(won)), Fraction(len(closed))),
                "win_count": len(won),
                "total_sold": len(closed),
                "sold_win_rate": percentage(Fraction(len(gained)), Fraction(len(sold))),
                "sold_win_count": len(gained),
                "sold_count": len(sold),
                "active_tokens_count": len(positions),
                "still_holding_count": sum(position.still_holding for position in positions.values()),
                **({"unrealized_pnl": shown(sum(worth, Fraction(0)), 9)} if worth else {}),
                **(
                    {"unrealized_pnl_usd": shown(sum(worth, Fraction(0)) * native, 4)}
                    if worth and native is not None
                    else {}
                ),
                "priced_tokens_count": len(priced),
                **stuck(positions, gains),
            },
            "win_rate_distribution": distribution([(p.realized, p.cost) for p in closed]),
            "token_overview": [
                {name: figure for name, figure in row.items() if name not in _OF_HELD}
                for row in self.wallet_tokens(now, blockchain, address)
            ],
            "trades": [
                {
                    "tx_signature": trade.signature,
                    "mint": trade.mint,
                    "symbol": None,
                    "token_name": trade.name or positions[trade.mint].name,
                    "transaction_type": "sell" if trade.is_sell else "buy",
                    "value": shown(trade.value, 9),
                    **({} if trade.usd is None else {"value_usd": shown(trade.usd, 4)}),
                    "currency": currency,
                    "token_amount": shown(trade.amount, 18),
                    "created_at": shown_time(trade.at),
                    "event_index": trade.index,
                    **trade.place,
                    **sale(positions[trade.mint].sale_of(trade)),
                    **fees(trade),
                }
                for trade in self._newest_first((blockchain, address))
            ],
        }

    def wallet_tokens(
        self,
        now: datetime,
        blockchain: str,
        address: str,
        sort: str = "last_seen",
        order: str = "desc",
        still_holding: bool | None = None,
    ) -> list[Row]:
        """Return the record of a wallet in each token by a figure, unknown ones last, ties by mint."""
        positions = self._positions((blockchain, address))
        gains = self._unrealized(now, blockchain, positions)

        def figure(mint: str) -> Any:
            position = positions[mint]
            gain = gains[mint]
            return {
                "last_seen": position.trades[-1].at,
                "realized_pnl": shown(position.realized, 9),
                "unrealized_pnl": None if gain is None else shown(gain, 9),
                "invested": shown(sum((t.value for t in position.trades if not t.is_sell), Fraction(0)), 9),
                "open_cost": open_cost([position]),
                "token_amount": shown(position.quantity, 18),
            }[sort]

        wanted = [
            mint
            for mint, position in sorted(positions.items())
            if still_holding in (None, position.still_holding)
        ]
        known = [mint for mint in wanted if figure(mint) is not None]
        # Ties stay in their order.
        known.sort(key=figure, reverse=order == "desc")
        unknown = [mint for mint in wanted if figure(mint) is None]
        return [self._wallet_token(now, (blockchain, address), mint) for mint in (*known, *unknown)]

    @_once
    def _wallet_token(self, now: datetime, wallet: Wallet, mint: str) -> Row:
        blockchain, position = wallet[0], self._positions(wallet)[mint]
        gains = self._unrealized(now, blockchain, {mint: position})
        gain = shown_gain(position, gains[mint], self._native_price(blockchain, now))
        return {
            "mint": mint,
            "symbol": None,
            "token_name": position.name,
            **picked(
                sums(part_of([position]), self._usd_of(blockchain, now)),
                *("realized_pnl", "realized_pnl_usd", "realized_pnl_percentage", "buy_txn", "sell_txn"),
                *("sold_without_cost", "tokens_sold_without_cost"),
                invested="buy",
                invested_usd="buy_usd",
                sold="sell",
                sold_usd="sell_usd",
            ),
            "currency": CURRENCY[blockchain],
            "first_seen": shown_time(position.trades[0].at),
            "last_seen": shown_time(position.trades[-1].at),
            "still_holding": position.still_holding,
            **{name: figure for name, figure in gain.items() if figure is not None},
            **self._worth(now, blockchain, mint, position),
            **held(position),
        }

    @_once
    def holdings(self, blockchain: str, address: str) -> dict[tuple[Any, ...], tuple[Fraction, Fraction]]:
        """Quantity and peak after each trade of a wallet, by what identifies the trade."""
        return {
            (trade.mint, trade.signature, trade.is_sell, trade.index): holding
            for position in self._positions((blockchain, address)).values()
            for trade, holding in zip(position.trades, position.holdings, strict=True)
        }

    def calendar(self, now: datetime, blockchain: str, address: str, window: Period | None = None) -> Row:
        """Return the calendar of a wallet."""
        wallet = (blockchain, address)
        positions = list(self._positions(wallet).values())
        times = [trade.at for trade in self._newest_first(wallet)]
        return {
            **({} if window is None else stated(*span_of(now, window, times))),
            "wallet": address,
            "profile": self._whole_profile(wallet),
            **calendar_of(now, positions, self._usd_of(blockchain, now), window),
        }

    def tracker(self, now: datetime, blockchain: str, address: str, period: Period) -> Row:
        """Return the record of a wallet in a period or a window."""
        wallet = (blockchain, address)
        positions = self._positions(wallet)
        record = tracker_of(
            now,
            period,
            self._newest_first(wallet),
            positions,
            self._unrealized(now, blockchain, positions),
            self._usd_of(blockchain, now),
            self._native_price(blockchain, now),
            CURRENCY[blockchain],
        )
        profile = self._whole_profile(wallet) | {
            **self.native_price(now, blockchain),
            "active_hours": record.pop("active_hours"),
        }
        return {"wallet": address, "profile": profile, **record}

    def copy(
        self, now: datetime, blockchain: str, address: str, window: Period, terms: Terms | None = None
    ) -> Row:
        """Return what a copier of a wallet would have got in a window."""
        wallet, usd_of = (blockchain, address), self._usd_of(blockchain, now)
        since, until = span_of(now, window, [trade.at for trade in self._newest_first(wallet)])

        def first(mint: str, start: datetime, end: datetime) -> Priced | None:
            others = [trade for trade in self._of_token(blockchain, mint) if trade.wallet != wallet]
            quotes = self.quotes.get((blockchain, mint), [])
            least = self.price_rule[0]
            return first_price(start, end, others, quotes, least, lambda trade, _: usd_of(trade))

        return {
            **stated(since, until),
            **copy_of(
                Copier(now, since, until, first),
                self._positions(wallet).values(),
                terms or Terms(),
                lambda mint: self._priced(now, blockchain, mint),
            ),
        }

    def connections(self, now: datetime, blockchain: str, address: str) -> Row:
        """Return the connections of a wallet, all of them."""
        wallet = (blockchain, address)
        profiles = {wallet: self._whole_profile(wallet) for wallet in self.wallets}
        names = {
            wallet: {mint: position.name for mint, position in self._positions(wallet).items()}
            for wallet in self.wallets
        }
        return {
            "wallet_address": address,
            "blockchain": blockchain,
            "type": self.wallets[wallet]["type"],
            "period": "30d",
            **connections_of(now, wallet, list(self.trades.values()), profiles, names),
        }

    def latest(
        self,
        now: datetime,
        blockchain: str,
        type: str,
        mint: str | None = None,
        window: Period | None = None,
    ) -> list[Row]:
        """Return all trades of a group, or those of a window, newest first, as the feed shows them."""
        of_mint = [t for t in self._of_type(blockchain, type) if mint in (None, t.mint)]
        return self._feed(now, _within(now, window, of_mint))

    def token_transactions(
        self, now: datetime, blockchain: str, mint: str, type: str | None, window: Period | None = None
    ) -> list[Row]:
        """Return all trades in a token of one type or of all, or those of a window, newest first."""
        of_type = [
            t for t in _within(now, window, self._of_token(blockchain, mint)) if self._is_of(t.wallet, type)
        ]
        left_out = ("symbol", "token_name", "token_supply", "token_decimals")
        return [
            {name: value for name, value in row.items() if name not in left_out}
            for row in self._feed(now, of_type)
        ]

    def token_stats(self, now: datetime, blockchain: str, mint: str, type: str | None) -> Row | None:
        """Return the stats of a token but for the token itself, None if nobody traded it."""
        if not self._of_token(blockchain, mint):
            return None
        return stats_of(
            now,
            self._traders(blockchain, mint, type),
            {wallet: self._whole_profile(wallet) for wallet in self.wallets},
            self._usd_of(blockchain, now),
            self._priced(now, blockchain, mint),
            self._native_price(blockchain, now),
        )

    def token_order(
        self, now: datetime, blockchain: str, mint: str, sort: str, order: str, still_holding: bool | None
    ) -> list[str]:
        """Return the addresses of the traders of a token by a figure, of those that hold it or do not."""
        traders = {
            wallet: position
            for wallet, position in self._traders(blockchain, mint, None).items()
            if still_holding in (None, position.still_holding)
        }
        priced = self._priced(now, blockchain, mint)
        return [address for _, address in sorted_by(sort, traders, priced, ascending=order == "asc")]

    def token_holders(self, now: datetime, blockchain: str, mint: str, type: str | None) -> Row | None:
        """Return all holders of a token but for the token itself, None if nobody traded it."""
        if not self._of_token(blockchain, mint):
            return None
        profiles = {wallet: self._whole_profile(wallet) for wallet in self.wallets}
        return holders_of(self._traders(blockchain, mint, type), profiles)

    def timerange(
        self, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None
    ) -> list[Row]:
        """Return the trades of a group within `seconds` up to `now`, newest first."""
        return self._feed(now, self._of_window(now, blockchain, type, seconds, mint))

    def count(
        self, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None
    ) -> tuple[int, int]:
        """Return the number of a group's trades within `seconds` up to `now`, and of their wallets."""
        traded = self._of_window(now, blockchain, type, seconds, mint)
        return len(traded), len({trade.wallet for trade in traded})

    def volume(self, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None = None) -> Row:
        """Return the two totals of a group's trades within `seconds` up to `now`."""
        traded = self._of_window(now, blockchain, type, seconds, mint)
        own = sums(Part(traded, [], []), self._usd_of(blockchain, now))
        return {"volume_usd": None, **picked(own, "volume", "volume_usd")}

    def leaderboard(
        self,
        now: datetime,
        blockchain: str,
        type: str,
        period: Period,
        sort: str = "total_volume",
        order: str = "desc",
        filters: tuple[tuple[str, Decimal], ...] = (),
    ) -> list[Row]:
        """Return the entries of a group's leaderboard in the order of a figure as it is shown."""
        since, until = self._span(now, blockchain, type, period)
        wallets = {trade.wallet for trade in self._of_group(blockchain, type, since, until)}
        entries = [self._entry(wallet, type, since, until, now) for wallet in wallets]
        entries = [
            entry for entry in entries if all(self._passes(blockchain, entry, *bound) for bound in filters)
        ]
        entries.sort(key=lambda entry: entry["wallet"].encode())
        unknown = [entry for entry in entries if _sort_figure(entry, sort) is None]
        known = [entry for entry in entries if _sort_figure(entry, sort) is not None]
        known.sort(key=lambda entry: _sort_figure(entry, sort), reverse=order == "desc")
        return [entry | {"rank": rank} for rank, entry in enumerate([*known, *unknown], 1)]

    def leaderboard_charts(self, now: datetime, blockchain: str, type: str, period: Period) -> dict[str, Row]:
        """Return the chart of each entry of a group's leaderboard, by its wallet."""
        since, until = self._span(now, blockchain, type, period)
        step, times = times_of(since, until, is_all=period == "all")
        sales = {
            wallet: part_of(self._positions(wallet).values(), since, until).sales
            for wallet in {trade.wallet for trade in self._of_group(blockchain, type, since, until)}
        }
        return {wallet[1]: chart_of(until, step, times, own) for wallet, own in sales.items()}

    def analytics(self, now: datetime, blockchain: str, type: str, period: Period) -> list[Row]:
        """Return the tokens that a group traded in a period or a window, those of most wallets first."""
        since, until = self._span(now, blockchain, type, period)
        by_mint: dict[str, list[Trade]] = {}
        for trade in self._of_group(blockchain, type, since, until):
            by_mint.setdefault(trade.mint, []).append(trade)
        rows = [self._traded_token(now, since, until, blockchain, trades) for trades in by_mint.values()]
        rows.sort(key=lambda row: row["mint"].encode())
        return sorted(rows, key=lambda row: (row["wallet_count"], row["volume"]), reverse=True)

    def net_flow(
        self,
        now: datetime,
        blockchain: str,
        type: str,
        period: str,
        sort: str | None = None,
        order: str = "desc",
    ) -> list[Row]:
        """Return the flows of the tokens that a group traded in a period, the largest first by default."""
        by_mint: dict[str, list[Trade]] = {}
        for trade in self._of_type(blockchain, type):
            by_mint.setdefault(trade.mint, []).append(trade)
        rows = []
        for mint, trades in by_mint.items():
            windows = flows_of(now, trades, self._usd_of(blockchain, now))
            token = self.token(now, blockchain, mint)
            assert token is not None
            if windows[period]["wallet_count"]:
                name = token["token_name"]
                rows.append({"mint": mint, "symbol": None, "token_name": name, "windows": windows})
        rows.sort(key=lambda row: row["mint"].encode())
        figure = sort or "net_flow"
        sizes = abs if sort is None else Decimal
        rows.sort(key=lambda row: sizes(row["windows"][period][figure]), reverse=order == "desc")
        return rows

    def volume_trend(self, now: datetime, blockchain: str, type: str, period: Period) -> list[Row]:
        """Return the volume of a group in each bucket of a period or a window."""
        since, until = self._span(now, blockchain, type, period)
        if since == until:
            return []
        return trend_of(since, until, self._of_type(blockchain, type), self._usd_of(blockchain, now))

    def _span(self, now: datetime, blockchain: str, type: str, period: Period) -> tuple[datetime, datetime]:
        return span_of(now, period, [trade.at for trade in self._of_type(blockchain, type)])

    def signals(
        self,
        now: datetime,
        blockchain: str,
        type: str,
        mode: str,
        hours: int = 24,
        least_wallets: int = 3,
        min_value: Decimal = Decimal(0),
        least_transactions: int = 1,
    ) -> list[Row]:
        """Return all signals of a group, of which profiles and names are of later than `now`.

        What became of them is until a day later.
        """

        def token_of(mint: str) -> Row:
            token = self.token(now, blockchain, mint, is_past=True)
            assert token is not None
            names = ("token_name", "price", "price_usd", "price_at", "price_source", "liquidity_usd")
            return {"mint": mint} | {name: token[name] for name in names}

        rows = signals_of(
            Question(now, mode, hours, least_wallets, Fraction(min_value), least_transactions),
            self._of_type(blockchain, type),
            {wallet: self._whole_profile(wallet) for wallet in self.wallets},
            self._usd_of(blockchain, now),
            token_of,
        )
        for row in rows:
            row["outcome"] = self.outcome(now, now + DAY, blockchain, row["token"]["mint"])
        return rows

    def outcome(self, moment: datetime, now: datetime, blockchain: str, mint: str) -> Row:
        """Return by span what became of a token after a moment, until `now`."""

        def usd_at(trade: Trade, at: datetime) -> Usd:
            return self._usd_of(blockchain, at)(trade)

        traded, quotes = self._of_token(blockchain, mint), self.quotes.get((blockchain, mint), [])
        return outcome_of(moment, now, traded, quotes, self.price_rule[0], usd_at)

    @_once
    def kept(self, hour: datetime, blockchain: str, type: str, kind: str) -> set[str]:
        """Return the mints of the signals of an hour by the default options, or of the base."""
        if kind == "base":
            return base_of(hour, self._of_type(blockchain, type))
        least = 1 if kind == "entry" else 3
        rows = self.signals(hour, blockchain, type, kind, least_wallets=least)
        return {row["token"]["mint"] for row in rows}

    def signal_outcomes(
        self,
        now: datetime,
        hours: Iterable[datetime],
        blockchain: str,
        type: str,
        signal: str,
    ) -> list[Row]:
        """Return what became of the signals that are kept at these hours, and of the base, until `now`."""
        first: dict[tuple[str, str, date], datetime] = {}
        for hour, (name, kind) in product(sorted(hours), (("signals", signal), ("base", "base"))):
            for mint in self.kept(hour, blockchain, type, kind):
                first.setdefault((name, mint, hour.astimezone(UTC).date()), hour)
        outcomes: dict[tuple[str, str], list[Row | None]] = {}
        for (name, mint, _), hour in first.items():
            outcome = self.outcome(hour, now, blockchain, mint)
            for span, length in SPANS.items():
                # It is decided when its time is over.
                is_over = hour + length * 11 / 10 < now
                outcomes.setdefault((span, name), []).append(outcome[span] if is_over else None)
        return [
            {"span": span, "of": name, **summary_of(outcomes.get((span, name), []))}
            for span, name in product(SPANS, ("signals", "base"))
        ]

    def _traded_token(
        self, now: datetime, since: datetime, until: datetime, blockchain: str, trades: list[Trade]
    ) -> Row:
        mint, wallets = trades[0].mint, {trade.wallet for trade in trades}
        token = self.token(now, blockchain, mint)
        assert token is not None
        part = part_of((self._positions(wallet)[mint] for wallet in wallets), since, until)
        return {
            "mint": mint,
            "symbol": None,
            "token_name": token["token_name"],
            "wallet_count": len(wallets),
            **picked(
                sums(part, self._usd_of(blockchain, now)),
                *("buy_txn", "sell_txn", "total_txn", "volume", "volume_usd"),
                *("realized_pnl", "realized_pnl_usd"),
            ),
            "price": token["price"],
        }

    def _feed(self, now: datetime, trades: list[Trade]) -> list[Row]:
        ordered = sorted(trades, key=lambda trade: (*trade.order, trade.wallet[1].encode()), reverse=True)
        return [self._transaction(now, trade) for trade in ordered]

    @_once
    def _transaction(self, now: datetime, trade: Trade) -> Row:
        held = self.holdings(*trade.wallet)[trade.mint, trade.signature, trade.is_sell, trade.index]
        usd = self._usd_of(trade.wallet[0], now)(trade)
        return {
            "tx_signature": trade.signature,
            "event_index": trade.index,
            "transaction_type": "sell" if trade.is_sell else "buy",
            "value": shown(trade.value, 9),
            "value_usd": None if usd is None else shown(usd, 4),
            "currency": CURRENCY[trade.wallet[0]],
            "token_amount": shown(trade.amount, 18),
            "price_per_token": shown_price(trade.value / trade.amount),
            "price_per_token_usd": None if usd is None else shown_price(usd / trade.amount),
            "created_at": shown_time(trade.at),
            **trade.place,
            "profile": self._whole_profile(trade.wallet),
            "holdings_after": holding(*held),
            "mint": trade.mint,
            "symbol": None,
            "token_name": trade.name or self._positions(trade.wallet)[trade.mint].name,
            "token_supply": None,
            "token_decimals": None,
            **sale(self._positions(trade.wallet)[trade.mint].sale_of(trade)),
            **fees(trade),
        }

    def _passes(self, blockchain: str, entry: Row, name: str, bound: Decimal) -> bool:
        if name != "max_open_cost":
            return _passes(entry, name, bound)
        bought = value(
            trade for trade in self._newest_first((blockchain, entry["wallet"])) if not trade.is_sell
        )
        part, whole = Fraction(entry["period_stats"]["open_cost"]), Fraction(shown(bought, 9))
        return part * 100 <= Fraction(bound) * whole

    @_once
    def _entry(self, wallet: Wallet, type: str, since: datetime, until: datetime, now: datetime) -> Row:
        profile, positions = self._profile(wallet), self._positions(wallet).values()
        names = ("name", "image_url", "twitter", "currency", *(("type",) if type == "all" else ()))
        return {
            "wallet": wallet[1],
            "profile": {name: profile[name] for name in names},
            "period_stats": {
                **open_costs(positions),
                **luck_of(positions, since, until),
            }
            | picked(
                sums(part_of(positions, since, until), self._usd_of(wallet[0], now)),
                *("realized_pnl", "realized_pnl_usd", "realized_pnl_percentage", "sold_without_cost"),
                *("buy_txn", "sell_txn", "total_txn", "best_trade_pnl", "avg_hold_time_minutes"),
                *("fees", "fees_unknown_txn"),
                **TOTALS,
                total_volume="volume",
                total_volume_usd="volume_usd",
            ),
            "period_win_rate_distribution": period_distribution(positions, since, until),
        }

    def _profile(self, wallet: Wallet) -> Row:
        row = self.wallets[wallet]
        texts = ("name", "image_url", "twitter", "telegram")
        return {
            "wallet_address": wallet[1],
            **{name: row.get(name) or "" for name in texts},
            "blockchain": wallet[0],
            "type": row["type"],
            "currency": CURRENCY[wallet[0]],
        }

    def _whole_profile(self, wallet: Wallet) -> Row:
        return self._profile(wallet) | {"copytrade_link": self.wallets[wallet].get("copytrade_link") or ""}

    @_once
    def _newest_first(self, wallet: Wallet) -> list[Trade]:
        own = [trade for trade in self.trades.values() if trade.wallet == wallet]
        return sorted(own, key=lambda trade: trade.order, reverse=True)

    @_once
    def _positions(self, wallet: Wallet) -> dict[str, Position]:
        by_mint: dict[str, list[Trade]] = {}
        for trade in reversed(self._newest_first(wallet)):
            by_mint.setdefault(trade.mint, []).append(trade)
        return {mint: walk(trades) for mint, trades in by_mint.items()}

    def _is_of(self, wallet: Wallet, type: str | None) -> bool:
        return type in (None, "all", self.wallets[wallet]["type"])

    def _of_type(self, blockchain: str, type: str) -> list[Trade]:
        return [
            trade
            for trade in self.trades.values()
            if trade.wallet[0] == blockchain and self._is_of(trade.wallet, type)
        ]

    def _of_group(self, blockchain: str, type: str, since: datetime, until: datetime) -> list[Trade]:
        return [trade for trade in self._of_type(blockchain, type) if since < trade.at <= until]

    def _of_window(
        self, now: datetime, blockchain: str, type: str, seconds: int, mint: str | None
    ) -> list[Trade]:
        traded = self._of_group(blockchain, type, now - timedelta(seconds=seconds), now)
        return [trade for trade in traded if mint in (None, trade.mint)]

    def _valued(self, trade: Trade) -> Trade:
        if trade.given_usd is not None:
            return replace(trade, usd=trade.given_usd)
        currency = CURRENCY[trade.wallet[0]]
        native = self._native_near(currency, trade.at)
        return replace(trade, usd=None if native is None else trade.value * native)

    def _native_near(self, currency: str, moment: datetime) -> Usd:
        """Return the native price nearest a moment, at most an hour away."""
        near = [
            (abs(at - moment), at, usd)
            for (coin, at), usd in self.prices.items()
            if coin == currency and abs(at - moment) <= HOUR
        ]
        return min(near)[2] if near else None

    @_once
    def _of_token(self, blockchain: str, mint: str) -> list[Trade]:
        return [t for t in self.trades.values() if t.wallet[0] == blockchain and t.mint == mint]

    def _traders(self, blockchain: str, mint: str, type: str | None) -> dict[Wallet, Position]:
        """Return the positions in a token by the wallets of one type or of all."""
        wallets = {trade.wallet for trade in self._of_token(blockchain, mint)}
        return {wallet: self._positions(wallet)[mint] for wallet in wallets if self._is_of(wallet, type)}

    def _priced(
        self, now: datetime, blockchain: str, mint: str, rule: Rule | None = None, *, is_past: bool = False
    ) -> Priced | None:
        return self._priced_by(now, blockchain, mint, rule or self.price_rule, is_past)

    @_once
    def _priced_by(
        self, now: datetime, blockchain: str, mint: str, rule: Rule, is_past: bool
    ) -> Priced | None:
        traded, usd_of = self._of_token(blockchain, mint), self._usd_of(blockchain, now)
        quotes = self.quotes.get((blockchain, mint), [])
        return price_of(now, rule, traded, usd_of, quotes, is_past=is_past)

    def _worth(self, now: datetime, blockchain: str, mint: str, position: Position) -> Row:
        """Return the price of what is held of a token, and what that is worth; nothing without one."""
        priced, native = self._priced(now, blockchain, mint), self._native_price(blockchain, now)
        if priced is None or not position.quantity:
            return {}
        worth = position.quantity * priced.value
        return {
            "price": shown_price(priced.value),
            "price_source": priced.source,
            "worth": shown(worth, 9),
            **({} if native is None else {"worth_usd": shown(worth * native, 4)}),
        }

    def _unrealized(self, now: datetime, blockchain: str, positions: dict[str, Position]) -> dict[str, Usd]:
        """Return the unrealized profit of each position in native currency."""
        return {
            mint: unrealized(position, self._priced(now, blockchain, mint))
            for mint, position in positions.items()
        }

    @_once
    def _native_price(self, blockchain: str, now: datetime) -> Usd:
        known = self._native_prices(blockchain, now)
        return max(known)[1] if known else None

    def _native_prices(self, blockchain: str, now: datetime) -> list[tuple[datetime, Usd]]:
        return [
            (at, usd) for (coin, at), usd in self.prices.items() if coin == CURRENCY[blockchain] and at <= now
        ]

    def _usd_of(self, blockchain: str, now: datetime) -> Callable[[Trade], Usd]:
        latest = self._native_price(blockchain, now)

        def usd_of(trade: Trade) -> Usd:
            if trade.usd is not None:
                return trade.usd
            return None if latest is None else trade.value * latest

        return usd_of


def _within(now: datetime, window: Period | None, trades: list[Trade]) -> list[Trade]:
    """Return the trades of a window; without one all, also those ahead of the clock."""
    if window is None:
        return trades
    since, until = span_of(now, window, [trade.at for trade in trades])
    return [trade for trade in trades if since < trade.at <= until]


def _sort_figure(entry: Row, sort: str) -> Any:
    if sort == "win_rate":
        return entry["period_win_rate_distribution"]["win_rate_percentage"]
    # Without a loss it is above all others.
    unknown = Decimal("Infinity") if sort == "profit_factor" else None
    return entry["period_stats"].get(sort, unknown)


def _passes(entry: Row, name: str, bound: Decimal) -> bool:
    stats, distribution = entry["period_stats"], entry["period_win_rate_distribution"]
    if name == "max_without_cost":
        part, whole = Fraction(stats["sold_without_cost"]), Fraction(stats["total_sell"])
        return part * 100 <= Fraction(bound) * whole
    most = {"max_fast_share": stats["fast_share"], "max_drawdown": stats["max_drawdown"]}
    if name in most:
        return bool(most[name] <= bound)
    figure = {
        "min_txn": stats["total_txn"],
        "min_volume": stats["total_volume"],
        "min_closed": distribution["closed_count"],
        "min_win_rate": distribution["win_rate_percentage"],
        "min_win_rate_low": stats["win_rate_low"],
        "min_profit_factor": _sort_figure(entry, "profit_factor"),
        "min_active_days": stats["active_days"],
    }[name]
    return bool(figure >= bound)

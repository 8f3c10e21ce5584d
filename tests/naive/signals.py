"""The signals of a group, naively: every position walked again over its trades until the moment.

Shares no code with the service.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from tests.naive.sums import TOTALS, Part, UsdOf, holding, part_of, picked, sums, value
from tests.naive.walk import Position, Row, Trade, Wallet, shown, shown_time, total, walk


@dataclass(frozen=True)
class Question:
    """What is requested: trades in (`now` - `hours`, `now`]."""

    now: datetime
    mode: str
    hours: int = 24
    least_wallets: int = 3
    min_value: Fraction = Fraction(0)
    least_transactions: int = 1

    @property
    def since(self) -> datetime:
        """The moment after which the window begins."""
        return self.now - timedelta(hours=self.hours)


def signals_of(
    question: Question,
    trades: list[Trade],
    profiles: dict[Wallet, Row],
    usd_of: UsdOf,
    token_of: Callable[[str], Row],
) -> list[Row]:
    """Return the signals of the trades of a group, all of them.

    `token_of` returns the token and its price, as they are shown, by mint.
    """
    known = sorted((trade for trade in trades if trade.at <= question.now), key=lambda trade: trade.order)
    by_mint: dict[str, dict[Wallet, list[Trade]]] = {}
    for trade in known:
        by_mint.setdefault(trade.mint, {}).setdefault(trade.wallet, []).append(trade)
    active = {trade.wallet for trade in known if trade.at > question.now - timedelta(hours=24)}
    found = []
    for mint, traders in by_mint.items():
        members = [wallet for wallet, own in traders.items() if _takes_part(question, own)]
        if question.mode == "entry" and any(
            not trade.is_sell and trade.at <= question.since for own in traders.values() for trade in own
        ):
            continue
        if len(members) >= question.least_wallets:
            found.append(_signal(question, traders, members, profiles, active, usd_of, token_of(mint)))
    found = [row for row in found if row["window"]["transaction_count"] >= question.least_transactions]
    found.sort(key=lambda row: row["token"]["mint"].encode())
    found.sort(key=lambda row: (row["window"]["wallet_count"], row["window"]["total_invested"]), reverse=True)
    return found


def _within(question: Question, trades: list[Trade]) -> list[Trade]:
    return [trade for trade in trades if trade.at > question.since]


def _takes_part(question: Question, trades: list[Trade]) -> bool:
    within = _within(question, trades)
    is_exit = question.mode == "exit"
    side = [trade for trade in within if trade.is_sell is is_exit]
    if not side or value(side) < question.min_value:
        return False
    if not is_exit:
        return True
    # The states at the start of the window, and after each trade in it.
    count = len(trades) - len(within)
    states = [walk(trades[:until]).still_holding for until in range(count, len(trades) + 1)]
    return any(states) and not states[-1]


def _signal(
    question: Question,
    traders: dict[Wallet, list[Trade]],
    members: list[Wallet],
    profiles: dict[Wallet, Row],
    active: set[Wallet],
    usd_of: UsdOf,
    token: Row,
) -> Row:
    within = {wallet: _within(question, trades) for wallet, trades in traders.items()}
    within = {wallet: trades for wallet, trades in within.items() if trades}
    every = [trade for trades in within.values() for trade in trades]
    firsts = {
        wallet: min(trade.at for trade in within[wallet] if trade.is_sell is (question.mode == "exit"))
        for wallet in members
    }
    members = sorted(members, key=lambda wallet: (firsts[wallet], wallet[1].encode()))
    names = ("price", "price_usd", "price_at", "price_source", "liquidity_usd")
    price = {name: token.pop(name) for name in names}
    own = {"blockchain": members[0][0], "currency": profiles[members[0]]["currency"]}
    times = len(members) / question.least_wallets
    return {
        "signal_type": question.mode,
        "signal_strength": "high" if times >= 4 else "medium" if times >= 2 else "low",
        "currency": own["currency"],
        "token": {**own, **token, "symbol": None, "token_supply": None, "token_decimals": None},
        "token_stats": {
            "wallet_count": len(within),
            "still_holding_count": sum(walk(traders[wallet]).still_holding for wallet in within),
            **picked(sums(Part(every, [], []), usd_of), "net_flow", "net_flow_usd", **TOTALS),
            **price,
        },
        "wallets": [
            {
                "profile": profiles[wallet],
                "is_active": wallet in active,
                **_wallet(walk(traders[wallet]), within[wallet], usd_of),
            }
            for wallet in members
        ],
        "window": _window(question, [within[wallet] for wallet in members], usd_of),
    }


def _wallet(position: Position, within: list[Trade], usd_of: UsdOf) -> Row:
    window_buys = [trade for trade in within if not trade.is_sell]
    return {
        **({"bought_at": shown_time(window_buys[0].at)} if window_buys else {}),
        **picked(
            holding(position.quantity, position.peak),
            *("still_holding", "bag_pct", "supply_pct", "supply_pct_peak"),
            held_tokens="token_amount",
            held_tokens_peak="token_amount_peak",
        ),
        **picked(
            sums(part_of([position]), usd_of),
            *("buy_txn", "sell_txn", "buy_tokens", "sell_tokens"),
            *("realized_pnl", "realized_pnl_usd", "realized_pnl_percentage"),
            **TOTALS,
        ),
        **picked(
            sums(Part(within, [], []), usd_of),
            window_buy_txn="buy_txn",
            window_invested="buy",
            window_invested_usd="buy_usd",
            window_tokens_bought="buy_tokens",
        ),
    }


def _window(question: Question, traded: list[list[Trade]], usd_of: UsdOf) -> Row:
    trades = [trade for own in traded for trade in own]
    buys = [trade for trade in trades if not trade.is_sell]
    times = [trade.at for trade in trades if trade.is_sell is (question.mode == "exit")]
    # Each wallet's trades are in the order of the ledger.
    firsts = [next(trade for trade in own if trade.is_sell is (question.mode == "exit")) for own in traded]
    usd = total([usd_of(trade) for trade in buys])
    minutes = Fraction((max(times) - min(times)) // timedelta(microseconds=1), 60_000_000)
    return {
        "hours": question.hours,
        "wallet_count": len(traded),
        "transaction_count": len({trade.signature for trade in firsts}),
        "first_buy_at": shown_time(min(times)),
        "latest_buy_at": shown_time(max(times)),
        "time_span_minutes": shown(minutes, 2),
        **picked(
            sums(Part(trades, [], []), usd_of),
            total_invested="buy",
            total_invested_usd="buy_usd",
            total_tokens_bought="buy_tokens",
        ),
        "avg_invested": shown(value(buys) / len(traded), 9),
        **({} if usd is None else {"avg_invested_usd": shown(usd / len(traded), 4)}),
        "supply_pct_bought": None,
    }

"""The signals of a group, naively: every position walked again over its trades until the moment.

Shares no code with the service.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from tests.naive_walk import Position, Row, Trade, Usd, Wallet, shown, total, walk

UsdOf = Callable[[Trade], Usd]
NO_SUPPLY = {"supply_pct": None, "supply_pct_peak": None}


@dataclass(frozen=True)
class Question:
    """What is asked: trades in (`now` - `hours`, `now`]."""

    now: datetime
    mode: str
    hours: int = 24
    least_wallets: int = 3
    min_value: Fraction = Fraction(0)

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
    found.sort(key=lambda row: row["token"]["mint"].encode())
    found.sort(key=lambda row: (row["window"]["wallet_count"], row["window"]["total_invested"]), reverse=True)
    return found


def _within(question: Question, trades: list[Trade]) -> list[Trade]:
    return [trade for trade in trades if trade.at > question.since]


def _takes_part(question: Question, trades: list[Trade]) -> bool:
    within = _within(question, trades)
    is_exit = question.mode == "exit"
    side = [trade for trade in within if trade.is_sell is is_exit]
    if not side or _sum([trade.value for trade in side]) < question.min_value:
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
    bought = _sum([trade.value for trade in every if not trade.is_sell])
    sold = _sum([trade.value for trade in every if trade.is_sell])
    firsts = {
        wallet: min(trade.at for trade in within[wallet] if trade.is_sell is (question.mode == "exit"))
        for wallet in members
    }
    members = sorted(members, key=lambda wallet: (firsts[wallet], wallet[1].encode()))
    price = {name: token.pop(name) for name in ("price", "price_at")}
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
            "total_buy": shown(bought, 9),
            "total_sell": shown(sold, 9),
            "net_flow": shown(bought - sold, 9),
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
    buys = [trade for trade in position.trades if not trade.is_sell]
    sells = [trade for trade in position.trades if trade.is_sell]
    window_buys = [trade for trade in within if not trade.is_sell]
    profits = [sale.realized_usd for sale in position.sales]
    return {
        **({"bought_at": _time(window_buys[0].at)} if window_buys else {}),
        "still_holding": position.still_holding,
        "buy_txn": len(buys),
        "sell_txn": len(sells),
        "buy_tokens": shown(_sum([trade.amount for trade in buys]), 18),
        "sell_tokens": shown(_sum([trade.amount for trade in sells]), 18),
        "held_tokens": shown(position.quantity, 18),
        "held_tokens_peak": shown(position.peak, 18),
        "bag_pct": _percentage(position.quantity, position.peak),
        **NO_SUPPLY,
        "total_buy": shown(_sum([trade.value for trade in buys]), 9),
        **_dollars("total_buy_usd", buys, usd_of),
        "total_sell": shown(_sum([trade.value for trade in sells]), 9),
        **_dollars("total_sell_usd", sells, usd_of),
        "realized_pnl": shown(position.realized, 9),
        **({} if None in profits else {"realized_pnl_usd": shown(total(profits) or Fraction(0), 4)}),
        "realized_pnl_percentage": _percentage(position.realized, position.cost),
        "window_buy_txn": len(window_buys),
        "window_invested": shown(_sum([trade.value for trade in window_buys]), 9),
        **_dollars("window_invested_usd", window_buys, usd_of),
        "window_tokens_bought": shown(_sum([trade.amount for trade in window_buys]), 18),
    }


def _window(question: Question, traded: list[list[Trade]], usd_of: UsdOf) -> Row:
    trades = [trade for own in traded for trade in own]
    buys = [trade for trade in trades if not trade.is_sell]
    times = [trade.at for trade in trades if trade.is_sell is (question.mode == "exit")]
    bought, usd = _sum([trade.value for trade in buys]), total([usd_of(trade) for trade in buys])
    minutes = Fraction((max(times) - min(times)) // timedelta(microseconds=1), 60_000_000)
    return {
        "hours": question.hours,
        "wallet_count": len(traded),
        "first_buy_at": _time(min(times)),
        "latest_buy_at": _time(max(times)),
        "time_span_minutes": shown(minutes, 2),
        "total_invested": shown(bought, 9),
        **_dollars("total_invested_usd", buys, usd_of),
        "avg_invested": shown(bought / len(traded), 9),
        **({} if usd is None else {"avg_invested_usd": shown(usd / len(traded), 4)}),
        "total_tokens_bought": shown(_sum([trade.amount for trade in buys]), 18),
        "supply_pct_bought": None,
    }


def _dollars(name: str, trades: list[Trade], usd_of: UsdOf) -> Row:
    usd = total([usd_of(trade) for trade in trades])
    return {} if usd is None else {name: shown(usd, 4)}


def _sum(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0))


def _percentage(part: Fraction, whole: Fraction) -> Decimal:
    return shown(100 * part / whole if whole else Fraction(0), 4)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

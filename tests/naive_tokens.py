"""What wallets did in a token, naively: each figure from the trades of its wallets.

Shares no code with the service.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.naive_prices import unrealized
from tests.naive_walk import Position, Row, Trade, Usd, Wallet, shown, total, without_cost

UsdOf = Callable[[Trade], Usd]
Traders = dict[Wallet, Position]

_NO_SUPPLY = {"supply_pct": None, "supply_pct_peak": None}


def stats_of(
    now: datetime,
    traders: Traders,
    profiles: dict[Wallet, Row],
    usd_of: UsdOf,
    priced: Trade | None,
    native: Usd,
) -> Row:
    """Return the data of stats, but for the token, with the traders by what they bought."""
    positions = list(traders.values())
    return {
        "total_holders": holder_counts(traders, profiles),
        "total_holdings": {
            "token_amount": shown(_sum([position.quantity for position in positions]), 18),
            "token_amount_peak": shown(_sum([position.peak for position in positions]), 18),
            **_NO_SUPPLY,
        },
        "total_statistics": _statistics(now, traders, profiles, usd_of),
        "traders": [
            {
                "profile": profiles[wallet],
                "trader_holdings": _holding(traders[wallet]) | _worth(traders[wallet], priced, native),
                "trader_stats": _trader(traders[wallet], usd_of),
            }
            for wallet in sorted_by("buy", traders, priced)
        ],
    }


def sorted_by(sort: str, traders: Traders, priced: Trade | None, *, ascending: bool = False) -> list[Wallet]:
    """Return the traders by a figure as it is shown; those without it last, ties by address."""

    def place(wallet: Wallet) -> tuple[Any, ...]:
        position = traders[wallet]
        figures = _sort_figures(sort, position, priced)
        if figures[0] is None:
            return (True,)
        return (False, *(figure if ascending else -figure for figure in figures if figure is not None))

    return sorted(sorted(traders, key=lambda wallet: wallet[1].encode()), key=place)


def _sort_figures(sort: str, position: Position, priced: Trade | None) -> list[Decimal | None]:
    buys = [trade.at for trade in position.trades if not trade.is_sell]
    gain = unrealized(position, priced)
    return {
        "buy": [shown(position.total(sells=False), 9)],
        "first_buy": [_moment(min(buys)) if buys else None],
        "last_trade": [_moment(position.trades[-1].at)],
        "realized_pnl": [shown(position.realized, 9)],
        "realized_pnl_percentage": [_percentage(position.realized, position.cost)],
        "unrealized_pnl": [None if gain is None else shown(gain, 9)],
        "token_amount": [shown(position.quantity, 18), shown(position.peak, 18)],
    }[sort]


def _moment(at: datetime) -> Decimal:
    return Decimal(str((at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)))


def holders_of(traders: Traders, profiles: dict[Wallet, Row]) -> Row:
    """Return the data of holders, but for the token, with all holders shown."""
    held = {wallet: position for wallet, position in traders.items() if position.peak > 0}
    return {
        "total_holders": holder_counts(traders, profiles),
        "total": len(held),
        "count": len(held),
        "holders": [
            {"profile": profiles[wallet], "holdings": _holding(traders[wallet])}
            for wallet in sorted_by("token_amount", held, None)
        ],
    }


def holder_counts(traders: Traders, profiles: dict[Wallet, Row]) -> Row:
    """Return how many wallets there are of each type, and how many still hold."""
    types = [profiles[wallet]["type"] for wallet in traders]
    return {
        **{f"{type}_count": types.count(type) for type in ("kol", "smart", "whale")},
        "still_holding_count": sum(position.still_holding for position in traders.values()),
    }


def _statistics(now: datetime, traders: Traders, profiles: dict[Wallet, Row], usd_of: UsdOf) -> Row:
    trades = [trade for position in traders.values() for trade in position.trades]
    buys = [trade for trade in trades if not trade.is_sell]
    sells = [trade for trade in trades if trade.is_sell]
    bought, sold = _sum([trade.value for trade in buys]), _sum([trade.value for trade in sells])
    entries = {
        wallet: min(trade.at for trade in position.trades if not trade.is_sell)
        for wallet, position in traders.items()
        if position.count(sells=False)
    }
    statistics: Row = {
        "total_buy": shown(bought, 9),
        "total_sell": shown(sold, 9),
        "total_volume": shown(bought + sold, 9),
        "net_flow": shown(bought - sold, 9),
        "buying_pressure": shown(bought / (bought + sold) if bought + sold else Fraction(0), 4),
        "avg_position_size": shown(bought / len(entries) if entries else Fraction(0), 9),
        "largest_position": shown(
            max((position.total(sells=False) for position in traders.values()), default=Fraction(0)), 9
        ),
        **_dollars("total_buy_usd", buys, usd_of),
        **_dollars("total_sell_usd", sells, usd_of),
        **_dollars("total_volume_usd", trades, usd_of),
    }
    bought_usd, sold_usd = (total([usd_of(trade) for trade in side]) for side in (buys, sells))
    if bought_usd is not None and sold_usd is not None:
        statistics["net_flow_usd"] = shown(bought_usd - sold_usd, 4)
    if entries:
        by_address = sorted(entries, key=lambda wallet: wallet[1].encode())
        first, latest = min(by_address, key=entries.__getitem__), max(by_address, key=entries.__getitem__)
        for name, wallet in (("first", first), ("latest", latest)):
            statistics[f"{name}_entry_time"] = _time(entries[wallet])
            statistics[f"{name}_entry_type"] = profiles[wallet]["type"]
            statistics[f"{name}_entry_wallet_address"] = wallet[1]
        seconds = max(Fraction(str((now - entries[first]).total_seconds())), Fraction(0))
        statistics["time_since_first_entry_hours"] = shown(seconds / 3600, 2)
    return statistics


def _holding(position: Position) -> Row:
    return {
        "token_amount": shown(position.quantity, 18),
        "token_amount_peak": shown(position.peak, 18),
        "bag_pct": _percentage(position.quantity, position.peak),
        "still_holding": position.still_holding,
        **_NO_SUPPLY,
    }


def _worth(position: Position, priced: Trade | None, native: Usd) -> Row:
    gain = unrealized(position, priced)
    if position.quantity == 0:
        worth: Usd = Fraction(0)
        in_usd: Usd = Fraction(0)
    else:
        worth = None if priced is None else position.quantity * priced.traded / priced.amount
        in_usd = native
    cost = position.held_cost
    percentage = None if gain is None else 100 * gain / cost if cost else Fraction(0)
    figures: list[tuple[str, Usd, int]] = [
        ("remaining_sol", worth, 9),
        ("remaining_usd", None if worth is None or in_usd is None else worth * in_usd, 4),
        ("unrealized_pnl_sol", gain, 9),
        ("unrealized_pnl_usd", None if gain is None or in_usd is None else gain * in_usd, 4),
        ("unrealized_pnl_pct", percentage, 4),
    ]
    return {
        **{name: None if figure is None else shown(figure, places) for name, figure, places in figures},
        "entry_market_cap": None,
        "entry_market_cap_usd": None,
    }


def _trader(position: Position, usd_of: UsdOf) -> Row:
    buys = [trade for trade in position.trades if not trade.is_sell]
    sells = [trade for trade in position.trades if trade.is_sell]
    bought, tokens = _sum([trade.value for trade in buys]), _sum([trade.amount for trade in buys])
    profits = [sale.realized_usd for sale in position.sales]
    return {
        "buy": shown(bought, 9),
        **_dollars("buy_usd", buys, usd_of),
        "buy_count": len(buys),
        "buy_tokens": shown(tokens, 18),
        "sell": shown(position.total(sells=True), 9),
        **_dollars("sell_usd", sells, usd_of),
        "sell_count": len(sells),
        "sell_tokens": shown(_sum([trade.amount for trade in sells]), 18),
        "volume_buy": shown(bought, 9),
        **_dollars("volume_buy_usd", buys, usd_of),
        "volume_sell": shown(position.total(sells=True), 9),
        **_dollars("volume_sell_usd", sells, usd_of),
        "avg_buy_price": shown(bought / tokens if tokens else Fraction(0), 18),
        "realized_pnl": shown(position.realized, 9),
        **({} if None in profits else {"realized_pnl_usd": shown(total(profits) or Fraction(0), 4)}),
        "realized_pnl_percentage": _percentage(position.realized, position.cost),
        **without_cost(position.uncovered),
        **({"first_buy_at": _time(buys[0].at)} if buys else {}),
        "first_trade_at": _time(position.trades[0].at),
        "last_trade_at": _time(position.trades[-1].at),
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

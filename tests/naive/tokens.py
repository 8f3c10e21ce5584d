"""What wallets did in a token, naively: each figure from the trades of its wallets.

Shares no code with the service.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.naive.prices import Priced, unrealized
from tests.naive.sums import TOTALS, UsdOf, holding, part_of, picked, sums, tokens, value
from tests.naive.walk import Position, Row, Usd, Wallet, percentage, shown, shown_price, shown_time

Traders = dict[Wallet, Position]


def stats_of(
    now: datetime,
    traders: Traders,
    profiles: dict[Wallet, Row],
    usd_of: UsdOf,
    priced: Priced | None,
    native: Usd,
) -> Row:
    """Return the data of stats, but for the token, with the traders by what they bought."""
    positions = list(traders.values())
    return {
        "total_holders": holder_counts(traders, profiles),
        "total_holdings": picked(
            holding(
                sum((position.quantity for position in positions), Fraction(0)),
                sum((position.peak for position in positions), Fraction(0)),
            ),
            *("token_amount", "token_amount_peak", "supply_pct", "supply_pct_peak"),
        ),
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


def sorted_by(sort: str, traders: Traders, priced: Priced | None, *, ascending: bool = False) -> list[Wallet]:
    """Return the traders by a figure as it is shown; those without it last, ties by address."""

    def place(wallet: Wallet) -> tuple[Any, ...]:
        position = traders[wallet]
        figures = _sort_figures(sort, position, priced)
        if figures[0] is None:
            return (True,)
        return (False, *(figure if ascending else -figure for figure in figures if figure is not None))

    return sorted(sorted(traders, key=lambda wallet: wallet[1].encode()), key=place)


def _sort_figures(sort: str, position: Position, priced: Priced | None) -> list[Decimal | None]:
    buys = [trade.at for trade in position.trades if not trade.is_sell]
    gain = unrealized(position, priced)
    return {
        "buy": [shown(position.total(sells=False), 9)],
        "first_buy": [_moment(min(buys)) if buys else None],
        "last_trade": [_moment(position.trades[-1].at)],
        "realized_pnl": [shown(position.realized, 9)],
        "realized_pnl_percentage": [percentage(position.realized, position.cost)],
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
    whole = part_of(traders.values())
    bought, traded = value(trade for trade in whole.trades if not trade.is_sell), value(whole.trades)
    entries = {
        wallet: min(trade.at for trade in position.trades if not trade.is_sell)
        for wallet, position in traders.items()
        if position.count(sells=False)
    }
    statistics: Row = {
        **picked(
            sums(whole, usd_of),
            *("net_flow", "net_flow_usd"),
            **TOTALS,
            total_volume="volume",
            total_volume_usd="volume_usd",
        ),
        "buying_pressure": shown(bought / traded if traded else Fraction(0), 4),
        "avg_position_size": shown(bought / len(entries) if entries else Fraction(0), 9),
        "largest_position": shown(
            max((position.total(sells=False) for position in traders.values()), default=Fraction(0)), 9
        ),
    }
    if entries:
        by_address = sorted(entries, key=lambda wallet: wallet[1].encode())
        first, latest = min(by_address, key=entries.__getitem__), max(by_address, key=entries.__getitem__)
        for name, wallet in (("first", first), ("latest", latest)):
            statistics[f"{name}_entry_time"] = shown_time(entries[wallet])
            statistics[f"{name}_entry_type"] = profiles[wallet]["type"]
            statistics[f"{name}_entry_wallet_address"] = wallet[1]
        seconds = max(Fraction(str((now - entries[first]).total_seconds())), Fraction(0))
        statistics["time_since_first_entry_hours"] = shown(seconds / 3600, 2)
    return statistics


def _holding(position: Position) -> Row:
    return holding(position.quantity, position.peak)


def _worth(position: Position, priced: Priced | None, native: Usd) -> Row:
    gain = unrealized(position, priced)
    if position.quantity == 0:
        worth: Usd = Fraction(0)
        in_usd: Usd = Fraction(0)
    else:
        worth = None if priced is None else position.quantity * priced.value
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
    own = picked(
        sums(part_of([position]), usd_of),
        *("buy", "buy_usd", "buy_tokens", "sell", "sell_usd", "sell_tokens", "realized_pnl"),
        *("realized_pnl_usd", "realized_pnl_percentage", "sold_without_cost", "tokens_sold_without_cost"),
        buy_count="buy_txn",
        sell_count="sell_txn",
        volume_buy="buy",
        volume_buy_usd="buy_usd",
        volume_sell="sell",
        volume_sell_usd="sell_usd",
    )
    return own | {
        "avg_buy_price": shown_price(value(buys) / tokens(buys) if buys else Fraction(0)),
        **({"first_buy_at": shown_time(buys[0].at)} if buys else {}),
        "first_trade_at": shown_time(position.trades[0].at),
        "last_trade_at": shown_time(position.trades[-1].at),
    }

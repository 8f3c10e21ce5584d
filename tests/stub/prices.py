"""CoinGecko and Binance, which have the same prices."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from flask import Response, request

from tests.stub.moralis import json_response

COINS = {"solana": "SOL", "binancecoin": "BNB", "ethereum": "ETH"}
SYMBOLS = {"SOLUSDT": "SOL", "BNBUSDT": "BNB", "ETHUSDT": "ETH"}


@dataclass
class Prices:
    """The prices of both, and their age. `hourly` returns the dollar price at a time."""

    latest: dict[str, float] = field(default_factory=lambda: {"SOL": 182.5, "BNB": 640.25, "ETH": 3001.5})
    hourly: Callable[[str, datetime], float | None] = lambda currency, moment: None
    # CoinGecko leaves out of its responses any id that it does not have.
    unknown: frozenset[str] = frozenset()
    age_seconds: float = 20.0

    def price(self) -> Response:
        updated = int(time.time() - self.age_seconds)
        return json_response(
            {
                coin: {"usd": self.latest[COINS[coin]], "last_updated_at": updated}
                for coin in request.args["ids"].split(",")
                if COINS[coin] not in self.unknown
            }
        )

    def chart(self, coin: str) -> Response:
        start, end = (_moment(int(request.args[name])) for name in ("from", "to"))
        step = timedelta(minutes=5) if end - start <= timedelta(days=1) else timedelta(hours=1)
        samples = self._samples(COINS[coin], start, end, step)
        prices = [[int(moment.timestamp() * 1000) + 41, usd] for moment, usd in samples]
        return json_response({"prices": prices, "market_caps": [], "total_volumes": []})

    def ticker(self) -> Response:
        symbols = json.loads(request.args["symbols"])
        return json_response(
            [{"symbol": name, "price": f"{self.latest[SYMBOLS[name]]:.8f}"} for name in symbols]
        )

    def klines(self) -> Response:
        assert request.args["interval"] == "5m"
        start, end = (_moment(int(request.args[name]) / 1000) for name in ("startTime", "endTime"))
        samples = self._samples(SYMBOLS[request.args["symbol"]], start, end, timedelta(minutes=5))
        return json_response(
            [
                [int(moment.timestamp() * 1000), f"{usd:.8f}", "0", "0", "0", "1", 0, "1", 1, "1", "1", "0"]
                for moment, usd in list(samples)[: int(request.args["limit"])]
            ]
        )

    def _samples(
        self, currency: str, start: datetime, end: datetime, step: timedelta
    ) -> Iterable[tuple[datetime, float]]:
        moment = datetime.fromtimestamp(
            -(-start.timestamp() // step.total_seconds()) * step.total_seconds(), UTC
        )
        while moment <= min(end, datetime.now(UTC)):
            usd = self.hourly(currency, moment)
            if usd is not None:
                yield moment, usd
            moment += step


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

"""A stub of Moralis' swaps, CoinGecko and Binance on one port of loopback, with their pages and faults."""

import base64
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from flask import Flask, Response, request
from werkzeug.serving import WSGIRequestHandler, make_server

EVM_CHAINS = {"0x1": "eth", "0x38": "bnb", "0x2105": "base"}
COINS = {"solana": "SOL", "binancecoin": "BNB", "ethereum": "ETH"}
SYMBOLS = {"SOLUSDT": "SOL", "BNBUSDT": "BNB", "ETHUSDT": "ETH"}

Row = dict[str, Any]
# Called within each request for a wallet; answers in the provider's place, or None.
Fault = Callable[[], Response | None]


@dataclass
class Prices:
    """What the two sources of prices know, and how they behave. `hourly` gives dollars for a moment."""

    latest: dict[str, float] = field(default_factory=lambda: {"SOL": 182.5, "BNB": 640.25, "ETH": 3001.5})
    hourly: Callable[[str, datetime], float | None] = lambda currency, moment: None
    gecko: Fault = lambda: None
    binance: Fault = lambda: None
    # Left out of CoinGecko's answers, as it does with an id it does not know.
    unknown: frozenset[str] = frozenset()
    age_seconds: float = 20.0


class StubProviders:
    """The running stub. Rows are kept by (chain, address), in any order; pages come in time's.

    `faults` by address answer before the pages do. `calls` are the moments and paths of all requests.
    """

    def __init__(self, page_rows: int = 100) -> None:
        self.rows: dict[tuple[str, str], list[Row]] = {}
        self.faults: dict[str, Fault] = {}
        self.everywhere: Fault = lambda: None
        self.prices = Prices()
        self.page_rows = page_rows
        self.calls: list[tuple[float, str]] = []
        self.asked: Counter[str] = Counter()
        self.shuffled: Callable[[list[Row]], list[Row]] = lambda rows: rows
        self._lock = threading.Lock()
        app = Flask(__name__, static_folder=None)
        app.add_url_rule("/api/v2.2/wallets/<address>/swaps", "evm", self._evm)
        app.add_url_rule("/account/mainnet/<address>/swaps", "solana", self._solana)
        app.add_url_rule("/api/v3/simple/price", "price", self._price)
        app.add_url_rule("/api/v3/coins/<coin>/market_chart/range", "chart", self._chart)
        app.add_url_rule("/binance/api/v3/ticker/price", "ticker", self._ticker)
        app.add_url_rule("/binance/api/v3/klines", "klines", self._klines)
        app.before_request(self._count)
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead a command here, in a hurry."""
        return {
            "MORALIS_API_KEY": "stub",
            "MORALIS_EVM_URL": f"{self.url}/api/v2.2",
            "MORALIS_SOLANA_URL": self.url,
            "COINGECKO_URL": f"{self.url}/api/v3",
            "BINANCE_URL": f"{self.url}/binance",
            "COINGECKO_REQUESTS_PER_MINUTE": "60000",
            "SYNC_REQUESTS_PER_SECOND": "1000",
            "SYNC_THREADS": "4",
            # Tests tell times from that of their import, which in a run of all of them is long ago.
            "SYNC_OVERLAP_SECONDS": "21600",
            "HOLDINGS_BACKOFF_SECONDS": "0.02",
        }

    def add(self, chain: str, address: str, *rows: Row) -> None:
        """Let a wallet have these rows from now on."""
        with self._lock:
            self.rows.setdefault((chain, address), []).extend(rows)

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _count(self) -> Response | None:
        with self._lock:
            self.calls.append((time.monotonic(), request.path))
            self.asked[(request.view_args or {}).get("address", request.path)] += 1
        return None

    def _evm(self, address: str) -> Response:
        return self._swaps(EVM_CHAINS[request.args["chain"]], address, "page_size")

    def _solana(self, address: str) -> Response:
        return self._swaps("solana", address, "pageSize")

    def _swaps(self, chain: str, address: str, size_name: str) -> Response:
        if request.headers.get("X-API-Key") != "stub":
            return message("Token is invalid format", 401)
        refused = self.everywhere() or self.faults.get(address, lambda: None)()
        if refused is not None:
            return refused
        first = datetime.fromtimestamp(int(request.args["fromDate"]), UTC)
        with self._lock:
            # Stable: rows of one block stay in the order in which they were added.
            rows = sorted(self.rows.get((chain, address), ()), key=_time)
        rows = [row for row in rows if _time(row) >= first]
        size = min(int(request.args["limit"]), self.page_rows)
        start = _place(request.args.get("cursor"))
        page = self.shuffled(rows[start : start + size])
        cursor = _cursor(start + size) if start + size < len(rows) else None
        return reply({"cursor": cursor, "page": start // size + 1, size_name: size, "result": page})

    def _price(self) -> Response:
        refused = self.prices.gecko()
        if refused is not None:
            return refused
        updated = int(time.time() - self.prices.age_seconds)
        return reply(
            {
                coin: {"usd": self.prices.latest[COINS[coin]], "last_updated_at": updated}
                for coin in request.args["ids"].split(",")
                if COINS[coin] not in self.prices.unknown
            }
        )

    def _chart(self, coin: str) -> Response:
        refused = self.prices.gecko()
        if refused is not None:
            return refused
        start, end = (_moment(int(request.args[name])) for name in ("from", "to"))
        step = timedelta(minutes=5) if end - start <= timedelta(days=1) else timedelta(hours=1)
        samples = self._samples(COINS[coin], start, end, step)
        prices = [[int(moment.timestamp() * 1000) + 41, usd] for moment, usd in samples]
        return reply({"prices": prices, "market_caps": [], "total_volumes": []})

    def _ticker(self) -> Response:
        refused = self.prices.binance()
        if refused is not None:
            return refused
        symbols = json.loads(request.args["symbols"])
        return reply(
            [{"symbol": name, "price": f"{self.prices.latest[SYMBOLS[name]]:.8f}"} for name in symbols]
        )

    def _klines(self) -> Response:
        refused = self.prices.binance()
        if refused is not None:
            return refused
        assert request.args["interval"] == "5m"
        start, end = (_moment(int(request.args[name]) / 1000) for name in ("startTime", "endTime"))
        samples = self._samples(SYMBOLS[request.args["symbol"]], start, end, timedelta(minutes=5))
        return reply(
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
            usd = self.prices.hourly(currency, moment)
            if usd is not None:
                yield moment, usd
            moment += step


def reply(document: Any, status: int = 200) -> Response:
    """JSON, as they send it."""
    return Response(orjson.dumps(document), status=status, content_type="application/json; charset=utf-8")


def message(text: str, status: int) -> Response:
    """Moralis' error body."""
    return reply({"message": text, "statusCode": status}, status)


def leg(mint: str, amount: str | None, name: str | None = None, **fields: Any) -> Row:
    """One side of a swap."""
    return {
        "address": mint,
        "name": name,
        "symbol": name,
        "logo": None,
        "amount": amount,
        "usdPrice": None,
        "usdAmount": None,
        "tokenType": "token0",
        **fields,
    }


def swap(
    signature: str,
    at: datetime,
    bought: Row | None,
    sold: Row | None,
    usd: float | None = None,
    *,
    pool: str = "AbCuhWFpcqspj4Cip3FEdJHqzouJqSa9PJLFd8TuvnPw",
    **fields: Any,
) -> Row:
    """A row as documented; `transactionType` says the opposite of the legs, since nobody may trust it."""
    return {
        "transactionHash": signature,
        "transactionType": "sell",
        "transactionIndex": 93,
        "subCategory": "newPosition",
        "blockTimestamp": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "blockNumber": 317348443,
        "pairAddress": pool,
        "pairLabel": "A/B",
        "exchangeAddress": "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo",
        "exchangeName": None,
        "exchangeLogo": None,
        "baseToken": None,
        "quoteToken": None,
        "bought": bought,
        "sold": sold,
        "baseQuotePrice": "0.004885390113289905",
        "totalValueUsd": usd,
        **fields,
    }


def in_turn(*faults: Fault | None) -> Fault:
    """One after the other, one a request; then as always."""
    lock = threading.Lock()
    left = list(faults)

    def answer() -> Response | None:
        with lock:
            fault = left.pop(0) if left else None
        return fault() if fault else None

    return answer


def on_page(number: int, page_rows: int, fault: Fault) -> Fault:
    """The fault, on one page of a wallet only; 1 is the first."""
    return lambda: fault() if _place(request.args.get("cursor")) // page_rows + 1 == number else None


def busiest_second(moments: Sequence[float]) -> int:
    """The most requests that fell into any one second."""
    ordered = sorted(moments)
    start = most = 0
    for end, moment in enumerate(ordered):
        while moment - ordered[start] >= 1:
            start += 1
        most = max(most, end - start + 1)
    return most


def _time(row: Row) -> datetime:
    try:
        return datetime.fromisoformat(row["blockTimestamp"])
    except (KeyError, ValueError):
        return datetime.now(UTC)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps({"place": place})).decode()


def _place(cursor: str | None) -> int:
    return int(orjson.loads(base64.urlsafe_b64decode(cursor))["place"]) if cursor else 0


class Handler(WSGIRequestHandler):
    """Keeps connections open, and is silent."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Nothing: there is nobody to read a line for each request."""

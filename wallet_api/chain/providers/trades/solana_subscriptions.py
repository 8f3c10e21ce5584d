"""The subscriptions of one connection to a Solana node, and what it notifies of.

https://www.helius.dev/docs/api-reference/enhanced-websockets/transactionsubscribe,
https://solana.com/docs/rpc/websocket/logssubscribe and https://solana.com/docs/rpc/websocket/slotsubscribe.
"""

import logging
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import orjson
from websockets.sync.client import ClientConnection

from wallet_api.chain.decoding.solana.transactions import Transaction
from wallet_api.chain.providers.faults import Malformed
from wallet_api.chain.providers.jsonrpc import Error
from wallet_api.chain.providers.replies import read_json
from wallet_api.chain.providers.trades.source import Notice

log = logging.getLogger(__name__)

TRANSACTIONS = "transactionSubscribe"
LOGS = "logsSubscribe"
SLOTS = "slotSubscribe"

# The most addresses of a transactionSubscribe.
_MOST_ADDRESSES = 50_000
# The requests without a response at a time.
_MOST_UNDER_WAY = 50
_FINAL = {"commitment": "finalized"}
_WHOLE = _FINAL | {
    "encoding": "jsonParsed",
    "transactionDetails": "full",
    "showRewards": False,
    "maxSupportedTransactionVersion": 1,
}
_RECEIVE_SECONDS = 0.2
# A filter with more addresses replaces the one before at most so often.
_REPLACE_SECONDS = 5.0


class _Parameters(msgspec.Struct):
    subscription: int
    result: msgspec.Raw


class _Message(msgspec.Struct):
    id: int | None = None
    result: Any = None
    error: Error | None = None
    method: str = ""
    params: _Parameters | None = None


class _Context(msgspec.Struct):
    slot: int


class _Mention(msgspec.Struct):
    signature: str
    err: Any = None


class _Logs(msgspec.Struct):
    context: _Context
    value: _Mention


class _Whole(msgspec.Struct, rename="camel"):
    signature: str
    slot: int
    transaction: msgspec.Raw
    transaction_index: int | None = None


class Subscriptions:
    """The subscriptions of one connection: its requests under way, and the addresses that it watches."""

    def __init__(
        self, socket: ClientConnection, method: str, most_logs: int, deliver: Callable[[Notice], None]
    ) -> None:
        self._socket = socket
        self._most_logs = most_logs
        self._deliver = deliver
        self.method = method
        self.watched: dict[str, datetime] = {}
        # By id the method, the addresses and the time of each request without a response.
        self._requests: dict[int, tuple[str, tuple[str, ...], float]] = {}
        self._addresses: dict[int, tuple[str, ...]] = {}
        self._last_id = 0
        self._subscribe_from = 0.0
        self._slot_at: float | None = None
        self._is_limited = False
        self._send(SLOTS, [])

    def subscribe(self, wanted: dict[str, None]) -> None:
        """Send the requests that lead to the wanted addresses."""
        if self.method == TRANSACTIONS:
            self._subscribe_to_transactions(tuple(wanted)[:_MOST_ADDRESSES])
        else:
            self._subscribe_to_logs(tuple(wanted)[: self._most_logs])

    def receive(self) -> None:
        """Take the next message, if there is one in time. Raise Malformed."""
        try:
            text = self._socket.recv(timeout=_RECEIVE_SECONDS, decode=False)
        except TimeoutError:
            return
        message = read_json(bytes(text), _Message)
        if message.params is not None:
            self._take_notification(message.method, message.params)
        elif message.id in self._requests:
            method, addresses, _ = self._requests.pop(message.id)
            if message.error is not None:
                self._take_error(method, message.error)
            elif isinstance(message.result, int) and not isinstance(message.result, bool):
                self._take_subscription(method, message.result, addresses)

    def is_silent(self, seconds: float) -> bool:
        """Return whether a response, or the next slot, is missing for so long."""
        now = time.monotonic()
        oldest = min((at for _, _, at in self._requests.values()), default=now)
        return now - min(oldest, self._slot_at or now) > seconds

    def _send(self, method: str, parameters: list[Any], addresses: tuple[str, ...] = ()) -> None:
        self._last_id += 1
        self._requests[self._last_id] = (method, addresses, time.monotonic())
        document = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": parameters}
        self._socket.send(orjson.dumps(document), text=True)

    def _subscribe_to_transactions(self, wanted: tuple[str, ...]) -> None:
        if any(method == TRANSACTIONS for method, _, _ in self._requests.values()):
            return
        if self.watched.keys() == set(wanted) or time.monotonic() < self._subscribe_from:
            return
        if wanted:
            self._subscribe_from = time.monotonic() + _REPLACE_SECONDS
            query = {"accountInclude": list(wanted), "vote": False, "failed": False}
            self._send(TRANSACTIONS, [query, _WHOLE], wanted)
        else:
            self.watched = {}
            self._leave(list(self._addresses))

    def _subscribe_to_logs(self, wanted: tuple[str, ...]) -> None:
        kept = set(wanted)
        others = [number for number, (address,) in self._addresses.items() if address not in kept]
        for number in others[:_MOST_UNDER_WAY]:
            self.watched.pop(self._addresses[number][0], None)
        self._leave(others[:_MOST_UNDER_WAY])
        requested = {address for _, addresses, _ in self._requests.values() for address in addresses}
        for address in wanted if not self._is_limited else ():
            if len(self._requests) >= _MOST_UNDER_WAY:
                break
            if address not in self.watched and address not in requested:
                self._send(LOGS, [{"mentions": [address]}, _FINAL], (address,))

    def _leave(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._addresses[number]
            self._send(self.method.replace("Subscribe", "Unsubscribe"), [number])

    def _take_subscription(self, method: str, number: int, addresses: tuple[str, ...]) -> None:
        if method == SLOTS:
            self._slot_at = time.monotonic()
            return
        # A new filter follows before the old one is left, so that those in both have no gap.
        before = self.watched if method == TRANSACTIONS else {}
        now = datetime.now(UTC)
        since = {address: before.get(address, now) for address in addresses}
        self.watched = since if method == TRANSACTIONS else self.watched | since
        if method == TRANSACTIONS:
            self._leave(list(self._addresses))
        self._addresses[number] = addresses

    def _take_error(self, method: str, error: Error) -> None:
        """Use what the node has instead. A limit on subscriptions is kept until the next connection."""
        if method == TRANSACTIONS and not self.watched:
            log.info("solana: the node has no %s (code %d)", TRANSACTIONS, error.code)
            self.method = LOGS
        elif method in (TRANSACTIONS, LOGS) and not self._is_limited:
            self._is_limited = True
            self._subscribe_from = math.inf
            log.warning(
                "solana: the node allows no more than %d watched wallets (code %d)",
                len(self.watched),
                error.code,
            )

    def _take_notification(self, method: str, parameters: _Parameters) -> None:
        if method == "slotNotification":
            self._slot_at = time.monotonic()
        elif method == "logsNotification":
            logs = read_json(bytes(parameters.result), _Logs)
            addresses = self._addresses.get(parameters.subscription, ())
            if logs.value.err is None and addresses:
                self._deliver(Notice(logs.value.signature, logs.context.slot, addresses))
        elif method == "transactionNotification":
            whole = read_json(bytes(parameters.result), _Whole)
            try:
                transaction = msgspec.structs.replace(
                    read_json(bytes(whole.transaction), Transaction),
                    slot=whole.slot,
                    transaction_index=whole.transaction_index,
                )
            except Malformed:
                # Reading the wallet finds it, and keeps it as unreadable.
                log.warning("solana: a transaction that is not of the documented form")
                return
            addresses = tuple(key for key in transaction.keys if key in self.watched)
            if transaction.meta.err is None and addresses:
                self._deliver(Notice(whole.signature, whole.slot, addresses, transaction))

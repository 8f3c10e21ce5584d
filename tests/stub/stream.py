"""The websocket of a Solana node: subscriptions of the documented forms, and their faults."""

import json
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from tests.stub.transactions import Row

_SLOT_SECONDS = 0.2


@dataclass(eq=False)
class _Client:
    socket: ServerConnection
    # By id the method and the addresses.
    subscriptions: dict[int, tuple[str, set[str]]] = field(default_factory=dict)

    def send(self, document: Row) -> None:
        with suppress(ConnectionClosed):
            self.socket.send(json.dumps({"jsonrpc": "2.0"} | document))


class Stream:
    """A running websocket server. `methods` are those that the node has, `most` the subscriptions it allows.

    While `is_silent` it sends nothing, and while `is_down` it accepts no connection. `requested` has the
    requests in their order.
    """

    def __init__(self) -> None:
        self.methods = {"transactionSubscribe", "logsSubscribe", "slotSubscribe"}
        self.most = 1000
        self.is_silent = self.is_down = False
        self.requested: list[Row] = []
        self._clients: list[_Client] = []
        self._lock = threading.Lock()
        self._last_id = 0
        self._slot = 341_197_933
        self._ended = threading.Event()
        self._server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}/NODE-SECRET"
        for work in (self._server.serve_forever, self._count_slots):
            threading.Thread(target=work, daemon=True).start()

    @property
    def followed(self) -> set[str]:
        """All addresses of all subscriptions."""
        return {address for _, _, _, addresses in self._subscriptions() for address in addresses}

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._clients)

    def notify(self, wallets: Iterable[str], signature: str, row: Row, times: int = 1) -> bool:
        """Notify of a transaction of these wallets, so often for each subscription.

        Return whether there is one.
        """
        if self.is_silent:
            return False
        is_sent = False
        for client, number, method, addresses in self._subscriptions():
            if not addresses.isdisjoint(wallets):
                is_sent = True
                for _ in range(times):
                    client.send(_notification(method, number, signature, row))
        return is_sent

    def replay(self, message: Row) -> None:
        """Send a recorded notification to the subscriptions of its method, with their numbers."""
        for client, number, method, _ in self._subscriptions():
            if message["method"] == method.replace("Subscribe", "Notification"):
                client.send(message | {"params": message["params"] | {"subscription": number}})

    def drop(self) -> None:
        """Close all connections without a word."""
        for client in list(self._clients):
            with suppress(OSError):
                client.socket.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Stop serving."""
        self._ended.set()
        self._server.shutdown()

    def _talk(self, connection: ServerConnection) -> None:
        if self.is_down:
            return
        client = _Client(connection)
        with self._lock:
            self._clients.append(client)
        try:
            for text in connection:
                self._answer(client, json.loads(text))
        except (ConnectionClosed, OSError):
            pass
        finally:
            with self._lock:
                self._clients.remove(client)

    def _answer(self, client: _Client, request: Row) -> None:
        if self.is_silent:
            return
        method, parameters = request["method"], request["params"]
        with self._lock:
            self.requested.append(request)
            if method.endswith("Unsubscribe"):
                client.subscriptions.pop(parameters[0], None)
                client.send({"id": request["id"], "result": True})
            elif method not in self.methods:
                error = {"code": -32601, "message": "Method not found"}
                client.send({"id": request["id"], "error": error})
            elif len(client.subscriptions) > self.most:
                # One is that of slots.
                error = {"code": -32006, "message": "Maximum subscriptions reached"}
                client.send({"id": request["id"], "error": error})
            else:
                self._last_id += 1
                client.subscriptions[self._last_id] = (method, _addresses(method, parameters))
                client.send({"id": request["id"], "result": self._last_id})

    def _count_slots(self) -> None:
        while not self._ended.wait(_SLOT_SECONDS):
            self._slot += 1
            for client, number, method, _ in [] if self.is_silent else self._subscriptions():
                if method == "slotSubscribe":
                    slots = {"slot": self._slot, "parent": self._slot - 1, "root": self._slot - 32}
                    client.send(_frame("slotNotification", number, slots))

    def _subscriptions(self) -> list[tuple[_Client, int, str, set[str]]]:
        with self._lock:
            return [
                (client, number, method, addresses)
                for client in self._clients
                for number, (method, addresses) in client.subscriptions.items()
            ]


def _addresses(method: str, parameters: list[Any]) -> set[str]:
    if method == "logsSubscribe":
        (query, options) = parameters
        (address,) = query["mentions"]
        assert options == {"commitment": "finalized"}
        return {address}
    if method == "transactionSubscribe":
        (query, options) = parameters
        assert (query["vote"], query["failed"]) == (False, False)
        assert (options["commitment"], options["transactionDetails"]) == ("finalized", "full")
        assert (options["encoding"], options["maxSupportedTransactionVersion"]) == ("jsonParsed", 1)
        assert 0 < len(query["accountInclude"]) <= 50_000
        return set(query["accountInclude"])
    return set()


def _notification(method: str, number: int, signature: str, row: Row) -> Row:
    if method == "logsSubscribe":
        value = {"signature": signature, "err": row["meta"]["err"], "logs": row["meta"]["logMessages"]}
        return _frame("logsNotification", number, {"context": {"slot": row["slot"]}, "value": value})
    whole = {name: row[name] for name in ("transaction", "meta", "version")}
    result = {"transaction": whole, "signature": signature, "slot": row["slot"]}
    return _frame("transactionNotification", number, result)


def _frame(method: str, number: int, result: Row) -> Row:
    return {"method": method, "params": {"subscription": number, "result": result}}

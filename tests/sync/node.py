"""A Solana node on loopback: the transactions of wallets, as a real one tells them, and its faults."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from flask import Flask, Response, request
from werkzeug.serving import make_server

from tests.sync.stub_providers import Fault, Handler, Row, reply

WRAPPED = "So11111111111111111111111111111111111111112"
RENT = 2_039_280
_HELD = 10**15


@dataclass(frozen=True)
class Move:
    """What a transaction changed for one owner: units of a token, or lamports where `mint` is None.

    The owner's account of that token exists before and after, unless it is opened or closed on the way.
    """

    owner: str
    mint: str | None
    change: int
    opened: bool = False
    closed: bool = False
    decimals: int = 6


def transaction(at: datetime, payer: str, *moves: Move, fee: int = 5000, err: Any = None) -> Row:
    """A getTransaction result, encoded as jsonParsed; what an opened account costs, a move has to say."""
    lamports: dict[str, list[int]] = {payer: [_HELD, _HELD - fee]}
    before, after = [], []
    for place, move in enumerate(moves):
        if move.mint is None:
            lamports.setdefault(move.owner, [_HELD, _HELD])[1] += move.change
            continue
        account = f"account {place} of {move.owner}"
        held = 0 if move.opened else -move.change if move.closed else _HELD
        wrapped = move.mint == WRAPPED
        lamports[account] = [
            0 if move.opened else RENT + held * wrapped,
            0 if move.closed else RENT + (held + move.change) * wrapped,
        ]
        row = {
            "account": account,
            "mint": move.mint,
            "owner": move.owner,
            "programId": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        }
        decimals = 9 if wrapped else move.decimals
        if not move.opened:
            before.append(row | _amount(held, decimals))
        if not move.closed:
            after.append(row | _amount(held + move.change, decimals))
    places = {account: place for place, account in enumerate(lamports)}
    for row in (*before, *after):
        row["accountIndex"] = places[row.pop("account")]
    return {
        "slot": int(at.timestamp() * 2.5),
        "blockTime": int(at.timestamp()),
        "version": 0,
        "meta": {
            "err": err,
            "status": {"Ok": None} if err is None else {"Err": err},
            "fee": fee,
            "preBalances": [pair[0] for pair in lamports.values()],
            "postBalances": [pair[1] for pair in lamports.values()],
            "preTokenBalances": before,
            "postTokenBalances": after,
            "innerInstructions": [],
            "logMessages": ["Program log: Instruction: Swap"],
            "rewards": [],
            "computeUnitsConsumed": 120_000,
        },
        "transaction": {
            "signatures": ["told by the list"],
            "message": {
                "accountKeys": [
                    {"pubkey": key, "signer": not place, "writable": True, "source": "transaction"}
                    for key, place in places.items()
                ],
                "instructions": [],
                "recentBlockhash": "11111111111111111111111111111111",
            },
        },
    }


class StubNode:
    """The running stub: `faults` by method or signature answer in its place; `untold` are results of null.

    `calls` are the moment, method and subject of every call; `page_rows` is the most it lists at once.
    """

    def __init__(self) -> None:
        self.transactions: dict[str, Row] = {}
        self.faults: dict[str, Fault] = {}
        self.untold: set[str] = set()
        self.names: dict[str, str] = {}
        self.page_rows = 1000
        self.calls: list[tuple[float, str, str]] = []
        self.watch: Callable[[str], None] = lambda method: None
        self._listed: dict[str, list[str]] = {}
        self._lock = threading.Lock()
        app = Flask(__name__, static_folder=None)
        app.add_url_rule("/secret-path", view_func=self._answer, methods=["POST"])
        self._server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.port}/secret-path"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make a command read Solana's trades from here, in a hurry."""
        return {
            "SOLANA_TRADES_PROVIDER": "rpc",
            "SOLANA_RPC_URL": self.url,
            "SYNC_RPC_REQUESTS_PER_SECOND": "1000",
        }

    def add(self, wallet: str, signature: str, told: Row) -> None:
        """Let a wallet have made this transaction."""
        with self._lock:
            self.transactions[signature] = told
            self._listed.setdefault(wallet, []).append(signature)

    def asked(self, method: str) -> list[str]:
        """What a method was asked about, in order."""
        return [subject for _, called, subject in self.calls if called == method]

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self) -> Response:
        call = json.loads(request.get_data())
        method, (subject, options) = call["method"], call["params"]
        with self._lock:
            self.calls.append((time.monotonic(), method, str(subject)))
        self.watch(method)
        for place in (method, subject) if isinstance(subject, str) else (method,):
            refused = self.faults.get(place, lambda: None)()
            if refused is not None:
                return refused
        answer = {
            "getSignaturesForAddress": self._signatures,
            "getTransaction": self._transaction,
            "getMultipleAccounts": self._mints,
        }[method]
        return reply({"jsonrpc": "2.0", "id": call["id"], "result": answer(subject, options)})

    def _signatures(self, address: str, options: Row) -> list[Row]:
        assert options["commitment"] == "finalized"
        assert 1 <= options["limit"] <= 1000
        with self._lock:
            listed = sorted(
                self._listed.get(address, ()),
                key=lambda signature: self.transactions[signature]["blockTime"],
                reverse=True,
            )
        start = listed.index(options["before"]) + 1 if "before" in options else 0
        return [
            {
                "signature": signature,
                "slot": self.transactions[signature]["slot"],
                "err": self.transactions[signature]["meta"]["err"],
                "memo": None,
                "blockTime": self.transactions[signature]["blockTime"],
                "confirmationStatus": "finalized",
            }
            for signature in listed[start : start + min(options["limit"], self.page_rows)]
        ]

    def _transaction(self, signature: str, options: Row) -> Row | None:
        assert (options["encoding"], options["commitment"]) == ("jsonParsed", "finalized")
        assert options["maxSupportedTransactionVersion"] == 0
        return None if signature in self.untold else self.transactions[signature]

    def _mints(self, addresses: list[str], options: Row) -> Row:
        def account(address: str) -> Row | None:
            name = self.names.get(address)
            if name is None:
                return None
            state = {"mint": address, "name": name, "symbol": "SYM", "uri": ""}
            info = {"supply": "1000000", "extensions": [{"extension": "tokenMetadata", "state": state}]}
            return {"lamports": 1, "data": {"program": "spl-token-2022", "parsed": {"info": info}}}

        return {"context": {"slot": 1}, "value": [account(address) for address in addresses]}


def error(code: int) -> Fault:
    """A JSON-RPC error, which comes with status 200."""

    def answer() -> Response:
        told = {"code": code, "message": "as told"}
        return reply({"jsonrpc": "2.0", "id": json.loads(request.get_data())["id"], "error": told})

    return answer


def _amount(units: int, decimals: int) -> Row:
    text = f"{units:0{decimals + 1}d}"
    return {
        "uiTokenAmount": {
            "amount": str(units),
            "decimals": decimals,
            "uiAmount": units / 10**decimals,
            "uiAmountString": f"{text[:-decimals]}.{text[-decimals:]}" if decimals else text,
        }
    }


def now() -> datetime:
    """The moment, in whole seconds as a block has it."""
    return datetime.now(UTC).replace(microsecond=0)

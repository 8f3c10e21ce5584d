"""An EVM chain for the stub's nodes: blocks, receipts, balances; limits, faults and reorganisations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import count
from threading import Lock
from typing import Any

from eth_abi.abi import encode

Row = dict[str, Any]

TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
DEPOSIT = "0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c"
WITHDRAWAL = "0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65"
USER_OPERATION = "0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f"
ZERO = "0x0000000000000000000000000000000000000000"
RICH = 10**24


class Refused(Exception):
    """The node's error for a call: code and message."""


@dataclass
class Transaction:
    """A transaction: its receipt without a place, its value, and how it changed native balances.

    `coins` are these changes, with the fee; `deposits` those with the entry point of ERC-4337. `amount` and
    `coin` are the trade that it is, in smallest units. `value_text` is what the node has for the value.
    """

    receipt: Row
    value: int = 0
    coins: dict[str, int] = field(default_factory=dict)
    deposits: dict[str, int] = field(default_factory=dict)
    amount: Decimal = Decimal(0)
    coin: Decimal = Decimal(0)
    input: str = "0x"
    value_text: str | None = None

    @property
    def hash(self) -> str:
        return str(self.receipt["transactionHash"])


@dataclass
class Block:
    """A block; `salt` makes another hash, as of a fork, and `timestamp` is what the node says instead."""

    created_at: datetime
    transactions: list[Transaction] = field(default_factory=list)
    salt: str = ""
    withdrawals: list[str] = field(default_factory=list)
    miner: str = "0x" + "9" * 40
    timestamp: int | None = None


@dataclass
class EvmChain:
    """A chain whose first block has the number `start`, and what its node allows.

    `behind` is how many of the newest blocks the node does not have yet; with `lies`, its `eth_blockNumber`
    and newest block say otherwise; with `ignores_filters`, it returns the logs of all. `state_blocks` is for
    how many blocks it keeps state; `new` are accounts that traces do not have before; `frames` are the calls
    of transactions, by their hashes. `placed_by` has placed all orders in native coin. `contracts` has the
    block of each contract's creation. The logs of `omitted` transactions are left out until their block is
    `omitted_seconds` old. The logs up to the newest block come from a node that is `halves` blocks behind.
    With `reorders`, the receipts of a block are in another order. With `milliseconds`, headers have this
    field. `unfinal` is how many of the newest blocks are not final, None if the node does not state it.
    """

    start: int = 1000
    blocks: list[Block] = field(default_factory=list)
    decimals: dict[str, int] = field(default_factory=dict)
    most_blocks: int = 10_000
    most_topics: int = 1000
    most_logs: int = 10_000
    too_wide: tuple[int, str] = (-32600, "block range is too wide")
    behind: int = 0
    lies: bool = False
    ignores_filters: bool = False
    state_blocks: int | None = None
    has_block_receipts: bool = True
    has_traces: bool = False
    new: set[str] = field(default_factory=set)
    frames: dict[str, Row] = field(default_factory=dict)
    supplies: dict[str, int] = field(default_factory=dict)
    placed_by: str = ZERO
    contracts: dict[str, int] = field(default_factory=dict)
    omitted: set[str] = field(default_factory=set)
    omitted_seconds: float = 0.0
    halves: int = 0
    reorders: bool = False
    milliseconds: str = ""
    unfinal: int | None = 0
    lock: Lock = field(default_factory=Lock)
    _forks: int = 0
    # Where a transaction was added.
    _places: dict[str, int] = field(default_factory=dict)

    def add(self, created_at: datetime, *transactions: Transaction) -> Block:
        """Append a block."""
        self.blocks.append(Block(created_at, list(transactions)))
        for one in transactions:
            self._places[one.hash] = len(self.blocks) - 1
        return self.blocks[-1]

    def reorganise(self, depth: int, blocks: Iterable[Block]) -> None:
        """Replace the newest blocks."""
        self._forks += 1
        del self.blocks[len(self.blocks) - depth :]
        for block in blocks:
            block.salt = f"fork {self._forks}"
            self.blocks.append(block)

    @property
    def newest(self) -> int:
        return self.start + len(self.blocks) - 1 - self.behind

    def answer(self, method: str, parameters: list[Any]) -> Any:
        """Return the result of a method. Raise Refused."""
        methods: dict[str, Callable[..., Any]] = {
            "eth_blockNumber": lambda: hex(self.newest + (self.behind if self.lies else 0)),
            "eth_getBlockByNumber": self._block,
            "eth_getLogs": self._logs,
            "eth_getTransactionByHash": self._transaction,
            "eth_getTransactionReceipt": self._receipt,
            "eth_getBlockReceipts": self._block_receipts,
            "eth_getBalance": self._balance,
            "eth_getCode": self._code,
            "debug_traceTransaction": self._trace,
        }
        if (
            method not in methods
            or (method == "eth_getBlockReceipts" and not self.has_block_receipts)
            or (method == "debug_traceTransaction" and not self.has_traces)
        ):
            raise Refused(-32601, f"the method {method} does not exist/is not available")
        with self.lock:
            return methods[method](*parameters)

    def _hash(self, number: int) -> str:
        block = self.blocks[number - self.start]
        text = f"{number} {block.salt} {block.created_at} {[one.hash for one in block.transactions]}"
        return "0x" + sha256(text.encode()).hexdigest()

    def _number(self, tag: str) -> int | None:
        """Return the number of a block that the node has, or None."""
        if tag == "finalized":
            if self.unfinal is None:
                raise Refused(-39001, "Unknown block")
            tag = hex(self.newest - self.unfinal)
        number = self.newest if tag == "latest" else int(tag, 16)
        return number if self.start <= number <= self.newest else None

    def _block(self, tag: str, whole: bool) -> Row | None:
        number = self._number(tag)
        if tag == "latest" and self.lies:
            number = self.newest + self.behind
        if number is None:
            if tag.startswith("0x") and int(tag, 16) < self.start:
                # Before the first block, nothing happened.
                early = self.blocks[0].created_at - timedelta(seconds=self.start - int(tag, 16))
                return _header(int(tag, 16), "0x" + "0" * 64, early) | {"transactions": []}
            return None
        block = self.blocks[number - self.start]
        transactions = [_sent(one) for one in block.transactions]
        return _header(number, self._hash(number), block.created_at) | {
            **({} if block.timestamp is None else {"timestamp": hex(block.timestamp)}),
            **(
                {self.milliseconds: hex(int(block.created_at.timestamp() * 1000))}
                if self.milliseconds
                else {}
            ),
            "parentHash": self._hash(number - 1) if number > self.start else "0x" + "0" * 64,
            "miner": block.miner,
            "withdrawals": [{"address": address, "amount": "0x5"} for address in block.withdrawals] or None,
            "transactions": transactions if whole else [one["hash"] for one in transactions],
        }

    def _receipts_of(self, number: int) -> list[Row]:
        place = {"blockNumber": hex(number), "blockHash": self._hash(number)}
        receipts = []
        indexes = count()
        for index, one in enumerate(self.blocks[number - self.start].transactions):
            more = place | {"transactionHash": one.hash}
            logs = [
                {"removed": False, "logIndex": hex(next(indexes))} | log | more for log in one.receipt["logs"]
            ]
            receipts.append(one.receipt | place | {"logs": logs, "transactionIndex": hex(index)})
        return receipts

    def _logs(self, query: Row) -> list[Row]:
        if "blockHash" in query:
            numbers = range(self.start, self.newest + 1)
            same = (number for number in numbers if self._hash(number) == query["blockHash"])
            first = last = next(same, self.start - 1)
        else:
            tag = query["toBlock"]
            first = int(query["fromBlock"], 16)
            last = self.newest - self.halves if tag == "latest" else int(tag, 16)
        values = [value for value in query["topics"][1:] if isinstance(value, list)]
        if any(len(each) > self.most_topics for each in values):
            raise Refused(-32000, "exceed max addresses or topics per search position")
        if last - first >= self.most_blocks:
            raise Refused(*self.too_wide)
        rows = []
        for number in range(max(first, self.start), min(last, self.newest) + 1):
            for receipt in self._receipts_of(number):
                if self.withheld(receipt["transactionHash"], self.blocks[number - self.start]):
                    continue
                rows += [log for log in receipt["logs"] if self.ignores_filters or _matches(log, query)]
        if len(rows) > self.most_logs:
            raise Refused(-32005, f"query returned more than {self.most_logs} results.")
        return rows

    def withheld(self, signature: str, block: Block) -> bool:
        """Say whether the node leaves out the logs of a transaction now."""
        age = (datetime.now(UTC) - block.created_at).total_seconds()
        return signature in self.omitted and age < self.omitted_seconds

    def _receipt(self, signature: str) -> Row | None:
        place = self._places.get(signature, -1) + self.start
        # Building all receipts of a long chain for each call would take most of the time of a soak.
        for number in (place, *range(self.newest, self.start - 1, -1)):
            if not self.start <= number <= self.newest:
                continue
            if any(one.hash == signature for one in self.blocks[number - self.start].transactions):
                (receipt,) = (
                    each for each in self._receipts_of(number) if each["transactionHash"] == signature
                )
                return receipt
        return None

    def _transaction(self, signature: str) -> Row | None:
        receipt = self._receipt(signature)
        if receipt is None:
            return None
        place = {name: receipt[name] for name in ("blockNumber", "blockHash")}
        block = self.blocks[int(receipt["blockNumber"], 16) - self.start]
        return place | next(_sent(one) for one in block.transactions if one.hash == signature)

    def _block_receipts(self, tag: str) -> list[Row] | None:
        number = self._number(tag)
        receipts = [] if number is None else self._receipts_of(number)
        return None if number is None else receipts[:: -1 if self.reorders else 1]

    def _state(self, tag: str) -> int:
        number = int(tag, 16)
        if number > self.newest:
            raise Refused(-32000, "header not found")
        if self.state_blocks is not None and number <= self.newest - self.state_blocks:
            raise Refused(-32000, "missing trie node 00ab (path ) state 0x00 is not available")
        return number

    def _balance(self, address: str, tag: str) -> str:
        return hex(RICH + self._sum(address, self._state(tag), "coins"))

    def _code(self, address: str, tag: str) -> str:
        return "0x6080" if self._state(tag) >= self.contracts.get(address, self.newest + 1) else "0x"

    def deposit(self, address: str, tag: str) -> bytes:
        """Return what an account has with the entry point of ERC-4337."""
        return encode(["uint256"], [RICH + self._sum(address, self._state(tag), "deposits")])

    def _sum(self, address: str, number: int, name: str) -> int:
        blocks = self.blocks[: max(0, number - self.start + 1)]
        return sum(
            getattr(one, name).get(address.lower(), 0) for block in blocks for one in block.transactions
        )

    def _trace(self, signature: str, options: Row) -> Row:
        if options["tracer"] == "callTracer":
            assert options["tracerConfig"] == {"withLog": True}
            if signature not in self.frames:
                raise Refused(-32000, "tracer not found")
            return self.frames[signature]
        assert options == {"tracer": "prestateTracer", "tracerConfig": {"diffMode": True}}
        for block in self.blocks:
            for one in block.transactions:
                if one.hash == signature:
                    changed = {owner: change for owner, change in one.coins.items() if change}
                    before = {owner: {"balance": hex(RICH), "nonce": 1} for owner in changed}
                    after = {owner: {"balance": hex(RICH + units)} for owner, units in changed.items()}
                    for owner in self.new:
                        if changed.get(owner, 0) > 0:
                            del before[owner]
                            after[owner] = {"balance": hex(changed[owner])}
                    # Of these only the storage changed.
                    for contract in {log["address"] for log in one.receipt["logs"]} - changed.keys():
                        before[contract] = {"balance": hex(RICH), "storage": {}}
                        after[contract] = {"storage": {}}
                    return {"pre": before, "post": after}
        raise Refused(-32000, "transaction not found")


def _sent(one: Transaction) -> Row:
    """Return a transaction as a block has it."""
    names = {name: one.receipt[name] for name in ("from", "to")}
    value = hex(one.value) if one.value_text is None else one.value_text
    return {"hash": one.hash, "value": value, "input": one.input} | names


def _header(number: int, hash: str, created_at: datetime) -> Row:
    return {
        "number": hex(number),
        "hash": hash,
        "timestamp": hex(int(created_at.timestamp())),
    }


def _matches(log: Row, query: Row) -> bool:
    if "address" in query and log["address"].lower() not in query["address"]:
        return False
    topics = query["topics"]
    for place, wanted in enumerate(topics):
        if wanted is None:
            continue
        if place >= len(log["topics"]):
            return False
        if log["topics"][place] not in ([wanted] if isinstance(wanted, str) else wanted):
            return False
    return True


def log(contract: str, topics: Iterable[str], *words: int) -> Row:
    """Return an event."""
    data = "".join(f"{word % (1 << 256):064x}" for word in words)
    return {"address": contract, "topics": list(topics), "data": f"0x{data}"}


def word(address: str) -> str:
    """Return an address as a topic."""
    return f"0x{address[2:]:0>64}"


def transfer(token: str, giver: str, taker: str, units: int) -> Row:
    """Return the event of a transfer."""
    return log(token, (TRANSFER, word(giver), word(taker)), units)


def now() -> datetime:
    """Return the current time in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)

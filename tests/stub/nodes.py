"""JSON-RPC nodes of Solana and of the EVM chains, over the same portfolios as Moralis."""

import base64
import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from eth_abi.abi import decode, encode
from flask import Response, request
from solders.pubkey import Pubkey

from tests.stub.evm import EvmChain, Refused
from tests.stub.moralis import Balance, Portfolio, json_response
from tests.stub.transactions import RefusedVersionError, Transactions
from wallet_api.base.chains import CHAINS

TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
METAPLEX = Pubkey.from_string("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11"
CHAIN_IDS = {name: chain.evm_chain_id for name, chain in CHAINS.items() if chain.evm_chain_id}

Portfolios = Callable[[str, str], Portfolio]
Parameters = list[Any]

# orders(bytes32) of the contracts for orders in native coin.
ORDERS = "9c3f1e90"


class NodeError(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str = "", data: str | None = None) -> None:
        super().__init__(message)
        self.document = {"code": code, "message": message} | ({} if data is None else {"data": data})


@dataclass
class Nodes:
    """The behaviour of the nodes, which tests may change."""

    portfolios: Portfolios
    transactions: Transactions
    # Those that tests have set, by chain and address.
    own: dict[tuple[str, str], Portfolio]
    batches: bool = True
    chain_ids: dict[str, int] = field(default_factory=lambda: dict(CHAIN_IDS))
    # Mints of Token-2022; accounts a mint is spread over; mints of which there is one; no metadata at all.
    token_2022: set[str] = field(default_factory=set)
    accounts: dict[str, int] = field(default_factory=dict)
    unique: set[str] = field(default_factory=set)
    nameless: set[str] = field(default_factory=set)
    # EVM contracts: text as bytes32, no answer, a revert, all gas burnt.
    bytes32: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    reverting: set[str] = field(default_factory=set)
    burning: set[str] = field(default_factory=set)
    # Contract → the reason that it gives for its revert.
    reasons: dict[str, str] = field(default_factory=dict)
    # Method → the errors that its next requests get.
    errors: dict[str, list[int]] = field(default_factory=dict)
    # The blocks of EVM chains.
    blocks: dict[str, EvmChain] = field(default_factory=dict)
    # Accounts of a program, such as the curves of launchpads.
    owners: dict[str, str] = field(default_factory=dict)
    # Of mints that nobody holds.
    names: dict[str, str] = field(default_factory=dict)
    _metadata: dict[str, Balance] = field(default_factory=dict)

    def answer(self, chain: str, key: str) -> Response:
        """Return the response to a single call or a batch."""
        document = json.loads(request.get_data())
        if isinstance(document, dict):
            return json_response(self._one(chain, document))
        if not self.batches:
            error = {"code": -32600, "message": "batches are not allowed"}
            return json_response({"jsonrpc": "2.0", "error": error, "id": None})
        # In another order than requested, as the specification allows.
        return json_response([self._one(chain, call) for call in reversed(document)])

    def _one(self, chain: str, call: dict[str, Any]) -> dict[str, Any]:
        frame = {"jsonrpc": "2.0", "id": call["id"]}
        method, parameters = call["method"], call["params"]
        try:
            if self.errors.get(method):
                raise NodeError(self.errors[method].pop(0), "as given")
            answer = self._solana if chain == "solana" else self._evm
            return frame | {"result": answer(chain, method, parameters)}
        except NodeError as error:
            return frame | {"error": error.document}

    def _solana(self, chain: str, method: str, parameters: Parameters) -> Any:
        options = [each for each in parameters if isinstance(each, dict)]
        if any(each.get("commitment", "finalized") != "finalized" for each in options):
            # Of Alpenglow, which knows nothing between.
            raise NodeError(-32602, "Invalid params: unknown commitment")
        if method == "getBalance":
            return _at_slot(self.portfolios("solana", parameters[0]).native)
        if method == "getTokenAccountsByOwner":
            owner, program = parameters[0], parameters[1]["programId"]
            tokens = self.portfolios("solana", owner).tokens
            own = [token for token in tokens if (token.address in self.token_2022) == (program == TOKEN_2022)]
            return _at_slot([row for token in own for row in self._accounts(owner, program, token)])
        if method == "getSlot":
            return self.transactions.slot(*parameters)
        if method == "getSignaturesForAddress":
            return self.transactions.signatures(*parameters)
        whole = {"getTransaction": self.transactions.transaction}
        if self.transactions.has_history:
            whole["getTransactionsForAddress"] = self.transactions.history
        if method in whole:
            try:
                return whole[method](*parameters)
            except RefusedVersionError as error:
                raise NodeError(*error.args) from None
        if method == "getBlockTime":
            return self.transactions.block_time(*parameters)
        if method == "getMultipleAccounts":
            mints = {token.address: token for token in self.known}
            return _at_slot([self._account(mints, address) for address in parameters[0]])
        raise NodeError(-32601, "Method not found")

    def _accounts(self, owner: str, program: str, token: Balance) -> list[dict[str, Any]]:
        count = self.accounts.get(token.address, 1)
        parts = [token.units // count] * (count - 1)
        parts.append(token.units - sum(parts))
        return [token_account(owner, program, token, part) for part in parts]

    def _account(self, mints: dict[str, Balance], address: str) -> dict[str, Any] | None:
        if address in self.owners:
            data = ["", "base64"]
            return {"lamports": 1, "owner": self.owners[address], "data": data, "executable": False}
        if address in mints:
            # Its metadata is requested in the same call, later.
            self._metadata[metadata_address(address)] = mints[address]
            return self._mint(mints[address])
        token = self._metadata.get(address)
        if token is None or token.address in self.token_2022 | self.nameless:
            return None
        data = base64.b64encode(metaplex(token, 0 if token.address in self.unique else 2)).decode()
        return {"lamports": 1, "owner": str(METAPLEX), "data": [data, "base64"], "executable": False}

    def _mint(self, token: Balance) -> dict[str, Any]:
        supply = "1" if token.address in self.unique else "1000000000000000"
        info: dict[str, Any] = {"decimals": token.decimals, "supply": supply, "isInitialized": True}
        program = "spl-token"
        if token.address in self.token_2022:
            program = "spl-token-2022"
            state = {"mint": token.address, "name": token.name, "symbol": token.symbol, "uri": ""}
            info["extensions"] = [
                {"extension": "metadataPointer", "state": {"metadataAddress": token.address}},
                {"extension": "tokenMetadata", "state": state},
            ]
        parsed = {"type": "mint", "info": info}
        return {
            "lamports": 1,
            "data": {"program": program, "parsed": parsed, "space": 82},
            "executable": False,
        }

    @property
    def known(self) -> list[Balance]:
        """All tokens that a node has."""
        held = [token for portfolio in self.own.values() for token in portfolio.tokens]
        return held + [Balance(mint, name, "SYM", 6, 0) for mint, name in self.names.items()]

    def _evm(self, chain: str, method: str, parameters: Parameters) -> Any:
        if method == "eth_chainId":
            return hex(self.chain_ids[chain])
        blocks = self.blocks.get(chain)
        if blocks is not None and method != "eth_call":
            return _allowed(blocks.answer, method, parameters)
        if method == "eth_getBalance":
            return hex(self.portfolios(chain, parameters[0].lower()).native)
        if method == "eth_call":
            contract, data = parameters[0]["to"].lower(), bytes.fromhex(parameters[0]["data"][2:])
            if contract in self.reasons:
                reason = encode(["string"], [self.reasons[contract]]).hex()
                raise NodeError(3, f"execution reverted: {self.reasons[contract]}", f"0x08c379a0{reason}")
            if blocks is not None and parameters[1] != "latest":
                if contract in self.empty:
                    return "0x"
                (wallet,) = decode(["address"], data[4:])
                return "0x" + _allowed(blocks.deposit, wallet, parameters[1]).hex()
            if blocks is not None and data[:4].hex() == ORDERS:
                return "0x" + encode(["address", "uint32"], [blocks.placed_by, 2**32 - 1]).hex()
            if contract == MULTICALL3:
                return "0x" + self._aggregate(chain, data).hex()
            if contract in self.reverting:
                raise NodeError(3, "execution reverted")
            if contract in self.burning:
                raise NodeError(-32000, "out of gas")
            return "0x" + (self._contract(chain, contract, data) or b"").hex()
        raise NodeError(-32601, "the method does not exist")

    def _aggregate(self, chain: str, data: bytes) -> bytes:
        (calls,) = decode(["(address,bool,bytes)[]"], data[4:])
        results = []
        burnt = False
        for contract, _, call in calls:
            burnt = burnt or contract in self.burning
            is_failing = burnt or contract in self.reverting or contract in self.reasons
            answer = None if is_failing else self._contract(chain, contract, call)
            results.append((answer is not None, answer or b""))
        return encode(["(bool,bytes)[]"], [results])

    def _contract(self, chain: str, contract: str, data: bytes) -> bytes | None:
        if contract in self.empty:
            return b""
        selector = data[:4].hex()
        if selector == "70a08231":
            (wallet,) = decode(["address"], data[4:])
            tokens = self.portfolios(chain, wallet).tokens
            return encode(["uint256"], [sum(token.units for token in tokens if token.address == contract)])
        blocks = self.blocks.get(chain)
        if blocks is not None and contract in blocks.decimals:
            name = self.names.get(contract, f"Token {contract[2:6]}")
            return {
                "313ce567": lambda: encode(["uint256"], [blocks.decimals[contract]]),
                "06fdde03": lambda: encode(["string"], [name]),
                "95d89b41": lambda: encode(["string"], [name[:3].upper()]),
                "18160ddd": lambda: encode(["uint256"], [blocks.supplies.get(contract, 10**24)]),
            }[selector]()
        token = next((token for token in self.known if token.address == contract), None)
        if token is None:
            return None
        if selector == "313ce567":
            return encode(["uint256"], [token.decimals])
        text = (token.symbol if selector == "95d89b41" else token.name) or ""
        if contract in self.bytes32:
            return encode(["bytes32"], [text.encode()])
        return encode(["string"], [text])


def _allowed(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a chain answers. Raise NodeError for what it refuses."""
    try:
        return answer(*arguments)
    except Refused as error:
        raise NodeError(*error.args) from None


def token_account(owner: str, program: str, token: Balance, units: int) -> dict[str, Any]:
    """Return a row of getTokenAccountsByOwner in its parsed form."""
    text = f"{Decimal(f'{units}e-{token.decimals}'):f}"
    amount = {
        "amount": str(units),
        "decimals": token.decimals,
        "uiAmount": units / 10**token.decimals,
        "uiAmountString": text,
    }
    info = {
        "isNative": False,
        "mint": token.address,
        "owner": owner,
        "state": "initialized",
        "tokenAmount": amount,
    }
    name = "spl-token" if program == TOKEN_PROGRAM else "spl-token-2022"
    return {
        "pubkey": owner,
        "account": {
            "lamports": 2039280,
            "owner": program,
            "data": {"program": name, "space": 165, "parsed": {"type": "account", "info": info}},
            "executable": False,
            "rentEpoch": 18446744073709551615,
            "space": 165,
        },
    }


def metadata_address(mint: str) -> str:
    """Return the address of a mint's Metaplex metadata."""
    seeds = [b"metadata", bytes(METAPLEX), bytes(Pubkey.from_string(mint))]
    return str(Pubkey.find_program_address(seeds, METAPLEX)[0])


def metaplex(token: Balance, standard: int) -> bytes:
    """Return a metadata account: padded texts, one creator, and the token standard."""

    def text(value: str | None, size: int) -> bytes:
        return struct.pack("<I", size) + (value or "").encode()[:size].ljust(size, b"\0")

    texts = text(token.name, 32) + text(token.symbol, 10) + text("https://meta.example/x.json", 200)
    creators = struct.pack("<HBI", 500, 1, 1) + bytes(34)
    return bytes([4]) + bytes(64) + texts + creators + bytes([1, 1, 1, 254, 1, standard]) + bytes(64)


def _at_slot(value: Any) -> dict[str, Any]:
    return {"context": {"apiVersion": "2.0.15", "slot": 341197933}, "value": value}

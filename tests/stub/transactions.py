"""The transactions of Solana wallets, as a node returns them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Row = dict[str, Any]

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
    """Return a getTransaction result as jsonParsed. The moves must include the rent of new accounts.

    One instruction made all the transfers of tokens.
    """
    lamports: dict[str, list[int]] = {payer: [_HELD, _HELD - fee]}
    before, after = [], []
    changes: dict[str, list[tuple[str, int]]] = {}
    opened = []
    for place, move in enumerate(moves):
        if move.mint is None:
            lamports.setdefault(move.owner, [_HELD, _HELD])[1] += move.change
            continue
        changes.setdefault(move.mint, []).append((f"account {place} of {move.owner}", move.change))
        account = f"account {place} of {move.owner}"
        held = 0 if move.opened else -move.change if move.closed else _HELD
        if move.opened:
            opening = {"account": account, "mint": move.mint, "owner": move.owner}
            opened.append(_parsed("initializeAccount3", opening))
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
            "innerInstructions": [{"index": 1, "instructions": [*opened, *_transfers(payer, changes)]}],
            "logMessages": ["Program log: Instruction: Swap"],
            "rewards": [],
            "computeUnitsConsumed": 120_000,
        },
        "transaction": {
            "signatures": ["in the list"],
            "message": {
                "accountKeys": [
                    {"pubkey": key, "signer": not place, "writable": True, "source": "transaction"}
                    for key, place in places.items()
                ],
                "instructions": [
                    {"programId": "ComputeBudget111111111111111111111111111111", "accounts": [], "data": "3"},
                    {"programId": "the exchange", "accounts": [], "data": "3", "stackHeight": 1},
                ],
                "recentBlockhash": "11111111111111111111111111111111",
            },
        },
    }


def _transfers(payer: str, changes: dict[str, list[tuple[str, int]]]) -> list[Row]:
    """Return the instructions that changed the accounts of each mint by so much.

    What came from nowhere was minted; the wrapped coin comes from, and goes to, an account of the payer that
    is closed again.
    """
    rows = []
    for mint, accounts in changes.items():
        left = dict(accounts)
        if missing := sum(left.values()):
            if mint == WRAPPED:
                opened = {"account": "temporary", "mint": WRAPPED, "owner": payer}
                rows.append(_parsed("initializeAccount3", opened))
                left["temporary"] = -missing
            else:
                largest = max(left, key=lambda account: left[account])
                minted = {"mint": mint, "account": largest, "amount": str(missing)}
                rows.append(
                    _parsed("mintTo" if missing > 0 else "burn", minted | {"amount": str(abs(missing))})
                )
                left[largest] -= missing
        for source, change in left.items():
            for destination in left:
                units = min(-left[source], left[destination])
                if change < 0 < units:
                    amount = {"amount": str(units), "decimals": 6}
                    moved = {
                        "source": source,
                        "destination": destination,
                        "mint": mint,
                        "tokenAmount": amount,
                        "authority": payer if source == "temporary" else source.partition(" of ")[2],
                    }
                    rows.append(_parsed("transferChecked", moved))
                    left[source] += units
                    left[destination] -= units
    return rows


def _parsed(kind: str, info: Row) -> Row:
    return {
        "program": "spl-token",
        "programId": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        "parsed": {"type": kind, "info": info},
        "stackHeight": 2,
    }


class RefusedVersionError(Exception):
    """The node's error for the version of a transaction: code and message."""


@dataclass
class Transactions:
    """What wallets did. `untold` are listed and not returned; `page_rows` is the most it lists at once.

    `newest_version` is the highest value of maxSupportedTransactionVersion that the node supports. `unfinal`
    are not final yet. `has_history` is whether it has getTransactionsForAddress, of pages
    with `history_rows`; `of_accounts` name only a token account of their wallet, so that no list has them.
    """

    untold: set[str] = field(default_factory=set)
    unfinal: set[str] = field(default_factory=set)
    page_rows: int = 1000
    newest_version: int = 127
    has_history: bool = False
    history_rows: int = 100
    of_accounts: set[str] = field(default_factory=set)
    _results: dict[str, Row] = field(default_factory=dict)
    _listed: dict[str, list[str]] = field(default_factory=dict)
    _times: dict[int, int] = field(default_factory=dict)

    def add(self, wallet: str, signature: str, result: Row) -> None:
        """Add a transaction of a wallet, or put it into another block, in which it is at once."""
        is_known = signature in self._results
        self._results[signature] = result
        self._times[result["slot"]] = result["blockTime"]
        if is_known:
            self._listed[wallet] = [each for each in self._listed.get(wallet, []) if each != signature]
        self._listed.setdefault(wallet, []).append(signature)

    def drop(self, signature: str) -> None:
        """Forget a transaction, since its block is no longer on the chain."""
        del self._results[signature]
        self.unfinal.discard(signature)
        for listed in self._listed.values():
            if signature in listed:
                listed.remove(signature)

    def slot(self, options: Row) -> int:
        """getSlot."""
        assert options == {"commitment": "finalized"}
        final = set(self._results) - self.unfinal
        return max((self._results[each]["slot"] for each in final), default=0)

    def block_time(self, slot: int) -> int | None:
        """getBlockTime."""
        return self._times.get(slot)

    def signatures(self, address: str, options: Row) -> list[Row]:
        """getSignaturesForAddress, the newest first."""
        assert options["commitment"] == "finalized"
        assert 1 <= options["limit"] <= 1000
        final = self._final(address) - self.of_accounts
        listed = sorted(self._in_order(final), key=lambda each: self._results[each]["blockTime"])[::-1]
        start = listed.index(options["before"]) + 1 if "before" in options else 0
        return [
            {
                "signature": signature,
                "slot": self._results[signature]["slot"],
                "err": self._results[signature]["meta"]["err"],
                "memo": None,
                "blockTime": self._results[signature]["blockTime"],
                "confirmationStatus": "finalized",
            }
            for signature in listed[start : start + min(options["limit"], self.page_rows)]
        ]

    def _final(self, address: str) -> set[str]:
        return set(self._listed.get(address, ())) - self.unfinal

    def _in_order(self, signatures: set[str]) -> list[str]:
        """Return transactions in the order in which they were added, which is that within a block."""
        return [signature for signature in list(self._results) if signature in signatures]

    def history(self, address: str, options: Row) -> Row:
        """getTransactionsForAddress, the oldest first.

        https://www.helius.dev/docs/api-reference/rpc/http/gettransactionsforaddress
        """
        assert options["commitment"] == "finalized"
        assert (options["transactionDetails"], options["sortOrder"]) == ("full", "asc")
        assert options["encoding"] == "jsonParsed"
        # More is not allowed by each version of the documentation.
        assert 1 <= options["limit"] <= 100
        filters = options["filters"]
        assert (filters["status"], filters["tokenAccounts"]) == ("succeeded", "balanceChanged")
        since = filters["blockTime"]["gte"]
        final = [(self._results[each], each) for each in self._in_order(self._final(address))]
        rows = [row for row in final if row[0]["blockTime"] >= since and row[0]["meta"]["err"] is None]
        rows.sort(key=lambda row: row[0]["slot"])
        start = int(options.get("paginationToken", "0:0").split(":")[1])
        end = start + min(options["limit"], self.history_rows)
        for result, _ in rows[start:end]:
            self._check_version(result, options["maxSupportedTransactionVersion"])
        return {
            "data": [_whole(result, signature) for result, signature in rows[start:end]],
            "paginationToken": f"{rows[end][0]['slot']}:{end}" if end < len(rows) else None,
        }

    def transaction(self, signature: str, options: Row) -> Row | None:
        """getTransaction."""
        assert options["encoding"] == "jsonParsed"
        result = self._results.get(signature)
        if result is None or signature in self.unfinal:
            return None
        self._check_version(result, options["maxSupportedTransactionVersion"])
        return None if signature in self.untold else result

    def _check_version(self, result: Row, newest: int) -> None:
        if newest > self.newest_version:
            raise RefusedVersionError(-32602, "Invalid params: unknown version")
        if result["version"] != "legacy" and result["version"] > newest:
            # https://www.ankr.com/docs/changelog/solana-transaction-v1-2026-09-15/
            version = result["version"]
            raise RefusedVersionError(
                -32015,
                f"Transaction version ({version}) is not supported by the requesting client. Please try the"
                " request again with the following configuration parameter:"
                f' "maxSupportedTransactionVersion": {version}',
            )


def _whole(result: Row, signature: str) -> Row:
    """Return a transaction as a page has it: with its signature and its place in the block."""
    return result | {
        "transactionIndex": 0,
        "transaction": result["transaction"] | {"signatures": [signature]},
    }


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
    """Return the current time in whole seconds, as blocks have it."""
    return datetime.now(UTC).replace(microsecond=0)

"""The first buyers of a token of Solana, by the transactions of its launchpad's curve, its mint or a pool.

https://github.com/pump-fun/pump-public-docs, https://www.solana-program.com/docs/associated-token-account
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec
from solders.pubkey import Pubkey

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import EARLIEST
from wallet_api.chain.decoding.amounts import UnusableRow
from wallet_api.chain.decoding.solana.transactions import Transaction, steps
from wallet_api.chain.decoding.swaps import Reason
from wallet_api.chain.discovery.launches import (
    Beginning,
    Launch,
    NotReached,
    ReadTransaction,
    candidate_wallets,
)
from wallet_api.chain.discovery.results import SavingNode
from wallet_api.chain.providers.balances.solana_rpc import TOKEN_PROGRAMS
from wallet_api.chain.providers.metadata.solana import AtSlot
from wallet_api.chain.providers.trades.solana_node import SolanaNode
from wallet_api.chain.providers.trades.solana_rpc import decode_listed
from wallet_api.chain.providers.trades.source import Listed

PUMP = Pubkey.from_string("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
_ASSOCIATED = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
_TOKEN_PROGRAMS = {name: Pubkey.from_string(address) for name, address in TOKEN_PROGRAMS.items()}
_ACCOUNTS = 100

UNLISTED = "unlisted"
"""A known transaction is not among those that the node lists of the account."""

_Row = tuple[Listed, Transaction | None]
_Read = tuple[Sequence[ReadTransaction], Sequence[str]]


class _Account(msgspec.Struct):
    owner: str = ""
    data: Any = None


class SolanaSource:
    """A node of Solana."""

    def __init__(self, node: SavingNode, mints: Sequence[str]) -> None:
        self._raw = node
        self._node = SolanaNode(node)
        self._wallet = candidate_wallets(CHAINS["solana"])
        self._programs, self._curves = self._look_up(mints)
        # The transactions of each token from its beginning on.
        self._rows: dict[str, Iterator[_Row]] = {}
        # By owner and mint the token accounts that transactions name, with these.
        self._accounts: dict[tuple[str, str], dict[str, set[str]]] = {}
        self._read: set[tuple[str, str]] = set()

    def first_block(self, mint: str, since: Beginning | None) -> int:
        """Return the slot of the transaction that creates the mint. Raise NotReached."""
        if mint not in self._programs:
            raise NotReached("the node has no mint at its address")
        if isinstance(since, int):
            raise NotReached(
                "a block cannot be given on Solana; give a date or the address of its pool (--since)"
            )
        where = self._curves.get(mint, mint)
        rows: Iterator[_Row]
        if isinstance(since, datetime):
            rows = (row for row in self._transactions(where, since) if row[0].created_at >= since)
        else:
            rows = self._transactions(since or where)
        first = next(rows, None)
        if first is None:
            raise NotReached("the node lists no transaction of it")
        if since is None and not _creates(first[1], mint):
            raise NotReached(
                "the oldest transaction that the node lists does not create the token, so that earlier ones"
                " are missing; give the beginning (--since)"
            )
        self._rows[mint] = chain([first], rows)
        return 0 if first[1] is None else first[1].slot

    def first_buys(self, mint: str, first_block: int) -> Iterator[Sequence[ReadTransaction]]:
        """Yield what transactions were for who signed and has more of the token afterwards, oldest first."""
        for listed, transaction in self._rows[mint]:
            if transaction is None:
                yield [ReadTransaction("", listed.tx_signature, why=str(Reason.UNREADABLE))]
                continue
            self._remember_accounts(listed.tx_signature, transaction)
            gained = _gained(transaction, mint)
            yield [
                self._reading(signer, listed, transaction)
                for signer in transaction.keys
                if signer in transaction.signers and signer in gained
            ]

    def trades_of(self, addresses: Sequence[str], launches: Sequence[Launch]) -> Iterator[_Read]:
        """Yield what the transactions of each wallet's accounts of the tokens were, and who is read now."""
        for address in addresses:
            for launch in launches:
                yield from self._own(address, launch.mint)
            yield (), [address]

    def _own(self, address: str, mint: str) -> Iterator[_Read]:
        read: set[str] = set()
        while True:
            known = self._accounts.get((address, mint)) or {self._associated(address, mint): set()}
            account = next((each for each in known if each not in read), None)
            if account is None:
                return
            read.add(account)
            missing = set(known[account])
            for listed, transaction in self._transactions(account):
                missing.discard(listed.tx_signature)
                if (address, listed.tx_signature) in self._read:
                    continue
                if transaction is None:
                    yield [ReadTransaction(address, listed.tx_signature, why=str(Reason.UNREADABLE))], ()
                    continue
                self._remember_accounts(listed.tx_signature, transaction)
                yield [self._reading(address, listed, transaction)], ()
            # A node that lists an account without what is known of it may as well leave out a sell.
            yield [ReadTransaction(address, f"{UNLISTED} {each}", why=UNLISTED) for each in missing], ()

    def _look_up(self, mints: Sequence[str]) -> tuple[dict[str, Pubkey], dict[str, str]]:
        """Return the programs of the mints that the node has, and the curves of those of pump.fun."""
        programs: dict[str, Pubkey] = {}
        curves: dict[str, str] = {}
        for start in range(0, len(mints), _ACCOUNTS // 2):
            part = mints[start : start + _ACCOUNTS // 2]
            addresses = [*part, *map(curve_of, part)]
            with self._raw.fetcher.begin("solana") as fetch:
                (result,) = self._raw.call(
                    fetch, [("getMultipleAccounts", [addresses, {"encoding": "jsonParsed"}])]
                )
            found = dict(zip(addresses, result.read(AtSlot[list[_Account | None]]).value, strict=False))
            for mint in part:
                account, curve = found.get(mint), found.get(curve_of(mint))
                program = account.data.get("program") if account and isinstance(account.data, dict) else None
                if program in _TOKEN_PROGRAMS:
                    programs[mint] = _TOKEN_PROGRAMS[program]
                if curve is not None and curve.owner == str(PUMP):
                    curves[mint] = curve_of(mint)
        return programs, curves

    def _transactions(self, address: str, since: Any = EARLIEST) -> Iterator[_Row]:
        """Yield the transactions that name an address, oldest first: in whole pages if the node has them."""
        of = self._wallet(address)
        signatures: set[str] = set()
        for rows, until, is_last in self._node.pages(of, since):
            yield from (row for row in rows if row[0].tx_signature not in signatures)
            signatures.update(row[0].tx_signature for row in rows)
            since = until
            if is_last:
                return
        for listed in self._node.listed(of, since):
            if listed.tx_signature in signatures:
                continue
            yield listed, self._transaction(listed.tx_signature)

    def _transaction(self, signature: str) -> Transaction | None:
        """Return a transaction; None if the node returns nothing that can be read, twice."""
        for may_be_wrong in (True, False):
            with suppress(UnusableRow):
                if (transaction := self._node.transaction(signature)) is not None:
                    return transaction
            if may_be_wrong:
                self._raw.forget()
        return None

    def _reading(self, address: str, listed: Listed, transaction: Transaction) -> ReadTransaction:
        self._read.add((address, listed.tx_signature))
        decoded = decode_listed(replace(listed, wallet=self._wallet(address)), transaction)
        why = str(decoded.why) if decoded.is_kept else None
        return ReadTransaction(address, listed.tx_signature, decoded.drafts, why)

    def _remember_accounts(self, signature: str, transaction: Transaction) -> None:
        keys = transaction.keys
        for balance in transaction.meta.token_balances:
            if balance.owner is not None and balance.account_index < len(keys):
                accounts = self._accounts.setdefault((balance.owner, balance.mint), {})
                accounts.setdefault(keys[balance.account_index], set()).add(signature)

    def _associated(self, owner: str, mint: str) -> str:
        program = self._programs.get(mint, _TOKEN_PROGRAMS["spl-token"])
        seeds = [bytes(Pubkey.from_string(owner)), bytes(program), bytes(Pubkey.from_string(mint))]
        return str(Pubkey.find_program_address(seeds, _ASSOCIATED)[0])


def curve_of(mint: str) -> str:
    """Return the address of the bonding curve that a token of pump.fun has."""
    return str(Pubkey.find_program_address([b"bonding-curve", bytes(Pubkey.from_string(mint))], PUMP)[0])


def _gained(transaction: Transaction, mint: str) -> set[str]:
    """Return the owners that have more of a token afterwards."""
    changes: Counter[str] = Counter()
    meta = transaction.meta
    for sign, balances in ((-1, meta.pre_token_balances), (1, meta.post_token_balances)):
        for balance in balances or ():
            units = balance.ui_token_amount.amount
            if balance.mint == mint and balance.owner is not None and units.isdecimal():
                changes[balance.owner] += sign * int(units)
    return {owner for owner, change in changes.items() if change > 0}


def _creates(transaction: Transaction | None, mint: str) -> bool:
    if transaction is None:
        return False
    try:
        return any(
            step.kind.startswith("initializeMint") and step.info.get("mint") == mint
            for step in steps(transaction)
        )
    except UnusableRow:
        return False

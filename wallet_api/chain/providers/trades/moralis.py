"""Moralis' swaps of a wallet, on all four chains, page by page.

Formats: https://docs.moralis.com/data-api/evm/wallet/wallet-swaps and
https://docs.moralis.com/data-api/solana/wallet/wallet-swaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from wallet_api.base import forms
from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address, whole_number_of
from wallet_api.chain.decoding.swaps import LeftOut, Leg, Reason, Swap, TrackedWallet
from wallet_api.chain.decoding.trades import draft_trades
from wallet_api.chain.providers.faults import Malformed
from wallet_api.chain.providers.fetch import Fetcher
from wallet_api.chain.providers.parsing import clean, has_next, read_row
from wallet_api.chain.providers.replies import read_as
from wallet_api.chain.providers.trades.source import Block, Chunk, Listed
from wallet_api.settings import Settings

PAGE_ROWS = 100
# Of the number of a block.
_MOST_DIGITS = 18
# Pages in a chunk: they bound the memory for a wallet with many swaps, and what an interruption loses.
CHUNK_PAGES = 20


class _Page(msgspec.Struct):
    result: list[msgspec.Raw]
    cursor: str | None = None


class MoralisTrades:
    """`/wallets/{address}/swaps` and `/account/mainnet/{address}/swaps`, oldest first."""

    reads_blocks = False
    states_final = False

    def __init__(self, settings: Settings, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._evm_url = settings.moralis_evm_url
        self._solana_url = settings.moralis_solana_url

    def chunks(
        self,
        wallets: Sequence[TrackedWallet],
        since: datetime,
        again: Sequence[Listed] = (),
        known: Sequence[Block] = (),
    ) -> Iterator[Chunk]:
        """Implement TradeSource.chunks. Each page is a fetch with its own deadline and retries.

        A single transaction cannot be requested: what was left out is read again as a part of its span.
        """
        (wallet,) = wallets
        chunk = self._chunk(wallet, since)
        while chunk.until is not None:
            yield chunk
            since = chunk.until
            chunk = self._chunk(wallet, since)
        yield chunk

    def _chunk(self, wallet: TrackedWallet, since: datetime) -> Chunk:
        url, parameters = self._request(wallet, since)
        swaps: list[Swap] = []
        left_out: list[LeftOut] = []
        cursors: set[str] = set()
        while True:
            with self._fetcher.begin(wallet.chain.name) as fetch:
                page = fetch.get(url, parameters, read_as(_Page))
            last_page = [swap for raw in page.result if (swap := _swap_or_none(wallet, raw, left_out))]
            swaps += last_page
            if not has_next(page.cursor, cursors):
                return _drafted(swaps, left_out)
            if len(cursors) >= CHUNK_PAGES:
                return _complete_part(swaps, last_page, left_out, since)
            parameters = parameters | {"cursor": page.cursor or ""}

    def _request(self, wallet: TrackedWallet, since: datetime) -> tuple[str, dict[str, str]]:
        parameters = {
            "order": "ASC",
            # Not documented as inclusive, so the request starts a second earlier.
            "fromDate": str(int(since.timestamp()) - 1),
            "transactionTypes": "buy,sell",
            "limit": str(PAGE_ROWS),
        }
        if not wallet.chain.is_evm:
            return f"{self._solana_url}/account/mainnet/{wallet.address}/swaps", parameters
        # Without it Moralis assumes Ethereum.
        parameters["chain"] = wallet.chain.moralis_chain
        return f"{self._evm_url}/wallets/{wallet.address}/swaps", parameters


def _complete_part(
    swaps: list[Swap], last_page: list[Swap], left_out: list[LeftOut], since: datetime
) -> Chunk:
    """Return the part of the swaps before the oldest time of the last page.

    Later transactions may continue on the next page.
    """
    until = min((swap.created_at for swap in last_page), default=since)
    if until <= since + timedelta(seconds=1):
        raise Malformed(f"{CHUNK_PAGES} pages whose times do not advance")
    chunk = _drafted([swap for swap in swaps if swap.created_at < until], left_out)
    chunk.until, chunk.is_last = until, False
    return chunk


def _drafted(swaps: list[Swap], left_out: list[LeftOut]) -> Chunk:
    drafted = draft_trades(swaps)
    return Chunk(drafted.drafts, left_out + drafted.left_out, swaps=len(swaps), wraps=drafted.wraps)


def _swap_or_none(wallet: TrackedWallet, raw: msgspec.Raw, left_out: list[LeftOut]) -> Swap | None:
    signature = ""
    try:
        row = read_row(raw)
        signature = clean(row.get("transactionHash"))
        return read_swap(wallet, row)
    except UnusableRow as error:
        left_out.append(LeftOut(wallet, signature[: forms.MAX_SIGNATURE], Reason.INVALID, str(error)))
        return None


def read_swap(wallet: TrackedWallet, row: Mapping[str, Any]) -> Swap:
    """Return the swap in a row whose fractions are texts. Raise UnusableRow."""
    signature = row.get("transactionHash")
    if (
        not isinstance(signature, str)
        or not signature
        or len(signature) > forms.MAX_SIGNATURE
        or "\0" in signature
    ):
        raise UnusableRow("no transaction hash")
    owner = row.get("walletAddress")
    if owner is not None and (not isinstance(owner, str) or wallet.chain.canonical(owner) != wallet.address):
        raise UnusableRow("a swap of another wallet")
    bought: Any = row.get("bought")
    sold: Any = row.get("sold")
    block = whole_number_of(row.get("blockNumber"), _MOST_DIGITS)
    return Swap(
        wallet=wallet,
        tx_signature=signature if wallet.chain.case_sensitive else signature.lower(),
        created_at=_time(row.get("blockTimestamp")),
        pool=clean(row.get("pairAddress")),
        bought=_leg(wallet.chain, "bought", bought),
        sold=_leg(wallet.chain, "sold", sold),
        usd=_usd(row, bought, sold),
        block=block,
        # A place in no block is none.
        block_index=None if block is None else whole_number_of(row.get("transactionIndex"), _MOST_DIGITS),
    )


def _leg(chain: Chain, side: str, leg: Any) -> Leg:
    if not isinstance(leg, dict):
        raise UnusableRow(f"nothing {side}")
    address = leg.get("address")
    amount = _number(leg.get("amount"))
    if amount is None:
        raise UnusableRow(f"the amount {side} is not a number that the ledger accepts")
    if not amount:
        raise UnusableRow(f"the amount {side} is zero")
    if isinstance(address, str) and chain.is_native(chain.canonical(address)):
        return Leg(None, amount)
    return Leg(
        read_address(chain, address), amount, clean(leg.get("name")) or clean(leg.get("symbol")) or None
    )


def _usd(row: Mapping[str, Any], bought: Mapping[str, Any], sold: Mapping[str, Any]) -> Decimal | None:
    """Return the dollar value; None if unknown, which the provider reports as 0."""
    values = (row.get("totalValueUsd"), bought.get("usdAmount"), sold.get("usdAmount"))
    return next((number for value in values if (number := _number(value))), None)


def _number(value: Any) -> Decimal | None:
    """Return the exact number without its sign; None if it is invalid, or outside the ledger's limits."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        number = Decimal(value).copy_abs()
        forms.check_amount("amount", number)
    except (InvalidOperation, ValueError):
        return None
    return number


def _time(value: Any) -> datetime:
    if not isinstance(value, str):
        raise UnusableRow("no time")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise UnusableRow("the time is not ISO 8601") from error
    try:
        return forms.check_time("the time", moment, datetime.now(UTC))
    except forms.BadRow as error:
        raise UnusableRow(error.rule) from error

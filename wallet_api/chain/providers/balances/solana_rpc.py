"""Balances from a Solana node: the native coin, and the accounts of both token programs, summed by mint.

https://solana.com/docs/rpc/http/gettokenaccountsbyowner
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from wallet_api.base.chains import Chain
from wallet_api.chain.decoding.amounts import UnusableRow, read_address, read_amount, read_decimals
from wallet_api.chain.providers.balances.base import (
    BalanceProvider,
    Balances,
    HeldToken,
    KnownTokens,
    read_native,
    sum_by_address,
)
from wallet_api.chain.providers.faults import Oversized, TooLarge
from wallet_api.chain.providers.fetch import Fetch, Limits
from wallet_api.chain.providers.jsonrpc import Node
from wallet_api.chain.providers.metadata.faces import Face
from wallet_api.chain.providers.metadata.solana import AtSlot, SolanaTokens
from wallet_api.chain.providers.metrics import FetchMetrics
from wallet_api.chain.providers.parsing import read_rows
from wallet_api.settings import Settings

# By the name that a node gives the program of a mint.
TOKEN_PROGRAMS = {
    "spl-token": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "spl-token-2022": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
}
_COMMITMENT = {"commitment": "finalized"}


def solana_rpc(chain: Chain, settings: Settings, limits: Limits, metrics: FetchMetrics) -> BalanceProvider:
    """Return what reads getBalance and getTokenAccountsByOwner.

    If either program's accounts are missing, the fetch fails.
    """
    # The response has no pages, so for a large wallet the first byte may take long.
    limits = replace(limits, silence_seconds=limits.total_seconds)
    node = Node(str(settings.chain(chain.name).rpc_url), limits, metrics)
    metadata = SolanaTokens(node)

    def balances(address: str, known_tokens: KnownTokens, fetch: Fetch) -> Balances:
        parsed = _COMMITMENT | {"encoding": "jsonParsed"}
        native, *programs = node.call(
            fetch,
            [
                ("getBalance", [address, _COMMITMENT]),
                *(
                    ("getTokenAccountsByOwner", [address, {"programId": program}, parsed])
                    for program in TOKEN_PROGRAMS.values()
                ),
            ],
        )
        try:
            accounts = [
                account for program in programs for account in program.read(AtSlot[list[msgspec.Raw]]).value
            ]
        except Oversized as fault:
            # The balance that came before shows that the node works: the wallet's own list is too large.
            native.read(AtSlot[int])
            raise TooLarge(fault.detail) from None
        held = sum_by_address(read_rows(accounts, partial(_read_token, chain), fetch))
        faces = metadata.look_up(fetch, [token.address for token in sorted(held, key=_may_be_nft)])
        tokens = [_named(token, faces) for token in held if not _is_nft(token, faces)]
        return Balances(read_native(native.read(AtSlot[int]).value), tokens)

    return BalanceProvider(node.fetcher, balances)


def _read_token(chain: Chain, row: dict[str, Any]) -> HeldToken | None:
    try:
        info = row["account"]["data"]["parsed"]["info"]
        mint, balance = info["mint"], info["tokenAmount"]
        amount = read_amount(balance["amount"])
        # An empty account stays open until its owner closes it.
        if amount == 0:
            return None
        # Not uiAmountString: some Token-2022 mints scale it.
        return HeldToken(read_address(chain, mint), "", "", amount, read_decimals(balance["decimals"]))
    except (KeyError, TypeError) as error:
        raise UnusableRow("an account that the node could not parse") from error


def _may_be_nft(token: HeldToken) -> bool:
    return token.decimals == 0 and token.amount == 1


def _is_nft(token: HeldToken, faces: Mapping[str, Face]) -> bool:
    face = faces.get(token.address)
    return _may_be_nft(token) and (face is None or not face.fungible)


def _named(token: HeldToken, faces: Mapping[str, Face]) -> HeldToken:
    face = faces.get(token.address, Face())
    return replace(token, name=face.name, symbol=face.symbol)

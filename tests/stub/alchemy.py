"""Alchemy's Portfolio API, over the same portfolios."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Response, request

from tests.stub.moralis import Portfolio, json_response

NETWORKS = {"eth-mainnet": "eth", "bnb-mainnet": "bnb", "base-mainnet": "base", "solana-mainnet": "solana"}


@dataclass
class Alchemy:
    """The behaviour of the API, which tests may change."""

    portfolios: Callable[[str, str], Portfolio]
    page_size: int = 100
    as_list: bool = False
    partial_errors: bool = False

    def answer(self, key: str) -> Response:
        """Return a page of a wallet's balances on one network."""
        question = json.loads(request.get_data())
        (place,) = question["addresses"]
        (network,) = place["networks"]
        address = place["address"]
        portfolio = self.portfolios(NETWORKS[network], address)
        rows = [_row(address, network, None, hex(portfolio.native), {})]
        for number, token in enumerate(portfolio.tokens):
            facts = {"name": token.name, "symbol": token.symbol, "decimals": token.decimals, "logo": None}
            # Both forms are met in the wild.
            balance = hex(token.units) if number % 2 else str(token.units)
            rows.append(_row(address, network, token.address, balance, facts))
        start = int(question.get("pageKey") or 0)
        end = start + self.page_size
        page = rows[start:end]
        key_of_next = str(end) if end < len(rows) else None
        document: dict[str, Any] = {"data": {"tokens": page, "pageKey": key_of_next}}
        if self.as_list:
            document = {"data": page, "pageKey": key_of_next}
        if self.partial_errors:
            document["error"] = {"partialErrors": [{"network": network, "message": "timeout"}]}
        return json_response(document)


def _row(
    address: str, network: str, token: str | None, balance: str, facts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "address": address,
        "network": network,
        "tokenAddress": token,
        "tokenBalance": balance,
        "tokenMetadata": facts or {"name": None, "symbol": None, "decimals": None, "logo": None},
        "tokenPrices": [],
    }

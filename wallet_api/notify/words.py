"""The words of a message, which templates have by name."""

import json
import string
from collections.abc import Mapping
from urllib.parse import quote

from wallet_api.base.chains import CHAINS
from wallet_api.base.forms import without_zeros
from wallet_api.notify.events import Change, RuleReport, TradeChange

# Columns of the feed under their own names.
_COLUMNS = (
    *("transaction_type", "mint", "symbol", "token_name", "token_amount", "value", "value_usd", "currency"),
    *("tx_signature", "created_at"),
)
# What strangers may have written; all else has numbers, times and words of our own.
FOREIGN = frozenset(
    (
        *("wallet", "wallet_address", "wallet_name", "wallets", "mint", "symbol", "token", "token_name"),
        "tx_signature",
    )
)
NAMES = (
    *("type", "rule", "chain", "wallet", "wallet_address", "wallet_name", "wallets", "wallet_count", "count"),
    *("token", *_COLUMNS, "bag_pct", "market_cap", "link"),
)
# An address of more is shortened.
_LONG = 12


def words_of(report: RuleReport) -> dict[str, str]:
    """Return the words of what a rule reports: a wallet or token without a name has its short address."""
    change = report.change
    found = {name: _text(change, name) for name in _COLUMNS}
    address, name = _text(change, "profile_wallet_address"), _text(change, "profile_name")
    cap = change.market_cap if isinstance(change, TradeChange) else None
    return {
        **found,
        "type": report.kind,
        "rule": report.rule.name,
        "chain": _text(change, "profile_blockchain"),
        "wallet": name or short(address),
        "wallet_address": address,
        "wallet_name": name,
        "wallets": ", ".join(report.wallets),
        "wallet_count": str(1 if report.ended_at is None and address else len(report.wallets)),
        "count": str(len(report.wallets)),
        "token": found["symbol"] or found["token_name"] or short(found["mint"]),
        "bag_pct": _text(change, "holdings_after_bag_pct"),
        # As the API rounds it.
        "market_cap": "" if cap is None else without_zeros(f"{cap:.9f}"),
        "link": _link(report),
    }


def short(address: str) -> str:
    """Return the beginning and the end of an address."""
    start = 6 if address.startswith("0x") else 4
    return address if len(address) <= _LONG else f"{address[:start]}…{address[-4:]}"


def filled(template: string.Template, words: Mapping[str, str]) -> str:
    """Return a template with these words; those that a message has not are empty."""
    return template.substitute({**dict.fromkeys(NAMES, ""), **words})


def quoted(words: Mapping[str, str]) -> dict[str, str]:
    """Return words escaped for a text of JSON, since who names a token must not write JSON."""
    return {name: json.dumps(word)[1:-1] for name, word in words.items()}


def _text(change: Change, column: str) -> str:
    value = change.columns.get(column)
    return "" if value is None else str(value)


def _link(report: RuleReport) -> str:
    """Return the page of an explorer about the token of a cluster, the transaction, or the wallet."""
    change = report.change
    chain = CHAINS.get(_text(change, "profile_blockchain") or _text(change, "blockchain"))
    if chain is None:
        return ""
    pages = [
        (chain.explorer["transaction"], _text(change, "tx_signature")),
        (chain.explorer["token"], _text(change, "mint")),
    ]
    if report.ended_at is not None:
        pages.reverse()
    pages.append((chain.explorer["wallet"], _text(change, "profile_wallet_address")))
    return next((page + quote(id, safe="") for page, id in pages if id), "")

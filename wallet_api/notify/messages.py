"""The messages of webhooks: their ids, bodies and signatures, in the form of Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import json
import string
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

# What a template has by name, and the columns of the feed.
WORDS = {
    "chain": "profile_blockchain",
    "wallet": "profile_wallet_address",
    "wallet_name": "profile_name",
    **{
        name: name
        for name in (
            *("transaction_type", "mint", "symbol", "token_name", "token_amount", "value", "value_usd"),
            *("currency", "tx_signature", "created_at"),
        )
    },
}
NAMES = ("type", "rule", *WORDS, "wallets", "count")


def message_id(*parts: str) -> str:
    """Return the id of a message, which follows from what it reports."""
    return f"msg_{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"


def body_of(
    template: string.Template | None, members: Mapping[str, Any], data: str, words: Mapping[str, Any]
) -> str:
    """Return the body of a message: its members and `data`, which is JSON, or the template.

    A template has the members and these words by name.
    """
    if template is None:
        return f'{json.dumps(members, separators=(",", ":"))[:-1]},"data":{data}}}'
    return filled(template, {**members, **words})


def filled(template: string.Template, words: Mapping[str, Any]) -> str:
    """Return a template with these words, escaped for JSON, since who names a token must not write JSON."""
    quoted = {name: json.dumps("" if word is None else str(word))[1:-1] for name, word in words.items()}
    return template.substitute(dict.fromkeys(NAMES, "") | quoted)


def headers_of(secrets: Sequence[bytes], id: str, now: datetime, body: str) -> dict[str, str]:
    """Return the headers of a message, with a signature by each secret."""
    timestamp = str(int(now.timestamp()))
    content = f"{id}.{timestamp}.{body}".encode()
    signatures = (base64.b64encode(hmac.digest(secret, content, "sha256")).decode() for secret in secrets)
    return {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }

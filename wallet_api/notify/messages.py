"""The messages of webhooks: their ids, bodies and signatures, in the form of Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from wallet_api.base.times import shown_time
from wallet_api.notify.events import MessageType, RuleReport
from wallet_api.notify.formats import cut_text, lines_of, text_of
from wallet_api.notify.targets import Target
from wallet_api.notify.words import filled, quoted, words_of


@dataclass(frozen=True)
class MessageContent:
    """What a message says to any target: members of its body, `data` as JSON, and words of templates."""

    kind: MessageType
    members: Mapping[str, Any]
    data: str = "{}"
    words: Mapping[str, str] = field(default_factory=dict)


def event_id(*parts: object) -> str:
    """Return the id of what a rule reports, which follows from it."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:32]


def message_id(event: str, target: str) -> str:
    """Return the id of the message about it to a target: two of them have other bodies, and other ids."""
    return "msg_" + event_id(event, target)


def content_of(report: RuleReport, data: str) -> MessageContent:
    """Return the content of a report, with the row of the feed as JSON."""
    change = report.change
    members: dict[str, Any] = {
        "type": report.kind,
        "timestamp": change.columns["arrived_at"],
        "rule": report.rule.name,
    }
    if report.ended_at is not None:
        cluster = {
            "blockchain": change.columns["profile_blockchain"],
            "mint": change.columns["mint"],
            "at": shown_time(report.ended_at),
        }
        members |= {"cluster": cluster, "wallets": list(report.wallets)}
    return MessageContent(report.kind, members, data, words_of(report))


def content_of_many(
    kind: MessageType, rule: str, last_at: datetime, data: Mapping[str, Any]
) -> MessageContent:
    """Return the content of a message that stands for `count` others, of which the last is of a time."""
    at = shown_time(last_at)
    members = {"type": kind, "timestamp": at, **({"rule": rule} if rule else {})}
    words = {"type": kind, "rule": rule, "count": str(data["count"]), "created_at": at}
    return MessageContent(kind, members, _json(data), words)


def body_of(target: Target, content: MessageContent) -> str:
    """Return the body of a message to a target."""
    if target.format is not None:
        return _json(target.format.body(cut_text(target.format, _text(target, content)), target.chat_id))
    if target.template is not None:
        return filled(target.template, quoted({"type": content.kind, **content.words}))
    return f'{_json(content.members)[:-1]},"data":{content.data}}}'


def item_of(target: Target, content: MessageContent) -> str:
    """Return what a digest to a target has of a message: for chats its text, as JSON."""
    if target.format is not None:
        return _json(_text(target, content))
    return f'{_json(content.members)[:-1]},"data":{content.data}}}'


def digest_body(target: Target, content: MessageContent, items: Sequence[str]) -> str:
    """Return the body of a digest, of which `data` has no `messages` yet, and these items."""
    if target.format is not None:
        texts = [text for item in items if isinstance(text := json.loads(item), str)]
        text = lines_of(target.format, [_text(target, content), *texts], int(content.words["count"]))
        return _json(target.format.body(text, target.chat_id))
    data = f'{content.data[:-1]},"messages":[{",".join(items)}]}}'
    return body_of(target, MessageContent(content.kind, content.members, data, content.words))


def _text(target: Target, content: MessageContent) -> str:
    assert target.format is not None
    return text_of(target.format, content.kind, target.template, content.words)


def _json(document: object) -> str:
    return json.dumps(document, separators=(",", ":"))


def headers_of(secrets: Sequence[bytes], id: str, now: datetime, body: str) -> dict[str, str]:
    """Return the headers of a message, with a signature by each secret."""
    timestamp = str(int(now.timestamp()))
    content = f"{id}.{timestamp}.{body}".encode()
    signatures = (base64.b64encode(hmac.digest(secret, content, "sha256")).decode() for secret in secrets)
    headers = {"content-type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp}
    if secrets:
        headers["webhook-signature"] = " ".join(f"v1,{signature}" for signature in signatures)
    return headers

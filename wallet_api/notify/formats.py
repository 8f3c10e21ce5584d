"""The bodies that chats take: members, lengths, and how a stranger's name is made harmless in them."""

import html
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from wallet_api.base.forms import visible
from wallet_api.notify.events import OF_TRADES, MessageType
from wallet_api.notify.words import FOREIGN, filled

_TEMPLATES = {kind: string.Template(kind.text) for kind in MessageType}
# After one of these, what follows may be a mention, a command, a tag, or go on as an address.
_LEADING = re.compile(r"([@#/:.。．｡])(?=\S)")
_MARKUP = re.compile(r"([\\*_~`|<>\[\]()#-])")
_UTF_16 = "utf-16-le"


@dataclass(frozen=True)
class Format:
    """A chat: the most characters of a text (in UTF-16), what its markup is escaped by, and its body."""

    most: int
    escape: Callable[[str], str]
    body: Callable[[str, Any], dict[str, Any]]


FORMATS: Mapping[str, Format] = {
    # https://docs.discord.com/developers/resources/webhook#execute-webhook
    "discord": Format(
        2000,
        lambda text: _MARKUP.sub(r"\\\1", text),
        # Without previews of links.
        lambda text, _: {"content": text, "allowed_mentions": {"parse": []}, "flags": 4},
    ),
    # https://core.telegram.org/bots/api#sendmessage
    "telegram": Format(
        4096,
        lambda text: text,
        lambda text, chat_id: {
            "chat_id": chat_id,
            "text": text,
            "link_preview_options": {"is_disabled": True},
        },
    ),
    # https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
    "slack": Format(
        4000,
        partial(html.escape, quote=False),
        lambda text, _: {"text": text, "mrkdwn": False, "unfurl_links": False, "unfurl_media": False},
    ),
}


def text_of(
    format: Format, kind: MessageType, template: string.Template | None, words: Mapping[str, str]
) -> str:
    """Return the text of a message, by the template where it is about trades. It is not empty."""
    harmless = {name: _harmless(format, word) if name in FOREIGN else word for name, word in words.items()}
    text = filled(template, harmless).strip() if template and kind in OF_TRADES else ""
    return text or filled(_TEMPLATES[kind], harmless).strip()


def lines_of(format: Format, lines: Sequence[str], count: int) -> str:
    """Return as many lines as fit, and how many of all that were counted are left out."""
    kept = list(lines)
    while True:
        left_out = count - len(kept) + 1
        shown = [*kept, f"and {left_out} more"] if left_out else kept
        text = "\n".join(shown)
        if _length(text) <= format.most or len(kept) == 1:
            return cut_text(format, text)
        kept.pop()


def cut_text(format: Format, text: str) -> str:
    """Return a text, or the beginning of one that is too long."""
    if _length(text) <= format.most:
        return text
    # Half of a character in two parts is left out.
    return text.encode(_UTF_16)[: 2 * (format.most - 1)].decode(_UTF_16, "ignore") + "…"


def _length(text: str) -> int:
    return len(text.encode(_UTF_16)) // 2


def _harmless(format: Format, text: str) -> str:
    """Return a stranger's text in which nothing is a mention, a link or markup."""
    # A space of no width.
    return format.escape(_LEADING.sub("\\1\u200b", visible(text)))

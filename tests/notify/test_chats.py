"""The bodies of chats: whose names they have, how long they are, that these do no harm; and their events."""

import inspect
import json
import string
from dataclasses import replace

import pytest

from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, EVM
from tests.notify.webhooks import ALL, Webhooks, trade
from wallet_api.notify import events
from wallet_api.notify.events import MessageType
from wallet_api.notify.formats import FORMATS, lines_of
from wallet_api.notify.messages import MessageContent, body_of
from wallet_api.notify.targets import Target, TargetSchema, target_of

LENGTHS = {"discord": 2000, "telegram": 4096, "slack": 4000}


def target_with(format: str, template: str = "") -> Target:
    """A target of a chat."""
    given = {"url": "https://chat.example.com/T0K3N", "format": format}
    given |= {"chat_id": -100} if format == "telegram" else {}
    loaded = TargetSchema(("https",)).load(given)
    target = target_of("chat", loaded)
    return replace(target, template=string.Template(template)) if template else target


def text_of(target: Target, kind: MessageType, **words: str) -> str:
    """The text of a message in a chat."""
    document = json.loads(body_of(target, MessageContent(kind, {}, words=words)))
    return str(document.get("content", document.get("text")))


def test_each_chat_gets_its_body_without_secrets_and_with_names_that_are_short_addresses(
    webhooks: Webhooks,
) -> None:
    own = {"discord": "", "telegram": 'chat_id = "@channel"\n', "slack": ""}
    targets = "".join(
        f'[targets.{name}]\nurl = "{webhooks.receiver.url}/{name}"\nformat = "{name}"\n{extra}'
        for name, extra in own.items()
    )
    webhooks.start_by(f"{targets}[rules.all]\ntargets = {list(own)}\n")
    webhooks.trades(trade("a"), trade("b", 50, BEN, token_name="Bonk", mint=mint_of("other")))
    for name in own:
        webhooks.await_count(2, f"/{name}")
    [first, second] = [one.document for one in webhooks.receiver.accepted("/telegram")]
    mint = mint_of("mint")
    link = "https://solscan.io/tx/"
    assert first["chat_id"] == "@channel"
    assert first["text"] == f"Ann buy {mint[:4]}…{mint[-4:]} for 1 SOL {link}a"
    assert second["text"] == f"{BEN[:4]}…{BEN[-4:]} buy Bonk for 1 SOL {link}b"
    [discord, _] = [one.document for one in webhooks.receiver.accepted("/discord")]
    assert discord == {"content": first["text"], "allowed_mentions": {"parse": []}, "flags": 4}
    [slack, _] = [one.document for one in webhooks.receiver.accepted("/slack")]
    assert (slack["text"], slack["mrkdwn"], slack["unfurl_links"]) == (first["text"], False, False)


def test_words_of_a_template_have_names_or_short_addresses_and_figures(webhooks: Webhooks) -> None:
    words = (
        *("wallet", "wallet_address", "token", "wallet_count", "bag_pct", "market_cap", "link", "chain"),
        "transaction_type",
    )
    template = "|".join(f"${{{word}}}" for word in words)
    webhooks.start_by(webhooks.targets(f"""template = '{{"text": "{template}"}}'\n""") + ALL)
    mint = "0x" + "a" * 40
    own = {"address": EVM, "blockchain": "eth", "mint": mint}
    webhooks.trades(trade("first", 70, tx_signature=f"0x{'2' * 64}", **own))
    webhooks.connection.execute(
        "INSERT INTO token_faces (token_id, symbol, supply, tried_at) SELECT token_id, 'CAT', 1000, now()"
        " FROM tokens WHERE mint = %(mint)s",
        {"mint": mint},
    )
    signature = f"0x{'1' * 64}"
    sold = {"transaction_type": "sell", "token_amount": "0.25", "value": "0.5"}
    webhooks.trades(trade("a", tx_signature=signature, **own, **sold))
    webhooks.await_count(2)
    address = EVM.lower()
    assert webhooks.receiver.accepted()[1].document["text"].split("|") == [
        *(f"{address[:6]}…{address[-4:]}", address, "CAT", "1", "75", "2000"),
        *(f"https://etherscan.io/tx/{signature}", "eth", "sell"),
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_no_text_is_empty_or_longer_than_the_chat_takes(format: str) -> None:
    target = target_with(format, "${symbol}")
    assert text_of(target, MessageType.TRADE, wallet="Ann", token="x", transaction_type="buy") != ""
    long = target_with(format, "${wallets}")
    for wallets in (", ".join([ANN] * 300), "🐈" * 5000, "<&" * 5000):
        text = text_of(long, MessageType.CLUSTER, wallets=wallets)
        assert LENGTHS[format] - 1 <= len(text.encode("utf-16-le")) // 2 <= LENGTHS[format]
        assert text.endswith("…")
        assert text.encode()
    lines = lines_of(FORMATS[format], ["head", *["line " * 20] * 100], 250)
    assert len(lines) <= LENGTHS[format]
    kept = lines.count("line " * 20)
    assert lines.endswith(f"and {250 - kept} more")
    for kind in MessageType:
        assert text_of(target_with(format), kind).strip()


@pytest.mark.parametrize("format", FORMATS)
def test_names_of_strangers_mention_nobody_and_link_nowhere(format: str) -> None:
    whole = ("@everyone", "<@123>", "/start", "#tag", "\n")
    harms = (*whole, "https:/", "evil.example", "evil.com", "t.me", "\u202e")
    links = ("https://evil.example", "evil.com", "t.me/evil", "[free](https://evil.example)")
    for name in (*whole[:-1], "a\nb", *links, "gnp.\u202egro.live"):
        for kind in (MessageType.TRADE, MessageType.CLUSTER, MessageType.WALLET_REMOVAL):
            text = text_of(target_with(format), kind, token=name, wallet=name, transaction_type="buy")
            assert not [harm for harm in harms if harm in name and harm in text], text
    # What an operator writes, and our own link, is left as it is.
    link = "https://solscan.io/tx/a_b"
    own = text_of(target_with(format, "@here ${value} ${link}"), MessageType.TRADE, value="2.5", link=link)
    assert own == f"@here 2.5 {link}"


def test_markup_of_a_name_is_escaped_in_discord_and_slack() -> None:
    assert "\\*\\*x\\*\\*" in text_of(target_with("discord"), MessageType.TRADE, wallet="**x**")
    assert "&lt;!channel&gt; &amp;" in text_of(target_with("slack"), MessageType.TRADE, wallet="<!channel> &")


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"format": "telegram"}, "chat_id"),
        ({"format": "slack", "chat_id": 5}, "chat_id"),
        ({"format": "telegram", "chat_id": True}, "chat_id"),
        ({"format": "irc"}, "format"),
        ({}, "secrets"),
        ({"format": "slack", "template": "${none}"}, "template"),
    ],
)
def test_a_target_of_a_chat_that_is_not_whole_is_a_fault(given: dict[str, object], place: str) -> None:
    faults = TargetSchema(("https",)).validate({"url": "https://chat.example.com/"} | given)
    assert faults.keys() == {place}


@pytest.mark.parametrize(
    "half", ['HALF = "half"', 'HALF = ("half", "", "a meaning")', 'HALF = ("half", "A text.")']
)
def test_an_event_without_its_text_or_its_meaning_is_named_at_start(half: str) -> None:
    head, method, rest = inspect.getsource(events.MessageType).partition("    def __new__")
    names = vars(events).copy()
    exec(f"{head}{method}{rest}", names)
    assert [*names["MessageType"]] == [*events.MessageType]
    with pytest.raises(ValueError, match="the type of message 'half' has no text or no meaning"):
        exec(f"{head}    {half}\n\n{method}{rest}", names)

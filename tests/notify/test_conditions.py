"""The conditions of rules beyond a group, an address and a value; and digests."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, SMART
from tests.lib.waiting import eventually
from tests.notify.webhooks import ALL, Webhooks, faults_of, rules_of, trade
from wallet_api.notify.rules import Rule
from wallet_api.notify.rules_file import RulesFile


def test_an_exit_is_a_sell_after_which_nothing_is_held(webhooks: Webhooks) -> None:
    webhooks.start(f"{ALL}exit = true\n")
    webhooks.trades(trade("buy", 60, token_amount="2"), trade("half", 50, transaction_type="sell"))
    webhooks.trades(trade("rest", 40, transaction_type="sell"))
    webhooks.trades(trade("again", 30), trade("out", 20, transaction_type="sell"))
    webhooks.await_reported(("trade", "rest"), ("trade", "out"))


def test_the_first_buy_of_a_wallet_in_a_token_is_reported_alone(webhooks: Webhooks) -> None:
    webhooks.trades(trade("earlier", 90))
    webhooks.start(f"{ALL}first_buy = true\n")
    other = {"mint": mint_of("other")}
    webhooks.trades(trade("later", 60), trade("sold", 55, BEN, transaction_type="sell"))
    webhooks.trades(trade("first", 50, BEN), trade("second", 40, BEN), trade("another", 30, **other))
    # Two at one time are one first buy.
    webhooks.trades(trade("twin", 25, SMART), trade("twin", 25, SMART, event_index=1))
    expected = [("trade", "another"), ("trade", "first"), ("trade", "twin")]
    assert eventually(lambda: sorted(webhooks.receiver.reported()) == expected)


def test_the_market_cap_of_a_trade_is_within_the_bounds_of_a_rule(webhooks: Webhooks) -> None:
    webhooks.trades(trade("before", 90), trade("unknown", 90, mint=mint_of("other")))
    webhooks.connection.execute(
        "INSERT INTO token_faces (token_id, supply, tried_at) SELECT token_id, 1000, now() FROM tokens"
        " WHERE mint = %(mint)s",
        {"mint": mint_of("mint")},
    )
    webhooks.start(f"{ALL}min_market_cap = 2000\nmax_market_cap = 3000.5\n")
    values = {"low": "1.999999999", "least": "2", "most": "3.0005", "high": "3.000500001"}
    webhooks.trades(*(trade(name, 60 - at, value=value) for at, (name, value) in enumerate(values.items())))
    webhooks.trades(trade("no-supply", 10, value="2.5", mint=mint_of("other")))
    webhooks.trades(trade("end", 5, value="2.5"))
    expected = [("trade", "end"), ("trade", "least"), ("trade", "most")]
    assert eventually(lambda: sorted(webhooks.receiver.reported()) == expected)


def test_a_cluster_by_one_transaction_is_none_where_several_are_required(webhooks: Webhooks) -> None:
    cluster = "cluster = {wallets = 3, hours = 1, transactions = 2}\n"
    webhooks.start(f'{ALL}transaction_type = "buy"\n{cluster}')
    webhooks.trades(*(trade("bundle", 50, wallet) for wallet in (BEN, SMART, ANN)))
    other = {"mint": mint_of("other")}
    webhooks.trades(*(trade("together", 50, wallet, **other) for wallet in (BEN, SMART)))
    webhooks.trades(trade("alone", 40, **other))
    webhooks.await_types("cluster")
    message = webhooks.receiver.accepted()[0].document
    assert message["cluster"]["mint"] == other["mint"]
    # Without the second transaction it is none any more.
    webhooks.importer.remove_trades([trade("alone", 40, **other)])
    webhooks.trades(trade("together", 50, **other))
    webhooks.await_types("cluster", "cluster_broken")
    assert not [one for one in webhooks.receiver.received if mint_of("mint") in one.body]


def test_a_cluster_of_first_buys_counts_no_later_ones(webhooks: Webhooks) -> None:
    webhooks.trades(trade("old", 600))
    webhooks.start(f"{ALL}first_buy = true\ncluster = {{wallets = 2, hours = 1}}\n")
    webhooks.trades(trade("again", 50), trade("b", 45, BEN))
    webhooks.trades(trade("c", 40, SMART))
    webhooks.await_count(1)
    assert webhooks.receiver.accepted()[0].document["wallets"] == sorted([BEN, SMART])


def test_a_digest_has_what_arrived_in_its_time_in_one_message(webhooks: Webhooks) -> None:
    chat = f'[targets.chat]\nurl = "{webhooks.receiver.url}/chat"\nformat = "slack"\n'
    rules = '[rules.weekly]\ntargets = ["bot", "chat"]\nevery = "7d"\n[rules.now]\ntargets = ["now"]\n'
    webhooks.start(chat + rules, bot="/", now="/now")
    webhooks.trades(*(trade(f"t{number:03}", 200 - number) for number in range(120)))
    assert eventually(lambda: len(webhooks.receiver.accepted("/now")) >= 60)
    due = "SELECT count(*) FROM notify_messages WHERE due_at > now()"
    webhooks.await_value(due, 240)
    assert webhooks.receiver.accepted() == []
    webhooks.stop()
    # As if the week were over.
    webhooks.connection.execute("UPDATE notify_messages SET due_at = due_at - interval '7 days'")
    webhooks.start(chat + rules, bot="/", now="/now")
    webhooks.await_count(1)
    webhooks.await_count(1, "/chat")
    digest = webhooks.receiver.accepted()[0].document
    data = digest["data"]
    assert (digest["type"], digest["rule"], data["count"], data["left_out"]) == ("digest", "weekly", 120, 20)
    signatures = [each["data"]["tx_signature"] for each in data["messages"]]
    assert signatures == [f"t{number:03}" for number in range(100)]
    lines = webhooks.receiver.accepted("/chat")[0].document["text"].splitlines()
    assert (lines[0], len("\n".join(lines)) <= 4000) == ("120 by the rule weekly:", True)
    assert lines[-1] == f"and {120 - (len(lines) - 2)} more"
    webhooks.await_value("SELECT sum(waiting) FROM notify_targets WHERE target <> 'now'", 0)


def test_the_hours_of_digests_are_those_of_utc() -> None:
    at = datetime(2026, 1, 30, 12, 51, 16, tzinfo=UTC)
    for every, due_at in (
        (timedelta(hours=1), datetime(2026, 1, 30, 13, tzinfo=UTC)),
        (timedelta(minutes=15), datetime(2026, 1, 30, 13, tzinfo=UTC)),
        (timedelta(days=1), datetime(2026, 1, 31, tzinfo=UTC)),
    ):
        assert Rule("digest", (), every=every).due_at(at) == due_at
    assert Rule("at once", ()).due_at(at) is None


@pytest.mark.parametrize(
    ("conditions", "place"),
    [
        ('exit = true\ntransaction_type = "buy"\n', "transaction_type"),
        ("exit = true\nfirst_buy = true\n", "transaction_type"),
        ('exit = "yes"\n', "exit"),
        ("min_market_cap = 5\nmax_market_cap = 4\n", "max_market_cap"),
        ("cluster = {wallets = 2, hours = 1, transactions = 3}\n", "cluster.transactions"),
        *((f'every = "{every}"\n', "every") for every in ("0h", "1w", "h", "8d", "1h ")),
        ("every = 1\n", "every"),
    ],
)
def test_conditions_that_no_trade_has_are_faults(tmp_path: Path, conditions: str, place: str) -> None:
    faults = faults_of(tmp_path / "rules.toml", rules_of("https://host/", rules=ALL + conditions))
    assert faults.startswith(f"rules.all.{place}: ")


def test_market_caps_of_rules_are_exact(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(rules_of("https://host/", rules=f"{ALL}min_market_cap = 0.1\n"))
    assert RulesFile(file).rules[0].min_market_cap == Decimal("0.1")

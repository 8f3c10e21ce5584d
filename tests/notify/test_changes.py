"""What webhooks report of the changes of the feed."""

from datetime import timedelta

from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, EVM, SMART, WHALE
from tests.lib.processes import run_command
from tests.notify.webhooks import ALL, NOW, Webhooks, trade
from wallet_api.base.times import shown_time

CLUSTER = f'{ALL}transaction_type = "buy"\nmin_value = 1\ncluster = {{wallets = 2, hours = 1}}\n'


def test_trades_corrections_and_removals_are_reported_in_their_order(webhooks: Webhooks) -> None:
    webhooks.trades(trade("before"))
    webhooks.start('[rules.big]\ntargets = ["bot"]\nmin_value = 2\ntransaction_type = "buy"\n')
    sold = trade("sold", transaction_type="sell", value="9")
    # What was reported is corrected also where it no longer matches; what was not is a trade once it matches.
    expected = []
    for kind, rows, reported in (
        ("trades", [trade("small"), trade("big", value="2.5"), sold], ("trade", "big")),
        ("trades", [trade("big", value="1")], ("correction", "big")),
        ("trades", [trade("small", value="3")], ("trade", "small")),
        ("remove_trades", [trade("big"), trade("before")], ("removal", "big")),
        ("trades", [trade("big", value="2.5")], ("trade", "big")),
    ):
        getattr(webhooks.importer, kind)(rows)
        expected.append(reported)
        webhooks.await_reported(*expected)
    received = webhooks.receiver.received
    assert all(one.is_signed for one in received)
    assert len({one.id for one in received}) == 5
    first = received[0].document
    assert (first["rule"], first["data"]["value"]) == ("big", 2.5)
    assert first["data"]["profile"]["wallet_address"] == ANN


def test_a_removed_wallet_takes_back_what_was_reported(webhooks: Webhooks) -> None:
    webhooks.start(ALL)
    webhooks.trades(trade("a"), trade("b", 60, BEN), trade("old", 60 * 24 * 90, BEN))
    webhooks.await_types("trade", "trade", "trade")
    webhooks.importer.remove_wallets([{"blockchain": "solana", "wallet_address": ANN}])
    webhooks.await_types("wallet_removal", before=3)
    assert webhooks.receiver.received[3].document["data"]["profile"]["wallet_address"] == ANN


def test_a_template_makes_the_body_and_a_name_writes_no_json(webhooks: Webhooks) -> None:
    template = """template = '{"text": "${wallet_name}: ${transaction_type} ${token_name}"}'\n"""
    webhooks.start_by(webhooks.targets(template) + ALL)
    webhooks.trades(trade("a", token_name='"}, "admin": "'))
    webhooks.await_count(1)
    assert webhooks.receiver.received[0].document["text"].endswith('buy "}, "admin": "')


def test_a_target_can_have_amounts_as_strings_of_the_same_digits(webhooks: Webhooks) -> None:
    value = "9007199254740993.000000001"
    exact = webhooks.targets('amounts = "string"\n', exact="/exact")
    webhooks.start_by(f'{webhooks.targets(plain="/plain")}{exact}[rules.all]\ntargets = ["plain", "exact"]\n')
    webhooks.trades(trade("a", value=value))
    for path in ("/plain", "/exact"):
        webhooks.await_types("trade", path=path)
    [plain], [exact] = (webhooks.receiver.accepted(path) for path in ("/plain", "/exact"))
    assert f'"value":{value},' in plain.body
    data = exact.document["data"]
    assert (data["value"], data["holdings_after"]["token_amount"]) == (value, "1")
    assert (data["event_index"], data["holdings_after"]["bag_pct"]) == (0, 100)


def test_the_removal_of_an_earlier_cluster_is_reported_beside_a_later_one(webhooks: Webhooks) -> None:
    webhooks.start(CLUSTER)
    webhooks.trades(trade("a", 600), trade("b", 590, BEN))
    webhooks.await_types("cluster")
    webhooks.trades(trade("c", 300), trade("d", 290, BEN))
    webhooks.await_types("cluster", "cluster")
    webhooks.importer.remove_trades([trade("b", 590, BEN)])
    webhooks.await_types("cluster_broken", before=2)
    documents = [one.document for one in webhooks.receiver.accepted()]
    first, second, broken = (document["cluster"] for document in documents)
    assert (first == broken, first == second) == (True, False)
    # The wallets of the first one are too long ago.
    assert second["at"] == shown_time(NOW - timedelta(minutes=290))
    assert [sorted(document["wallets"]) for document in documents] == [*[sorted([ANN, BEN])] * 2, [ANN]]


def test_a_cluster_before_one_that_was_reported_is_reported_too(webhooks: Webhooks) -> None:
    webhooks.start(CLUSTER)
    webhooks.trades(trade("c", 300), trade("d", 290, BEN))
    webhooks.await_types("cluster")
    webhooks.trades(trade("b", 590, BEN), trade("a", 600))
    webhooks.await_types("cluster", "cluster")
    # Further ones of the same clusters are not.
    webhooks.trades(trade("e", 280), trade("f", 595))
    other = {"mint": mint_of("other")}
    webhooks.trades(trade("end", 100, **other), trade("end2", 100, BEN, **other))
    webhooks.await_types("cluster", "cluster", "cluster")


def test_what_was_in_the_hours_of_a_cluster_that_broke_is_reported(webhooks: Webhooks) -> None:
    webhooks.start(CLUSTER)
    webhooks.trades(trade("a", 120), trade("b", 110, BEN))
    webhooks.await_types("cluster")
    webhooks.trades(trade("c", 80), trade("before", 125, BEN))
    webhooks.importer.remove_trades([trade("a", 120)])
    webhooks.await_types("cluster_broken", "cluster", before=1)
    # By a correction, too.
    webhooks.trades(trade("c", 80, value="0.5"))
    webhooks.await_types("cluster_broken", before=3)
    webhooks.trades(trade("d", 123))
    webhooks.await_types("cluster", before=4)
    accepted = [one.document for one in webhooks.receiver.accepted()]
    assert [one["data"]["tx_signature"] for one in accepted if one["type"] == "cluster_broken"] == ["a", "c"]
    assert len({one["cluster"]["at"] for one in accepted if one["type"] == "cluster"}) == 3


def test_a_wallet_that_is_removed_breaks_its_clusters_and_no_others(webhooks: Webhooks) -> None:
    webhooks.start(CLUSTER)
    other = {"mint": mint_of("other")}
    webhooks.trades(trade("a", 50), trade("b", 40, BEN))
    webhooks.trades(trade("c", 50, SMART, **other), trade("d", 40, BEN, **other))
    webhooks.await_types("cluster", "cluster")
    # A third wallet keeps the first one; it came later.
    webhooks.trades(trade("e", 45, WHALE))
    for address in (ANN, SMART):
        webhooks.importer.remove_wallets([{"blockchain": "solana", "wallet_address": address}])
    webhooks.await_types("cluster_broken", before=2)
    webhooks.importer.remove_wallets([{"blockchain": "solana", "wallet_address": WHALE}])
    webhooks.await_types("cluster_broken", "cluster_broken", before=2)
    broken = [one.document["cluster"]["mint"] for one in webhooks.receiver.accepted()[2:]]
    assert broken == [mint_of("other"), mint_of("mint")]


def test_many_trades_of_a_wallet_in_a_token_hide_no_cluster(webhooks: Webhooks) -> None:
    webhooks.trades(*(trade(f"t{number}", 50 + number / 1000) for number in range(10_050)))
    webhooks.start(CLUSTER)
    webhooks.trades(trade("b", 40, BEN))
    webhooks.await_types("cluster")


def test_a_purge_of_a_token_takes_back_what_was_reported_on_its_chain_alone(webhooks: Webhooks) -> None:
    webhooks.importer.wallets([{"blockchain": "base", "type": "kol", "wallet_address": EVM}])
    webhooks.start(ALL)
    mint = "0x" + "a" * 40
    same = {"address": EVM, "mint": mint, "tx_signature": f"0x{'1' * 64}"}
    for chain in ("eth", "base"):
        webhooks.trades(trade(chain, blockchain=chain, **same))
    webhooks.await_types("trade", "trade")
    options = ("remove", "trades", "--mint", mint, "--blockchain", "eth", "--yes")
    assert run_command(*options, settings=webhooks.settings).exit_code == 0
    webhooks.await_types("purge", before=2)
    webhooks.trades(trade("base", blockchain="base", value="3", **same))
    webhooks.await_types("purge", "correction", before=2)


def test_a_purge_of_a_time_takes_back_what_was_reported_before_it(webhooks: Webhooks) -> None:
    webhooks.start(f'{ALL}[rules.two]\ntargets = ["bot"]\ncluster = {{wallets = 2, hours = 1}}\n')
    webhooks.trades(trade("old", 6000), trade("older", 6010, BEN), trade("new", 10))
    webhooks.await_count(4)
    assert sorted(webhooks.types()) == ["cluster", "trade", "trade", "trade"]
    before = (NOW - timedelta(days=2)).isoformat()
    options = ("remove", "trades", "--before", before, "--open", "--yes")
    assert run_command(*options, settings=webhooks.settings).exit_code == 0
    webhooks.await_types("purge", "cluster_broken", before=4)
    webhooks.trades(trade("new", 10, value="3"), trade("old", 6000))
    webhooks.await_count(8)
    assert sorted(webhooks.types()[6:]) == ["correction", "trade"]


def test_a_wallet_of_another_type_is_removed_for_the_rules_of_its_type(webhooks: Webhooks) -> None:
    conditions = {
        "kols": 'type = "kol"\n',
        "all": "",
        "two": 'type = "kol"\ncluster = {wallets = 2, hours = 1}\n',
    }
    rules = "".join(f'[rules.{name}]\ntargets = ["{name}"]\n{own}' for name, own in conditions.items())
    webhooks.start(rules, kols="/kols", all="/all", two="/two")
    webhooks.trades(trade("a", 50), trade("b", 40, BEN))
    webhooks.await_types("trade", "trade", path="/kols")
    webhooks.await_types("cluster", path="/two")
    webhooks.importer.wallets([{"blockchain": "solana", "type": "whale", "wallet_address": ANN}])
    webhooks.await_types("cluster", "cluster_broken", path="/two")
    webhooks.await_types("wallet_removal", path="/kols", before=2)
    assert webhooks.receiver.accepted("/kols")[2].document["data"]["profile"]["type"] == "kol"
    webhooks.trades(trade("a", 50, value="3"))
    webhooks.await_types("trade", "trade", "correction", path="/all")
    assert len(webhooks.types("/kols")) == 3


def test_a_removal_while_the_message_waits_follows_it(webhooks: Webhooks) -> None:
    webhooks.receiver.behaviours["/"] = lambda body: 500
    webhooks.start(ALL)
    webhooks.trades(trade("a"))
    webhooks.await_value("SELECT waiting FROM notify_targets", 1)
    webhooks.importer.remove_trades([trade("a")])
    webhooks.await_value("SELECT waiting FROM notify_targets", 2)
    webhooks.receiver.behaviours.clear()
    webhooks.await_reported(("trade", "a"), ("removal", "a"))

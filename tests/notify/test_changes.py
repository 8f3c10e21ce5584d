"""What webhooks report of the changes of the feed."""

from datetime import timedelta

from tests.ledger.in_process import Importer
from tests.ledger.mints import mint_of
from tests.ledger.rows import ANN, BEN, EVM, SMART, WHALE
from tests.lib.processes import run_command
from tests.lib.receiver import SECRET, Receiver
from tests.lib.waiting import eventually
from tests.notify.rules import ALL, NOW, Start, rules_of, trade
from wallet_api.database import Connection
from wallet_api.settings import Settings


def test_trades_corrections_and_removals_are_reported_in_their_order(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    importer.trades([trade("before")])
    start(rules_of(receiver, '[rules.big]\ntargets = ["bot"]\nmin_value = 2\ntransaction_type = "buy"\n'))
    importer.trades(
        [trade("small"), trade("big", value="2.5"), trade("sold", transaction_type="sell", value="9")]
    )
    # What was reported is corrected also where it no longer matches; what was not is a trade once it matches.
    for change, reported in (
        (None, ("trade", "big")),
        (lambda: importer.trades([trade("big", value="1")]), ("correction", "big")),
        (lambda: importer.trades([trade("small", value="3")]), ("trade", "small")),
        (lambda: importer.remove_trades([trade("big"), trade("before")]), ("removal", "big")),
        (lambda: importer.trades([trade("big", value="2.5")]), ("trade", "big")),
    ):
        if change is not None:
            change()
        assert eventually(lambda reported=reported: receiver.reported()[-1:] == [reported]), (
            receiver.reported()
        )
    assert len(receiver.reported()) == 5
    assert all(one.is_signed for one in receiver.received)
    assert len({one.id for one in receiver.received}) == 5
    first = receiver.received[0].document
    assert (first["rule"], first["data"]["value"], first["data"]["profile"]["wallet_address"]) == (
        "big",
        2.5,
        ANN,
    )


def test_a_cluster_is_reported_once_and_what_breaks_it_too(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, f'{ALL}transaction_type = "buy"\ncluster = {{wallets = 2, hours = 6}}\n'))
    importer.trades([trade("a", 50), trade("early", 600, BEN)])
    importer.trades([trade("b", 40, BEN)])
    importer.trades([trade("c", 30, BEN)])
    assert eventually(lambda: len(receiver.received) == 1)
    cluster = receiver.received[0].document
    assert (cluster["type"], sorted(cluster["wallets"])) == ("cluster", sorted([ANN, BEN]))
    importer.remove_trades([trade("a", 50)])
    assert eventually(lambda: receiver.reported()[1:] == [("cluster_broken", "a")])
    importer.trades([trade("a", 50)])
    assert eventually(
        lambda: [type for type, _ in receiver.reported()] == ["cluster", "cluster_broken", "cluster"]
    )


def test_a_removed_wallet_takes_back_what_was_reported(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    start(rules_of(receiver, ALL))
    importer.trades([trade("a"), trade("b", 60, BEN), trade("old", 60 * 24 * 90, BEN)])
    assert eventually(lambda: len(receiver.received) == 3)
    importer.remove_wallets([{"blockchain": "solana", "wallet_address": ANN}])
    assert eventually(lambda: receiver.reported()[3:] == [("wallet_removal", "")])
    assert receiver.received[3].document["data"]["profile"]["wallet_address"] == ANN


def test_a_template_makes_the_body_and_a_name_writes_no_json(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    template = """template = '{"text": "${wallet_name}: ${transaction_type} ${token_name}"}'\n"""
    target = f'[targets.bot]\nurl = "{receiver.url}/"\nsecrets = ["{SECRET}"]\n{template}'
    start(target + ALL)
    importer.trades([trade("a", token_name='"}, "admin": "')])
    assert eventually(lambda: len(receiver.received) == 1)
    assert receiver.received[0].document["text"].endswith('buy "}, "admin": "')


def test_a_target_can_have_amounts_as_strings_of_the_same_digits(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    value = "9007199254740993.000000001"
    rules = '[rules.all]\ntargets = ["plain", "exact"]\n'
    start(
        rules_of(receiver, rules, plain="/plain", exact="/exact").replace(
            "[targets.exact]\n", '[targets.exact]\namounts = "string"\n'
        )
    )
    importer.trades([trade("a", value=value)])
    assert eventually(lambda: len(receiver.accepted("/plain")) == len(receiver.accepted("/exact")) == 1)
    [plain], [exact] = (receiver.accepted(path) for path in ("/plain", "/exact"))
    assert f'"value":{value},' in plain.body
    data = exact.document["data"]
    assert (data["value"], data["holdings_after"]["token_amount"]) == (value, "1")
    assert (data["event_index"], data["holdings_after"]["bag_pct"]) == (0, 100)


def types(receiver: Receiver, path: str = "/") -> list[str]:
    """The types of the messages that were accepted."""
    return [one.document["type"] for one in receiver.accepted(path)]


CLUSTER = f'{ALL}transaction_type = "buy"\nmin_value = 1\ncluster = {{wallets = 2, hours = 1}}\n'


def test_the_removal_of_an_earlier_cluster_is_reported_beside_a_later_one(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, CLUSTER))
    importer.trades([trade("a", 600), trade("b", 590, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster"])
    importer.trades([trade("c", 300), trade("d", 290, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster", "cluster"])
    importer.remove_trades([trade("b", 590, BEN)])
    assert eventually(lambda: types(receiver)[2:] == ["cluster_broken"])
    first, second, broken = (one.document["cluster"] for one in receiver.accepted())
    assert (first == broken, first == second) == (True, False)
    assert receiver.accepted()[2].document["wallets"] == [ANN]


def test_a_cluster_before_one_that_was_reported_is_reported_too(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, CLUSTER))
    importer.trades([trade("c", 300), trade("d", 290, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster"])
    importer.trades([trade("b", 590, BEN), trade("a", 600)])
    assert eventually(lambda: types(receiver) == ["cluster", "cluster"])
    importer.trades([trade("e", 280), trade("f", 595)])
    importer.trades(
        [trade("end", 100, mint=mint_of("other")), trade("end2", 100, BEN, mint=mint_of("other"))]
    )
    assert eventually(lambda: types(receiver) == ["cluster"] * 3)


def test_a_correction_that_breaks_a_cluster_is_reported(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, CLUSTER))
    importer.trades([trade("a", 50), trade("b", 40, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster"])
    importer.trades([trade("c", 30, BEN)])
    importer.trades([trade("a", 50, value="0.5")])
    assert eventually(lambda: types(receiver) == ["cluster", "cluster_broken"])
    assert receiver.accepted()[1].document["data"]["tx_signature"] == "a"


def test_what_was_in_the_hours_of_a_cluster_that_broke_is_reported(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, CLUSTER))
    importer.trades([trade("a", 120), trade("b", 110, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster"])
    importer.trades([trade("c", 80), trade("before", 125, BEN)])
    importer.remove_trades([trade("a", 120)])
    assert eventually(lambda: types(receiver) == ["cluster", "cluster_broken", "cluster"])
    importer.remove_trades([trade("c", 80)])
    assert eventually(lambda: types(receiver)[3:] == ["cluster_broken"])
    importer.trades([trade("d", 123)])
    assert eventually(lambda: types(receiver)[4:] == ["cluster"])
    first, _, second, _, third = (one.document["cluster"]["at"] for one in receiver.accepted())
    assert len({first, second, third}) == 3


def test_a_wallet_that_is_removed_breaks_its_clusters_and_no_others(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    start(rules_of(receiver, CLUSTER))
    other = {"mint": mint_of("other")}
    importer.trades([trade("a", 50), trade("b", 40, BEN)])
    importer.trades([trade("c", 50, SMART, **other), trade("d", 40, BEN, **other)])
    assert eventually(lambda: types(receiver) == ["cluster", "cluster"])
    # A third wallet keeps the first one; it came later.
    importer.trades([trade("e", 45, WHALE)])
    importer.remove_wallets([{"blockchain": "solana", "wallet_address": ANN}])
    importer.remove_wallets([{"blockchain": "solana", "wallet_address": SMART}])
    assert eventually(lambda: types(receiver)[2:] == ["cluster_broken"])
    assert receiver.accepted()[2].document["cluster"]["mint"] == other["mint"]
    importer.remove_wallets([{"blockchain": "solana", "wallet_address": WHALE}])
    assert eventually(lambda: types(receiver)[2:] == ["cluster_broken", "cluster_broken"])
    assert receiver.accepted()[3].document["cluster"]["mint"] == mint_of("mint")


def test_many_trades_of_a_wallet_in_a_token_hide_no_cluster(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    importer.trades([trade(f"t{number}", 50 + number / 1000) for number in range(10_050)])
    start(rules_of(receiver, CLUSTER))
    importer.trades([trade("b", 40, BEN)])
    assert eventually(lambda: types(receiver) == ["cluster"])


def test_a_purge_of_a_token_takes_back_what_was_reported_on_its_chain_alone(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    importer.wallets([{"blockchain": "base", "type": "kol", "wallet_address": EVM}])
    start(rules_of(receiver, ALL))
    mint = "0x" + "a" * 40
    for chain in ("eth", "base"):
        importer.trades([trade(chain, 60, EVM, blockchain=chain, mint=mint, tx_signature=f"0x{'1' * 64}")])
    assert eventually(lambda: types(receiver) == ["trade", "trade"])
    options = ("remove", "trades", "--mint", mint, "--blockchain", "eth", "--yes")
    assert run_command(*options, settings=settings).exit_code == 0
    assert eventually(lambda: types(receiver)[2:] == ["purge"])
    importer.trades(
        [trade("base", 60, EVM, blockchain="base", mint=mint, tx_signature=f"0x{'1' * 64}", value="3")]
    )
    assert eventually(lambda: types(receiver)[2:] == ["purge", "correction"])


def test_a_purge_of_a_time_takes_back_what_was_reported_before_it(
    receiver: Receiver, importer: Importer, start: Start, settings: Settings
) -> None:
    start(rules_of(receiver, f'{ALL}[rules.two]\ntargets = ["bot"]\ncluster = {{wallets = 2, hours = 1}}\n'))
    importer.trades([trade("old", 6000), trade("older", 6010, BEN), trade("new", 10)])
    assert eventually(lambda: sorted(types(receiver)) == ["cluster", "trade", "trade", "trade"])
    before = (NOW - timedelta(days=2)).isoformat()
    assert (
        run_command("remove", "trades", "--before", before, "--open", "--yes", settings=settings).exit_code
        == 0
    )
    assert eventually(lambda: types(receiver)[4:] == ["purge", "cluster_broken"])
    importer.trades([trade("new", 10, value="3"), trade("old", 6000)])
    assert eventually(lambda: sorted(types(receiver)[6:]) == ["correction", "trade"])


def test_a_wallet_of_another_type_is_removed_for_the_rules_of_its_type(
    receiver: Receiver, importer: Importer, start: Start
) -> None:
    rules = "".join(
        f'[rules.{name}]\ntargets = ["{name}"]\n{conditions}'
        for name, conditions in {
            "kols": 'type = "kol"\n',
            "all": "",
            "two": 'type = "kol"\ncluster = {wallets = 2, hours = 1}\n',
        }.items()
    )
    start(rules_of(receiver, rules, kols="/kols", all="/all", two="/two"))
    importer.trades([trade("a", 50), trade("b", 40, BEN)])
    assert eventually(
        lambda: (types(receiver, "/kols"), types(receiver, "/two")) == (["trade"] * 2, ["cluster"])
    )
    importer.wallets([{"blockchain": "solana", "type": "whale", "wallet_address": ANN}])
    assert eventually(lambda: types(receiver, "/two") == ["cluster", "cluster_broken"])
    assert eventually(lambda: types(receiver, "/kols")[2:] == ["wallet_removal"])
    assert receiver.accepted("/kols")[2].document["data"]["profile"]["type"] == "kol"
    importer.trades([trade("a", 50, value="3")])
    assert eventually(lambda: types(receiver, "/all") == ["trade", "trade", "correction"])
    assert len(types(receiver, "/kols")) == 3


def test_a_removal_while_the_message_waits_follows_it(
    receiver: Receiver, importer: Importer, start: Start, connection: Connection
) -> None:
    receiver.behaviours["/"] = lambda body: 500
    start(rules_of(receiver, ALL))
    importer.trades([trade("a")])
    assert eventually(lambda: len(receiver.received) > 0)
    importer.remove_trades([trade("a")])
    waiting = "SELECT waiting FROM notify_targets"
    assert eventually(lambda: connection.fetch_value(waiting) == 2)
    receiver.behaviours.clear()
    assert eventually(lambda: receiver.reported() == [("trade", "a"), ("removal", "a")])

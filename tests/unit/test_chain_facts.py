"""What is a fact of a chain stands in chains.py alone, with the day since when it holds."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import wallet_api
from wallet_api.base.chains import CHAINS, EVM_NATIVE_EMITTER, GROUPS, groups_of
from wallet_api.chain.decoding.evm.receipts import ChainBlock
from wallet_api.chain.providers.trades.evm_node import BlockPace
from wallet_api.chain.sync.sources import supplied_chains
from wallet_api.settings import ChainSettings, Settings, SettingsError, outdated

SOURCE = Path(wallet_api.__file__).parent
# What knows each program and contract by its address: venues, with a recorded transaction each.
ADDRESSES = re.compile(r"venues\.py$|multicall\.py$")


def sources() -> dict[str, str]:
    """Return the modules, but for the one with the facts, by their names."""
    files = {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}
    del files["base/chains.py"]
    return files


def test_nothing_of_a_chain_is_a_number_elsewhere() -> None:
    patterns = {
        # Blocks are counted by the pace of a chain, from seconds.
        "a number of blocks": r"(?i)_(first|longest)_span\b|_confirmations\b\s*[:=]",
        "the pace of a chain": r"(?i)block_seconds\s*=\s*[\d.]+|slot takes",
        "a field of a header": r"timestampMs|milliTimestamp",
        "the emitter of a native coin": EVM_NATIVE_EMITTER,
        "the page of an explorer": r"etherscan\.io|bscscan\.com|basescan\.org|solscan\.io",
    }
    found = [
        (name, what)
        for name, text in sources().items()
        for what, pattern in patterns.items()
        if re.search(pattern, text)
    ]
    assert found == []


def test_wrapped_and_stable_coins_stand_with_their_chain_alone() -> None:
    coins = {mint for chain in CHAINS.values() for mint in (chain.wrapped_mint, *chain.stable_mints)}
    found = [
        (name, mint)
        for name, text in sources().items()
        if not ADDRESSES.search(name)
        for mint in coins
        if mint in text
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "day", "seconds"),
    [
        ("base", date(2026, 11, 4), 2.0),
        ("base", date(2026, 11, 5), 0.2),
        ("bnb", date(2026, 1, 13), 0.75),
        ("bnb", date(2026, 1, 14), 0.45),
        ("eth", date(2020, 1, 1), 14.0),
        ("eth", date(2026, 11, 5), 12.0),
        # Before its first row, that one holds.
        ("base", date(2020, 1, 1), 2.0),
    ],
)
def test_each_chain_has_the_pace_of_the_day(name: str, day: date, seconds: float) -> None:
    assert CHAINS[name].rules_on(day).block_seconds == seconds


def test_rows_of_a_chain_are_in_order_and_each_chain_has_some() -> None:
    for chain in CHAINS.values():
        days = [rules.since for rules in chain.rules]
        assert days == sorted(set(days)) != []


def test_a_type_that_is_half_added_is_named_at_start() -> None:
    with pytest.raises(ValueError, match="eth: TYPE_WORDS lacks insider"):
        replace(CHAINS["eth"], types=("kol", "insider"))
    with pytest.raises(ValueError, match="no chain has wallets of the type smart, whale"):
        groups_of([CHAINS["eth"]])
    assert groups_of(CHAINS.values()) == GROUPS


def block(number: int, seconds: float) -> ChainBlock:
    """Return a block without transactions."""
    return ChainBlock(number=hex(number), hash="0x", timestamp=hex(int(seconds)))


def test_the_pace_is_that_of_the_last_hour_once_it_is_measured() -> None:
    pace = BlockPace(CHAINS["eth"])
    assert (pace.seconds, pace.blocks(3600), pace.is_due) == (12.0, 300, True)
    pace.measure(block(1000, 10**9), block(4600, 10**9 + 3600))
    assert (pace.seconds, pace.blocks(3600), pace.is_due) == (1.0, 3600, False)
    # Times that cannot be show nothing.
    for earlier, later in (
        (block(1, 5), block(1, 9)),
        (block(1, 9), block(5, 9)),
        (block(1, 10**20), block(2, 1)),
    ):
        pace.measure(earlier, later)
        assert pace.seconds == 1.0
    assert pace.blocks(0) == 1


def test_an_old_count_of_blocks_is_read_as_seconds_and_warned_of() -> None:
    seconds = CHAINS["base"].rules_on(datetime.now(UTC).date()).block_seconds
    old = {"BASE_CONFIRMATIONS": "100", "ETH_CONFIRMATIONS": "2"}
    settings = Settings.from_environment(old)
    assert settings.chain("base").confirm_seconds == 100 * seconds
    assert (settings.chain("eth").confirm_seconds, settings.chain("bnb").confirm_seconds) == (24.0, 20.0)
    assert {sentence.partition(" ")[0] for sentence in outdated(old)} == old.keys()
    # The new name wins, and nothing is warned of.
    both = old | {"BASE_CONFIRM_SECONDS": "7", "ETH_CONFIRM_SECONDS": "8"}
    assert Settings.from_environment(both).chain("base").confirm_seconds == 7.0
    assert outdated(both) == outdated({}) == []
    assert outdated({"FOLLOW_FINAL_SECONDS": "120"}) == [
        "FOLLOW_FINAL_SECONDS is no longer used: trades of Solana are imported once they are final"
    ]
    with pytest.raises(SettingsError, match="BASE_CONFIRMATIONS must be a whole number"):
        Settings.from_environment({"BASE_CONFIRMATIONS": "some"})


def test_the_settings_of_a_chain_are_those_with_its_name() -> None:
    settings = Settings.from_environment(
        {"SOLANA_RPC_URL": "https://node.example", "BNB_TRADES_PROVIDER": "rpc"}
    )
    assert settings.chain("solana").rpc_url == "https://node.example"
    assert (settings.chain("bnb").trades_provider, settings.chain("bnb").rpc_url) == ("rpc", None)
    assert "node.example" not in repr(settings.chain("solana"))


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("moralis", "MORALIS_API_KEY is not set"),
        ("rpc", "ETH_RPC_URL is not set"),
        ("other", "ETH_TRADES_PROVIDER=other: no trades are read from other"),
    ],
)
def test_a_provider_of_trades_that_cannot_supply_a_chain_is_refused_by_name(
    provider: str, message: str
) -> None:
    chains = {name: ChainSettings() for name in CHAINS} | {"eth": ChainSettings(trades_provider=provider)}
    with pytest.raises(SettingsError, match=message):
        supplied_chains(Settings(chains=chains), ["eth"])

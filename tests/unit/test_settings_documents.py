"""Every setting is documented with its default, and what is wrong with a value is reported."""

import os
import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.lib.processes import run_program
from tests.lib.settings import defaults, values
from wallet_api.base.chains import CHAINS
from wallet_api.settings import MARKET_PROVIDERS, PROVIDERS, TRADES_PROVIDERS, Settings, SettingsError

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
# Depends on the machine, so no default can be written down.
BY_MACHINE = {"WEB_CONCURRENCY"}
# In docs/settings.md, words stand for a default that is another setting or server.
IN_WORDS = {"DATABASE_URL", "DATABASE_READ_URL", "VALKEY_URL"} | BY_MACHINE
VARIABLES = Settings.variables()
ORIGIN = "https://app.a.example"
USUAL = (
    *("DATABASE_URL", "VALKEY_URL", "WALLET_API_HOME", "PORT", "WEB_CONCURRENCY", "WEB_THREADS"),
    *("DEFAULT_RATE", "CREDIT_COST", "{CHAIN}_PROVIDER", "MORALIS_API_KEY", "ALCHEMY_API_KEY"),
    *("{CHAIN}_RPC_URL", "PROXY_HOPS", "LOG_FORMAT"),
)


def _example() -> dict[str, str]:
    text = (ROOT / "config" / "example.env").read_text()
    return dict(re.findall(r"^#([A-Z][A-Z0-9_]*)=(.*)$", text, re.MULTILINE))


def _items() -> list[str]:
    """Return the items of the document, each in one line: name, default in parentheses, and meaning."""
    text = (ROOT / "docs" / "settings.md").read_text().replace("\n  ", " ")
    return [line for line in text.splitlines() if line.startswith("- `")]


def _documented() -> dict[str, str]:
    """Return the default of each setting as it is documented; an empty text for none."""
    return dict(
        re.findall(r"^- `([A-Z{][A-Z0-9_{}]*)`(?: \((.*?)\))?: .+$", "\n".join(_items()), re.MULTILINE)
    )


def _read(name: str, value: str) -> object:
    return values(Settings.from_environment({name: value}))[name]


def _pattern(name: str) -> str:
    """Return the name of a setting, or how the document names it for all chains."""
    chain = name.partition("_")[0]
    pattern = name.replace(f"{chain}_", "{CHAIN}_", 1)
    several = sum(pattern == each.replace(f"{each.partition('_')[0]}_", "{CHAIN}_", 1) for each in VARIABLES)
    return pattern if chain.lower() in CHAINS and several > 1 else name


def test_every_setting_and_nothing_else_is_in_example_env_and_in_the_document() -> None:
    own = [_pattern(name) for name in VARIABLES]
    assert [_pattern(name) for name in _example()] == list(dict.fromkeys(own))
    assert sorted(_documented()) == sorted(set(own))


def test_the_document_names_all_chains() -> None:
    names = ", ".join(f"`{name.upper()}`" for name in CHAINS)
    assert f"`{{CHAIN}}` is one of {names}, as" in (ROOT / "docs" / "settings.md").read_text()


def test_every_provider_is_in_the_document() -> None:
    for setting, words in (
        ("{CHAIN}_PROVIDER", PROVIDERS),
        ("{CHAIN}_TRADES_PROVIDER", TRADES_PROVIDERS),
        ("MARKET_PRICES_PROVIDER", MARKET_PROVIDERS),
    ):
        (item,) = [item for item in _items() if item.startswith(f"- `{setting}`")]
        assert [word for word in words if f"`{word}`" not in item.partition("provider of")[2]] == []


def test_the_default_in_the_document_is_the_default() -> None:
    documented = {
        name: _documented()[_pattern(name)].strip("`") for name in VARIABLES if name not in IN_WORDS
    }
    read = {name: _read(name, value) if value else None for name, value in documented.items()}
    assert read == {name: defaults()[name] for name in read}


def test_what_systemd_and_a_shell_read_from_example_env_is_the_defaults() -> None:
    text = (ROOT / "config" / "example.env").read_text()
    assert all(re.fullmatch(r"#.*|[A-Z0-9_]+=\S*|", line) for line in text.splitlines())
    uncommented = re.sub(r"^#(?=[A-Z][A-Z0-9_]*=)", "", text, flags=re.MULTILINE)
    shell = run_program(
        ["/bin/sh", "-c", f"set -a\n{uncommented}\nenv"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    read = dict(line.partition("=")[::2] for line in shell.stdout.splitlines())
    assert Settings.from_environment(read) == Settings()
    without = {name for name, value in _example().items() if not value}
    assert without - BY_MACHINE == {name for name in _example() if defaults()[name] is None}


def test_the_readme_has_the_settings_that_people_set_and_only_settings_that_exist() -> None:
    section = README.partition("## Settings")[2].partition("\n## ")[0]
    assert [name for name in USUAL if f"`{name}`" not in section] == []
    assert set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]*)`", section)) <= {*VARIABLES}


def test_settings_are_read_as_they_are_meant() -> None:
    for name, text, value in (
        ("TOKEN_PRICE_MIN_VALUE_USD", "0.1", Decimal("0.1")),
        # As browsers send them.
        ("CORS_ORIGINS", "https://App.a.example/, http://localhost:3000", f"{ORIGIN},http://localhost:3000"),
        ("CORS_ORIGINS", "*", "*"),
        ("CREDIT_COSTS", "get_tracker=5, list_signals=3", (("get_tracker", 5), ("list_signals", 3))),
        *(("HOLDINGS_KEEP_SPAM", word, word != "no") for word in ("no", "On", "1")),
        ("METRICS_NETWORKS", "none", ""),
    ):
        assert _read(name, text) == value, name


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("TOKEN_PRICE_MIN_VALUE_USD", ("-1", "NaN", "Infinity", "a dollar")),
        ("TOKEN_PRICE_MAX_AGE_SECONDS", ("-1", "nan", "1e30")),
        (
            "CORS_ORIGINS",
            ("app.a.example", f"{ORIGIN}/path", f"*,{ORIGIN}", "https://*.a.example", "null", ","),
        ),
        ("OPERATOR_CONTACT", ("call me", "javascript:alert(1)")),
        ("OPERATOR_TERMS_URL", ("javascript:alert(1)",)),
        ("OPERATOR_NAME", ("x" * 101,)),
        ("CREDIT_COSTS", ("get_tracker", "get_tracker=0", "get_tracker=1.5", "a=1,a=2", "=2")),
    ],
)
def test_what_is_no_value_of_a_setting_is_refused_by_its_name(name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        with pytest.raises(SettingsError, match=f"^{name} must be "):
            _read(name, text)


INVALID = (
    ("DATABASE_URL", "mysql://secret", "must be a postgresql:// URI"),
    ("STATEMENT_TIMEOUT_SECONDS", "secret", "must be a number of at least 0"),
    ("VALKEY_URL", "http://secret", "must be a valkey:// or redis:// URL"),
    ("DEFAULT_RATE", "secret/week", "must be COUNT/second, /minute, /hour or /day, such as 300/minute"),
    ("HISTORY_TYPE", "secret", "must be one of required, detected"),
    ("HOLDINGS_KEEP_SPAM", "secret", "must be true or false"),
    ("HOLDINGS_FAILURE_SECONDS", "0", "must be a number above 0"),
    ("SOLANA_RPC_URL", "ftp://secret", "must be an http or https URL"),
    ("SOLANA_WS_URL", "https://secret", "must be a ws or wss URL"),
    ("PORT", "65536", "must be a port from 1 to 65535"),
    ("WEB_THREADS", "secret", "must be a whole number of at least 1"),
    ("METRICS_NETWORKS", "10.0.0.0/secret", "must be none, or networks with commas between"),
)


def test_all_invalid_values_are_reported_together_and_none_is_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({name: value for name, value, _ in INVALID})
    message = str(refused.value)
    assert [rule for name, _, rule in INVALID if f"{name} {rule}" not in message] == []
    assert message.count(" must be ") == len(INVALID)
    assert "secret" not in message

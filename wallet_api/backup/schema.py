"""The names of this service's tables, functions and types, and the migrations that create them."""

import re
from functools import cache
from importlib import resources

from wallet_api import migrations
from wallet_api.migrations import legacy

SCHEMA = "public"
MIGRATIONS_TABLE = "schema_migrations"

# The migrations that commit d967877 recorded; its tables have a special upgrade.
EARLIER = legacy.NAMES
# Other commits recorded the same names with other functions; those cannot be upgraded.
EARLIER_FUNCTIONS = frozenset(
    {
        "bucket_end(timestamp with time zone, integer)",
        "json_text(text)",
        "latest_price(text, timestamp with time zone)",
        "listed_distribution(bigint, bigint, bigint, bigint)",
        "listed_position(text, text, numeric, numeric, numeric, numeric, text, bigint, bigint,"
        " timestamp with time zone, timestamp with time zone, boolean)",
        "listed_stats(text, numeric, numeric, numeric, numeric, bigint, bigint, bigint, bigint, bigint,"
        " numeric, numeric, numeric, bigint)",
        "listed_wallet(text, text, text, text, text, text, text, text, text)",
        "native_currency(text)",
        "nearest_price(text, timestamp with time zone)",
        "percentage(numeric, numeric)",
        "profit_bucket(numeric, numeric)",
        "quotient(numeric, numeric)",
        "quotient_to(numeric, numeric, integer)",
        "shown(numeric, integer)",
        "shown_time(timestamp with time zone)",
        "small_quotient(numeric, numeric)",
        "still_held(numeric, numeric)",
        "usd_total(numeric, numeric, numeric, numeric, numeric)",
        "walk_step(public.walk_state, public.walk_state, boolean, numeric, numeric, numeric, numeric, text)",
    }
)
# Its generated columns call functions by unqualified names, but a restore has an empty search_path.
# The upgrade creates it again from positions.
EARLIER_WITHOUT = "lifetimes"
_EARLIER_TABLES = frozenset(
    {"wallets", "wallet_groups", "tokens", "native_prices", "trades", "positions", "position_rollup"}
    | {"volume_rollup", "api_keys", "credit_leases", "credit_ledger", "holdings_snapshots"}
    | {"sync_wallets", "sync_heartbeats"}
)

_CREATED = re.compile(r"^CREATE (TABLE|FUNCTION|AGGREGATE|TYPE) (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)


def known_migrations() -> frozenset[str]:
    """Return the names of the migrations that a dump may record."""
    return EARLIER | frozenset(migrations.available())


@cache
def names() -> frozenset[str]:
    """Return the names of all objects that this or an earlier version creates in the schema."""
    earlier = {signature.split("(", 1)[0] for signature in EARLIER_FUNCTIONS} | _EARLIER_TABLES
    files = resources.files(migrations).iterdir()
    now = {name for file in files if file.name.endswith(".sql") for _, name in _created(file.read_text())}
    return frozenset({MIGRATIONS_TABLE, EARLIER_WITHOUT} | earlier | now)


def tables_of(recorded: frozenset[str]) -> frozenset[str]:
    """Return the tables that a dump with these recorded migrations must contain."""
    tables = {MIGRATIONS_TABLE}
    if recorded & EARLIER:
        return frozenset(tables | _EARLIER_TABLES)
    for migration in recorded:
        text = resources.files(migrations).joinpath(f"{migration}.sql").read_text()
        tables |= {name for kind, name in _created(text) if kind == "TABLE"}
    return frozenset(tables)


def _created(text: str) -> list[tuple[str, str]]:
    return _CREATED.findall(text)

"""docs/figures.md leads to the statements that compute the figures."""

import re
from functools import cache
from pathlib import Path

from marshmallow import fields

from wallet_api.api.schemas.analytics import BucketSchema, FlowSchema, TradedTokenSchema
from wallet_api.api.schemas.calendar import SumsSchema
from wallet_api.api.schemas.feed import HoldingSchema
from wallet_api.api.schemas.history import DistributionSchema, LifetimeStatsSchema, TokenOverviewSchema
from wallet_api.api.schemas.leaderboard import PeriodStatsSchema
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.signals import SignalStatsSchema, SignalWalletSchema, SignalWindowSchema
from wallet_api.api.schemas.tokens import (
    TotalHoldersSchema,
    TotalHoldingsSchema,
    TotalStatisticsSchema,
    TraderHoldingsSchema,
    TraderStatsSchema,
)
from wallet_api.api.schemas.tracker import TokenRowSchema, TrackerStatsSchema
from wallet_api.api.schemas.wallet_tokens import WalletTokenSchema
from wallet_api.base.chains import WALLET_TYPES

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "figures.md").read_text()
LINKS = sorted(set(re.findall(r"\[`(\w+)`\]\(\.\./([\w./]+\.sql)\)", DOCUMENT)))
# The statements of plain sums and counts.
STATEMENTS = re.findall(r"\[\w+\]\(\.\./([\w./]+\.sql)\)", DOCUMENT.partition("## Plain sums")[2])


def test_a_figure_links_to_the_statement_that_computes_it() -> None:
    assert [link for link in LINKS if not _is_computed(*link)] == []


def test_every_figure_of_a_response_is_linked_or_a_column_of_the_named_statements() -> None:
    schemas = (
        *(LifetimeStatsSchema, DistributionSchema, TokenOverviewSchema, PeriodStatsSchema),
        *(HoldingSchema, SumsSchema, TrackerStatsSchema, TokenRowSchema, TradedTokenSchema),
        *(FlowSchema, BucketSchema, SignalStatsSchema, SignalWalletSchema, SignalWindowSchema),
        *(TotalHoldersSchema, TotalHoldingsSchema, TotalStatisticsSchema),
        *(TraderHoldingsSchema, TraderStatsSchema, WalletTokenSchema),
    )
    # No source of supplies at the time of a trade exists.
    unknown = "entry_market_cap"
    counts = {f"{type}_count" for type in WALLET_TYPES}
    figures = {name for schema in schemas for name in schema().fields if not name.startswith(unknown)}
    linked = {figure for figure, _ in LINKS}
    computed = {name for name in figures if any(_is_computed(name, file) for file in STATEMENTS)}
    assert figures - linked - counts - computed == {
        # Arguments, and an object of others.
        *("period", "since", "until", "profile"),
    }


def _is_computed(figure: str, file: str) -> bool:
    # A member of an object is the column of both names.
    column = rf"(\bAS (({'|'.join(_objects())})_)?|\bFUNCTION ){figure}\b|^ +(SELECT )?{figure},?$"
    return re.search(column, (ROOT / file).read_text(), re.MULTILINE) is not None


@cache
def _objects() -> set[str]:
    """The names of members that are objects."""
    shapes = [*Shape.__subclasses__()]
    for shape in shapes:
        shapes += shape.__subclasses__()
    return {
        name
        for shape in shapes
        for name, field in shape().fields.items()
        if isinstance(field, fields.Nested) and not field.many
    }

"""docs/figures.md leads to the lines that compute the figures."""

import re
from pathlib import Path

import pytest

from wallet_api.schemas.analytics import TradedTokenSchema
from wallet_api.schemas.calendar import SumsSchema
from wallet_api.schemas.feed import HoldingSchema
from wallet_api.schemas.history import DistributionSchema, LifetimeStatsSchema, TokenOverviewSchema
from wallet_api.schemas.leaderboard import PeriodStatsSchema
from wallet_api.schemas.tokens import (
    TotalHoldersSchema,
    TotalHoldingsSchema,
    TotalStatisticsSchema,
    TraderHoldingsSchema,
    TraderStatsSchema,
)
from wallet_api.schemas.tracker import TokenRowSchema, TrackerStatsSchema

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "figures.md").read_text()
LINKS = re.findall(r"\[`(\w+)`\]\(\.\./([\w./]+)#L(\d+)\)", DOCUMENT)


@pytest.mark.parametrize(("figure", "file", "line"), LINKS, ids=lambda part: part.rpartition("/")[2])
def test_a_figure_links_to_the_line_that_computes_it(figure: str, file: str, line: str) -> None:
    text = (ROOT / file).read_text().splitlines()[int(line) - 1]
    assert re.search(rf"\b{figure}\b", text), text


def test_every_figure_of_an_answer_is_linked() -> None:
    schemas = (
        *(LifetimeStatsSchema, DistributionSchema, TokenOverviewSchema, PeriodStatsSchema),
        *(HoldingSchema, SumsSchema, TrackerStatsSchema, TokenRowSchema, TradedTokenSchema),
        *(TotalHoldersSchema, TotalHoldingsSchema, TotalStatisticsSchema),
        *(TraderHoldingsSchema, TraderStatsSchema),
    )
    # No source of supplies exists.
    unknown = ("supply_", "entry_market_cap")
    figures = {name for schema in schemas for name in schema().fields if not name.startswith(unknown)}
    linked = {figure for figure, _, _ in LINKS}
    assert figures - linked == {
        *("currency", "mint", "token_name", "total_tx_count", "period"),
        # Described beside the figures of which they are the dollars.
        *("buy_value_usd", "sell_value_usd"),
    }

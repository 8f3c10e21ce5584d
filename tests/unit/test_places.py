"""The place of a trade in its chain, as a source states it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.stub.swaps import leg
from wallet_api.base.chains import CHAINS
from wallet_api.chain.decoding.swaps import TrackedWallet
from wallet_api.chain.decoding.trades import Draft, draft_trades
from wallet_api.chain.providers.trades.moralis import read_swap

CAT = f"0x{'ca' * 20}"
WALLET = TrackedWallet(1, CHAINS["eth"], f"0x{'1b' * 20}")
ROW = {
    "transactionHash": f"0x{5:064x}",
    "blockTimestamp": "2026-11-20T12:00:00.000Z",
    "bought": leg(CAT, "5"),
    "sold": leg(CHAINS["eth"].wrapped_mint, "1"),
}


@pytest.mark.parametrize(
    ("stated", "place"),
    [
        ({"blockNumber": 42, "transactionIndex": 7}, (42, 7)),
        ({"blockNumber": "42", "transactionIndex": "0"}, (42, 0)),
        ({"blockNumber": 42}, (42, None)),
        # A place in no block is none, and what is no whole number is not stated.
        ({"transactionIndex": 7}, (None, None)),
        ({"blockNumber": -1, "transactionIndex": 7}, (None, None)),
        ({"blockNumber": True, "transactionIndex": 1.5}, (None, None)),
        ({"blockNumber": "9" * 40}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_a_swap_of_moralis_has_the_place_that_its_row_states(
    stated: dict[str, Any], place: tuple[int | None, int | None]
) -> None:
    (draft,) = draft_trades([read_swap(WALLET, ROW | stated)]).drafts
    assert (draft.block, draft.block_index) == place


@pytest.mark.parametrize(
    ("block", "index", "place"),
    [
        (None, None, {}),
        (0, 0, {"block": 0, "block_index": 0}),
        (7, None, {"block": 7}),
        (None, 7, {}),
        # What no ledger takes is not stated, and costs no trade.
        (-1, 7, {}),
        (2**63, 7, {}),
        (7, -1, {"block": 7}),
        (7, 2**31, {"block": 7}),
    ],
)
def test_a_place_that_the_ledger_does_not_take_is_none(
    block: int | None, index: int | None, place: dict[str, int]
) -> None:
    draft = Draft(
        WALLET, "x", CAT, is_sell=False, created_at=datetime.now(UTC), block=block, block_index=index
    )
    assert draft.place == place

"""The table of venues: a recorded transaction shows each row, or it is made (`pytest -s` lists these)."""

import json

import pytest

from tests.decoding import test_evm_recorded, test_solana_recorded
from wallet_api.decoding.venues import EVM, MADE, SOLANA, Venue

_ROWS = {
    **{
        case.given.receipt["transactionHash"]: case.given.receipt
        for case in test_evm_recorded.CASES
        if case.is_recorded
    },
    **{case.signature: case.result for case in test_solana_recorded.CASES},
}
_SHOWN = {signature: json.dumps(row) for signature, row in _ROWS.items()}
_RECORDED = [venue for venue in (*EVM, *SOLANA) if venue.recorded != MADE]
_MADE = [venue for venue in (*EVM, *SOLANA) if venue.recorded == MADE]


@pytest.mark.parametrize("venue", _RECORDED, ids=lambda venue: f"{venue.name}, {venue.recorded}")
def test_a_recorded_transaction_shows_the_venue(venue: Venue) -> None:
    (shown,) = (text for signature, text in _SHOWN.items() if signature.startswith(venue.recorded))
    # A log may have it as a word.
    assert venue.address.removeprefix("0x") in shown
    assert venue.topic in shown
    assert venue.holder.removeprefix("0x") in shown


@pytest.mark.parametrize("venue", _MADE, ids=lambda venue: venue.name)
def test_no_recorded_transaction_shows_what_is_said_to_be_made(venue: Venue) -> None:
    print(f"made: {venue.role}, {venue.name}, {venue.address} {venue.topic}")
    assert not any(
        venue.address in text and (venue.topic or venue.address) in text for text in _SHOWN.values()
    )

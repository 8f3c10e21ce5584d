"""The table of venues: a recorded transaction shows each row, or it is made (`pytest -s` lists these)."""

import json

from tests.decoding import test_evm_recorded, test_solana_recorded
from wallet_api.chain.decoding.evm.venues import EVM
from wallet_api.chain.decoding.solana.venues import SOLANA
from wallet_api.chain.decoding.venues import MADE, Venue

_ROWS = {
    **{
        case.given.receipt["transactionHash"]: case.given.receipt
        for case in test_evm_recorded.CASES
        if case.is_recorded
    },
    **{case.signature: case.result for case in test_solana_recorded.CASES},
}
_SHOWN = {signature: json.dumps(row) for signature, row in _ROWS.items()}
_VENUES: tuple[Venue, ...] = (*EVM, *SOLANA)


def _is_shown(venue: Venue) -> bool:
    # A log may have it as a word.
    words = (venue.address.removeprefix("0x"), venue.topic, venue.holder.removeprefix("0x"))
    recorded = (text for signature, text in _SHOWN.items() if signature.startswith(venue.recorded))
    return [all(word in text for word in words) for text in recorded] == [True]


def test_a_recorded_transaction_shows_each_venue_but_those_that_are_made() -> None:
    made = [venue for venue in _VENUES if venue.recorded == MADE]
    print("made:", *made, sep="\n")
    assert [venue for venue in _VENUES if venue not in made and not _is_shown(venue)] == []
    assert [
        venue
        for venue in made
        if any(venue.address in text and (venue.topic or venue.address) in text for text in _SHOWN.values())
    ] == []

"""What a snapshot stores, and what is computed for each response."""

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.holdings.conftest import (
    Ask,
    AskAt,
    Hold,
    active,
    evm_token,
    solana_token,
    wait_for_refreshes,
)
from tests.stub import faults
from tests.stub.server import Stub
from tests.waiting import eventually, somebody_waits
from wallet_api.database import Connection, connect

LARGEST = 2**256 - 1


def addresses(response: TestResponse) -> list[str]:
    return [row["token_address"] for row in active(response)["tokens"]]


def data_of(response: TestResponse) -> bytes:
    """The bytes of a response without its meta, which differs each time."""
    assert response.status_code == 200, response.text
    return response.data.split(b',"meta":')[0]


def stored(connection: Connection) -> dict[str, Any]:
    """The only row of the table."""
    (row,) = connection.execute("SELECT * FROM holdings_snapshots").fetchall()
    return row


class TestStored:
    def test_a_wallet_without_any_balance_is_stored_as_read(
        self, ask: Ask, ask_at: AskAt, connection: Connection, track: Hold
    ) -> None:
        address = track("eth")
        first = ask("eth", address)
        row = stored(connection)
        assert (row["native_amount"], row["tokens"]) == (0, [])
        assert data_of(ask_at()("eth", address)) == data_of(first)
        assert addresses(first) == ["native"]

    def test_last_updated_is_the_stored_time_in_utc_whatever_the_servers_time_zone(
        self, ask_at: AskAt, connection: Connection, track: Hold
    ) -> None:
        connection.execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = %L', current_database(),"
            " 'Asia/Kathmandu'); END $$"
        )
        address = track("eth")
        connection.execute(
            """
            INSERT INTO holdings_snapshots (wallet_id, native_amount, tokens, refreshed_at)
            SELECT wallet_id, 1, '[]', '2026-01-30 23:59:59.999+00' FROM wallets
            """
        )
        assert active(ask_at()("eth", address))["last_updated"] == "2026-01-30T23:59:59Z"


class TestFormatted:
    def test_spam_of_a_saved_snapshot_is_left_out_when_the_setting_changes(
        self, ask_at: AskAt, track: Hold, stub: Stub
    ) -> None:
        for chain, token in (("eth", evm_token), ("solana", solana_token)):
            good, spam = token(1, 5), token(2, 9, spam=True)
            address = track(chain, native=7, tokens=(good, spam))
            both = ["native", spam.address, good.address]
            assert addresses(ask_at(holdings_keep_spam=True)(chain, address)) == both
            asked = stub.asked[address]
            assert addresses(ask_at()(chain, address)) == ["native", good.address]
            assert addresses(ask_at(holdings_keep_spam=True)(chain, address)) == both
            assert stub.asked[address] == asked

    def test_a_snapshot_saved_without_spam_shows_it_after_the_next_refresh(
        self, ask_at: AskAt, connection: Connection, track: Hold
    ) -> None:
        good, spam = evm_token(1, 5), evm_token(2, 9, spam=True)
        address = track("eth", tokens=(good, spam))
        assert addresses(ask_at()("eth", address)) == ["native", good.address]
        assert addresses(ask_at(holdings_keep_spam=True)("eth", address)) == ["native", good.address]
        _age(connection)
        kept = ask_at(holdings_keep_spam=True)
        assert active(kept("eth", address))["stale"] is True
        wait_for_refreshes()
        assert addresses(kept("eth", address)) == ["native", spam.address, good.address]

    def test_every_digit_of_the_largest_amounts_survives_the_table(
        self, ask: Ask, ask_at: AskAt, track: Hold
    ) -> None:
        tokens = tuple(
            evm_token(number, LARGEST - number, decimals=decimals)
            for number, decimals in enumerate((0, 1, 18, 77, 78, 255))
        )
        address = track("eth", native=LARGEST, tokens=tokens)
        first = ask("eth", address)
        (native, *rows) = active(first)["tokens"]
        digits = str(LARGEST)
        assert (native["amount"], native["amount_formatted"]) == (digits, f"{digits[:-18]}.{digits[-18:]}")
        assert {row["token_address"]: row["amount"] for row in rows} == {
            token.address: str(token.units) for token in tokens
        }
        assert data_of(ask_at()("eth", address)) == data_of(first)

    def test_rows_are_in_the_order_of_their_whole_tokens_ties_by_address(
        self, ask: Ask, ask_at: AskAt, track: Hold
    ) -> None:
        large, most = evm_token(1, 9, decimals=0), evm_token(2, 10, decimals=0)
        equal = [evm_token(10 + places, 10**places, decimals=places) for places in (0, 3, 77)]
        small, smallest = evm_token(3, LARGEST, decimals=255), evm_token(4, 1, decimals=255)
        address = track("eth", native=0, tokens=(smallest, equal[2], large, equal[0], small, equal[1], most))
        expected = [
            "native",
            *(most.address, large.address),
            *sorted(token.address for token in equal),
            *(small.address, smallest.address),
        ]
        first = ask("eth", address)
        assert addresses(first) == expected
        assert data_of(ask_at()("eth", address)) == data_of(first)


class TestRemoved:
    """A removed wallet leaves nothing behind, and a running refresh does not restore it."""

    @pytest.mark.parametrize("fails", [False, True])
    def test_a_removal_during_a_refresh_leaves_no_row(
        self,
        ask_at: AskAt,
        connection: Connection,
        track: Hold,
        stub: Stub,
        caplog: pytest.LogCaptureFixture,
        fails: bool,
    ) -> None:
        ask = ask_at(holdings_wait_seconds=0.3)
        address = track("eth", native=7)

        def answer() -> Any:
            stub.release.wait(10)
            return faults.status(400)() if fails else None

        stub.scenarios[address] = answer
        assert active(ask("eth", address))["loading"] is True
        assert stored(connection)["claim"] is not None
        _remove(connection, address)
        stub.release.set()
        wait_for_refreshes()
        assert stub.asked[address] == 1
        assert _count(connection) == 0
        assert ask("eth", address).status_code == 404
        assert "crashed" not in caplog.text

    def test_a_removal_at_the_moment_of_the_claim_leaves_no_row(
        self,
        ask_at: AskAt,
        connection: Connection,
        track: Hold,
        stub: Stub,
        caplog: pytest.LogCaptureFixture,
        database_url: str,
    ) -> None:
        ask = ask_at(holdings_wait_seconds=0.3)
        address = track("eth", native=7)
        with connect(database_url) as other, other.transaction():
            _remove(other, address)
            # The claim has read the wallet, and waits for this transaction.
            assert active(ask("eth", address))["loading"] is True
            # In a cluster it waits on a worker.
            assert connection.is_sharded or eventually(lambda: somebody_waits(connection), 5)
        wait_for_refreshes()
        assert _count(connection) == 0
        assert not stub.asked[address]
        assert ask("eth", address).status_code == 404
        assert "holdings refresh" not in caplog.text

    def test_a_removed_wallet_takes_its_snapshot_and_no_other(
        self, ask: Ask, connection: Connection, track: Hold
    ) -> None:
        removed, kept = track("eth", native=7), track("eth", native=8)
        for address in (removed, kept):
            ask("eth", address)
        _remove(connection, removed)
        assert stored(connection)["native_amount"] == 8


def _age(connection: Connection) -> None:
    connection.execute("UPDATE holdings_snapshots SET refreshed_at = now() - interval '100 seconds'")


def _remove(connection: Connection, address: str) -> None:
    connection.execute("DELETE FROM wallets WHERE address = %s", (address,))


def _count(connection: Connection) -> int:
    (row,) = connection.execute("SELECT count(*) AS n FROM holdings_snapshots").fetchall()
    return int(row["n"])

"""What a snapshot stores, and what is computed for each response."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.holdings.conftest import Hold, Send, SendAt, active, evm_token, solana_token, wait_for_refreshes
from tests.lib.waiting import eventually, repeated, somebody_waits
from tests.stub import faults
from tests.stub.server import Stub
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
        self, send: Send, send_at: SendAt, connection: Connection, track: Hold
    ) -> None:
        address = track("eth")
        first = send("eth", address)
        row = stored(connection)
        assert (row["native_amount"], row["tokens"]) == (0, [])
        assert data_of(send_at()("eth", address)) == data_of(first)
        assert addresses(first) == ["native"]

    def test_last_updated_is_the_stored_time_in_utc_whatever_the_servers_time_zone(
        self, send_at: SendAt, connection: Connection, track: Hold
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
        assert active(send_at()("eth", address))["last_updated"] == "2026-01-30T23:59:59Z"


class TestFormatted:
    def test_spam_is_shown_as_the_setting_says_as_soon_as_a_refresh_has_stored_it(
        self, send_at: SendAt, connection: Connection, track: Hold, stub: Stub
    ) -> None:
        # Only on EVM chains does this provider leave out spam itself.
        for chain, token, is_stored in (("eth", evm_token, False), ("solana", solana_token, True)):
            good, spam = token(1, 5), token(2, 9, spam=True)
            address = track(chain, native=7, tokens=(good, spam))
            without, both = ["native", good.address], ["native", spam.address, good.address]
            assert addresses(send_at()(chain, address)) == without
            shown = addresses(send_at(holdings_keep_spam=True)(chain, address))
            assert shown == (both if is_stored else without)
            an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
            connection.execute("UPDATE holdings_snapshots SET refreshed_at = %s", [an_hour_ago])
            kept = send_at(holdings_keep_spam=True)
            assert active(kept(chain, address))["stale"] is True
            wait_for_refreshes()
            before = stub.requested[address]
            for send, shown in ((kept, both), (send_at(), without), (send_at(holdings_keep_spam=True), both)):
                assert addresses(send(chain, address)) == shown
            assert stub.requested[address] == before

    def test_denied_tokens_are_stored_and_not_shown(
        self, send_at: SendAt, track: Hold, tmp_path: Path
    ) -> None:
        denylist = tmp_path / "denied.csv"
        good, denied = evm_token(1, 5), evm_token(2, 9)
        denylist.write_text(f"blockchain,mint\neth,{denied.address.upper().replace('0X', '0x')}\n")
        for chain, shown in (
            ("eth", ["native", good.address]),
            ("bnb", ["native", denied.address, good.address]),
        ):
            address = track(chain, native=7, tokens=(good, denied))
            assert addresses(send_at(token_denylist=str(denylist))(chain, address)) == shown
            assert addresses(send_at()(chain, address)) == ["native", denied.address, good.address]

    def test_every_digit_and_the_order_of_the_largest_amounts_survive_the_table(
        self, send: Send, send_at: SendAt, track: Hold
    ) -> None:
        large = [
            evm_token(number, LARGEST - number, decimals=decimals)
            for number, decimals in enumerate((0, 1, 18, 77, 78, 255))
        ]
        equal = [evm_token(10 + places, 10**places, decimals=places) for places in (0, 3, 77)]
        smallest = evm_token(30, 1, decimals=255)
        address = track("eth", native=LARGEST, tokens=(smallest, equal[2], *large, *equal[:2]))
        first = send("eth", address)
        (native, *rows) = active(first)["tokens"]
        digits = str(LARGEST)
        assert (native["amount"], native["amount_formatted"]) == (digits, f"{digits[:-18]}.{digits[-18:]}")
        units = {token.address: str(token.units) for token in (*large, *equal, smallest)}
        assert {row["token_address"]: row["amount"] for row in rows} == units
        # By whole tokens, ties by address.
        assert [row["token_address"] for row in rows] == [
            *(token.address for token in large[:4]),
            *sorted(token.address for token in equal),
            *(token.address for token in (*large[4:], smallest)),
        ]
        assert data_of(send_at()("eth", address)) == data_of(first)


class TestRemoved:
    """A running refresh does not restore a removed wallet."""

    @pytest.mark.parametrize("fails", [False, True])
    def test_a_removal_during_a_refresh_leaves_no_row(
        self,
        send_at: SendAt,
        connection: Connection,
        track: Hold,
        stub: Stub,
        caplog: pytest.LogCaptureFixture,
        fails: bool,
    ) -> None:
        send = send_at(holdings_wait_seconds=0.3)
        address = track("eth", native=7)

        def answer() -> Any:
            stub.release.wait(10)
            return faults.status(400)() if fails else None

        stub.scenarios[address] = answer
        assert active(send("eth", address))["loading"] is True
        assert stored(connection)["claim"] is not None
        _remove(connection, address)
        stub.release.set()
        wait_for_refreshes()
        assert stub.requested[address] == 1
        assert _count(connection) == 0
        assert send("eth", address).status_code == 404
        assert "crashed" not in caplog.text

    def test_a_removal_at_the_moment_of_the_claim_leaves_no_row(
        self,
        send_at: SendAt,
        connection: Connection,
        track: Hold,
        stub: Stub,
        caplog: pytest.LogCaptureFixture,
        database_url: str,
    ) -> None:
        send = send_at(holdings_wait_seconds=0.3)
        address = track("eth", native=7)
        waited: list[bool] = []
        with connect(database_url) as other, other.transaction():
            _remove(other, address)
            # The claim has read the wallet, and waits for this transaction: half a second at most.
            with repeated(lambda: waited.append(somebody_waits(connection)), 0.01):
                assert active(send("eth", address))["loading"] is True
                # In a cluster it waits on a worker.
                assert connection.is_sharded or eventually(lambda: any(waited))
        wait_for_refreshes()
        assert _count(connection) == 0
        assert not stub.requested[address]
        assert send("eth", address).status_code == 404
        assert "holdings refresh" not in caplog.text


def _remove(connection: Connection, address: str) -> None:
    connection.execute("DELETE FROM wallets WHERE address = %s", (address,))


def _count(connection: Connection) -> int:
    (row,) = connection.execute("SELECT count(*) AS n FROM holdings_snapshots").fetchall()
    return int(row["n"])

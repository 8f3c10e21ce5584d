"""What webhooks reported before their tables had columns for it."""

from datetime import UTC, datetime

from tests.ledger.rows import ANN
from tests.lib.versions import migrate_to
from wallet_api.database import connect, migrations

NAMES = migrations.available()
# The last one of webhooks.
OWN = [name for name in NAMES if name.endswith("_notify")][-1]
REPORTED = """
INSERT INTO notify_reported (subject, rule, message_id, is_reported, traded_at, reported_at)
VALUES (%(subject)s, %(rule)s, %(id)s, %(is_reported)s, %(at)s, %(at)s)
"""


def test_what_was_reported_and_what_waits_is_kept_with_its_ids(empty_database_url: str) -> None:
    at = datetime(2026, 1, 30, tzinfo=UTC)
    subjects = [f"solana|{ANN}|mint|sig|sell|3", "eth|0xab|0xcd|a|b|c|buy|12"]
    with connect(empty_database_url) as connection:
        migrate_to(connection, NAMES[: NAMES.index(OWN)])
        for number, subject in enumerate(subjects):
            own = {"subject": subject, "rule": "all", "id": f"msg_{number}", "is_reported": number == 0}
            connection.execute(REPORTED, own | {"at": at})
        connection.execute(
            "INSERT INTO notify_messages (target, rule, message_id, body, arrived_at)"
            " VALUES ('bot', 'all', 'msg_waits', '{}', now())"
        )
        migrations.migrate(connection)
        rows = connection.execute("SELECT * FROM notify_trades ORDER BY event_id")
        assert [tuple(row.values()) for row in rows] == [
            ("solana", ANN, "mint", "sig", True, 3, "all", "msg_0", True, at, at),
            # A signature may have any letters.
            ("eth", "0xab", "0xcd", "a|b|c", False, 12, "all", "msg_1", False, at, at),
        ]
        waiting = connection.execute("SELECT message_id, refusals, refused_at, due_at FROM notify_messages")
        assert [tuple(row.values()) for row in waiting] == [("msg_waits", 0, None, None)]

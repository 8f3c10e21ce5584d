"""Backup and restore of the database in use, with pg_dump and pg_restore."""

from wallet_api.operate.backup.dump import back_up, count_rows
from wallet_api.operate.backup.programs import BackupError, Note
from wallet_api.operate.backup.restore import restore_ledger

__all__ = ["BackupError", "Note", "back_up", "count_rows", "restore_ledger"]

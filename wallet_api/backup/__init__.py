"""Backup and restore of the database in use, with pg_dump, pg_restore and psql."""

from wallet_api.backup.dump import Backup, back_up
from wallet_api.backup.errors import BackupError
from wallet_api.backup.restore import Restored, complete, restore

__all__ = ["Backup", "BackupError", "Restored", "back_up", "complete", "restore"]

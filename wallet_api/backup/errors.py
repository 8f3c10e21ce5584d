"""The error of backup and restore."""


class BackupError(Exception):
    """A backup or restore failed; the message says why and what to do next."""

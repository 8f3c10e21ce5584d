"""What goes wrong with a backup or a restore."""


class BackupError(Exception):
    """A backup or a restore cannot be done; the message says why and what to do next."""

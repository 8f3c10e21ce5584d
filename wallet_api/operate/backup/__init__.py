"""Backup and restore of the database in use, with pg_dump and pg_restore."""

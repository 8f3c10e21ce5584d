"""Trades in and out: readers of files, the import, the removal, and the walk that gives realized profit."""

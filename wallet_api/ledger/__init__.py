"""Trades in: readers of files, the import, and the walk that gives realized profit."""

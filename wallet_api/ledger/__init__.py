"""The ledger: readers of files, imports, removals, and the walk that gives realized profit."""

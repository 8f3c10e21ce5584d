"""Rounds that import new trades, native prices and names of tokens from the providers into the ledger.

`cli/sync.py` makes the `sources`, and repeats the rounds by a `schedule`, in the `session` that has the lock:
`rounds` of trades, `prices`, and `faces` of tokens. Each returns one of the `summaries`, and adds what it did
to the `report`, which `wallet-api sync status` prints and `metrics` lists.
"""

"""Rounds that import new trades and native prices from the providers into the ledger."""

"""Requests to outside services: the HTTP client that all providers share, and a module per provider.

`balances` serves the holdings operation, `trades` and `prices` serve the sync commands.
"""

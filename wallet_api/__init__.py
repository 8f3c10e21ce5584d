"""A self-hosted Wallet Intelligence API.

A request enters the app of `app.create_app` and passes the gate (`access`: key and rate limit). Its view
(`blueprints/<noun>`) runs one query (`queries/<noun>`, with its SQL beside it, or `holdings`) with validated
arguments (`schemas/<noun>`), and responds in the envelope (`responses`). `ledger` imports trades and updates
the sums of realized profit; `providers` fetch transactions, `decoding` turns them into trades, and `sync`
imports these; `cli` holds the commands.
"""

__version__ = "1.0.0"

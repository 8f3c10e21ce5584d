"""A self-hosted Wallet Intelligence API.

A request enters the app of `app.create_app` and passes the gate (`api/access`: key and rate limit). Its view
(`api/blueprints/<noun>`) runs one query (`queries/<noun>`, with its SQL beside it, or `holdings`) with
validated arguments (`api/schemas/<noun>`), and responds in the envelope (`api/responses`).

A trade comes from a file, or from a transaction that `chain/sync` has `chain/providers` fetch and
`chain/decoding` read; `ledger` imports it and updates the sums of realized profit, of which `notify` sends
webhooks. `operate` holds the commands, and `base` what all stand on.
"""

__version__ = "1.0.0"

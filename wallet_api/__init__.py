"""A self-hosted Wallet Intelligence API.

A request enters at `app.create_app`, passes the gate (`access`: key, rate limit), reaches its view
(`blueprints/<noun>`), which loads the arguments (`schemas/<noun>`), asks one question (`queries/<noun>`,
with its SQL beside it, or `holdings`) and answers in the envelope (`blueprints/envelope`). Trades come in
through `ledger`, which works out every figure at import; `cli` starts, fills and tends the service.
"""

__version__ = "1.0.0"

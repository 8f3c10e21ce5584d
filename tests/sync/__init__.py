"""A stub of the services that trades and native prices are read from, and worlds whose ledger is known."""

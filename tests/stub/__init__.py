"""A stub of all providers on one port: of balances, trades, nodes, native prices and markets; and faults."""

"""A stub of all providers of balances on one port: Moralis, JSON-RPC nodes, Alchemy, and their faults."""

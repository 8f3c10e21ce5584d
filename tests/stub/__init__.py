"""A stub of all providers on one port: Moralis, Alchemy, JSON-RPC nodes, CoinGecko, Binance; and faults."""

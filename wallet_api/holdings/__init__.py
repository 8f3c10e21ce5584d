"""The current balances of wallets: the cache, the snapshots that all workers share, and their refresh."""

"""What a wallet holds now: providers, the cache in front of them, and the snapshots all workers share."""

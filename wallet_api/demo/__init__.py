"""A synthetic world to try the service with: wallets, trades, prices, and a stand-in provider."""

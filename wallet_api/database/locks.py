"""The advisory locks of a database, by their keys: no two have one."""

MIGRATIONS = 7_401_001
TOKEN_PRICES = 7_401_003
PLACES = 7_401_004
QUOTES = 7_401_005
WEBHOOKS = 7_401_009

# The first of two keys; the second is of some wallets, or of a sync and its chain, or a search.
WALLETS = 7_401
SYNCS = 7_404

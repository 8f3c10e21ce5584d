"""Find wallets by the first buyers of tokens, from the operator's own node.

`search` reads each token's first transactions (`solana`, `evm`), chooses the candidates and reads their own
trades; `ranking` sums these by the walk of the ledger. `purse` limits the requests, and `results`
has what the node has returned, so that a command that is run again goes on.
"""

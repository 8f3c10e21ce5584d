"""Decode transactions: what a wallet traded in one, or why that is no trade.

The doors are `decode_evm` and `decode_solana`. A decision may depend on what an EVM node has not returned
yet, which only the decision finds out. It then raises Unanswered with questions. The caller adds their
answers to the evidence, and decodes again.

Pure: what a node returned is data. The rules and their reasons are in docs/sync.md, "What a trade is". Three
words say what went where: a *move* is units of one thing that went from one owner to another, *changes* are
what one owner has more or less of in the end, and a *swap* is one thing for another.
"""

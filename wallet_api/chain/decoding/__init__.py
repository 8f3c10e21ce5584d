"""Decode transactions: what a wallet traded in one, or why that is no trade; the door is `decode`.

Pure: what a node returned is data. The rules and their reasons are in docs/sync.md, "What a trade is". Three
words say what went where: a *move* is units of one thing that went from one owner to another, *changes* are
what one owner has more or less of in the end, and a *swap* is one thing for another.
"""

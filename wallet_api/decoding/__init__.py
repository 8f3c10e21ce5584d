"""Decode transactions: what a wallet traded in one, or why that is no trade; the door is `decode`.

Pure: what a node returned is data. The rules and their reasons are in docs/sync.md, "What a trade is".
"""

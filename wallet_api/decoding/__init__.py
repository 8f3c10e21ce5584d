"""Decode transactions: what a wallet traded in one, or why that is no trade. Pure."""

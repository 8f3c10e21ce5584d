"""Decode transactions of Solana: `swaps.py` begins, `moves.py` finds what was exchanged."""

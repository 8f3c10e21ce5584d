"""Decode transactions of Solana: `decode.py` has the rules, `exchanges.py` finds what they are about."""

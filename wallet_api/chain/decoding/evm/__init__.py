"""Decode transactions of EVM chains: `decode.py` begins, `decision.py` has the rules."""

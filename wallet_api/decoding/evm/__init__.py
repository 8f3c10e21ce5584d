"""Decode transactions of EVM chains: `trade.py` begins, `decision.py` has the rules."""

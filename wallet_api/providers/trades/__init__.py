"""The providers of trades, a module each; which one serves a chain is a setting."""

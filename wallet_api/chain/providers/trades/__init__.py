"""The providers of trades, a module each; a setting selects the one for a chain."""

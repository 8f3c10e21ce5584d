"""The providers of market prices of tokens, a module each."""

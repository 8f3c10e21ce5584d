"""The providers of the native coins' prices, a module each."""

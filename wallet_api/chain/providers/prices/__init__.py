"""The providers of native prices, a module each."""

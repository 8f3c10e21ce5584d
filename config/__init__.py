"""The files for operators, which `wallet-api config` prints: in a wheel, the package wallet_api.config."""

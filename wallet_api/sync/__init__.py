"""The ledger kept current: swaps and native prices read from outside, round by round."""

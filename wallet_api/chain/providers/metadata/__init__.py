"""What tokens are called and how they count, by their contracts, mints, and the operator's list."""

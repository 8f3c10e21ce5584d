"""Who may ask, how often, and at what cost: keys, rate limit and credits, and the gate that asks for all."""

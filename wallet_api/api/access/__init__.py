"""Access: API keys, rate limits and credits, and the gate that enforces them on each request."""

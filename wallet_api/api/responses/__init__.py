"""Responses: the arguments, the envelope, the one shape of errors, caches, compression and headers."""

"""Responses: the envelope, the one shape of errors, sharing, compression and headers."""

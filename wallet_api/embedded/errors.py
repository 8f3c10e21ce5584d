"""The error of the embedded servers."""


class EmbeddedError(Exception):
    """An embedded server cannot be used; the message says why and what to do next."""

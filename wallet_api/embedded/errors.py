"""What goes wrong with the embedded servers, said so that the reader knows what to do next."""


class EmbeddedError(Exception):
    """An embedded server cannot be used; the message says why and what to do next."""

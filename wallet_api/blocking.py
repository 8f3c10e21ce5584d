"""A hook for threads that are about to block: the server may let another thread take over."""

from collections.abc import Callable


def _ignore() -> None:
    pass


_hook: Callable[[], None] = _ignore


def set_hook(hook: Callable[[], None] = _ignore) -> None:
    """Have `hook` called by each thread that is about to block; without one, nothing is called."""
    global _hook
    _hook = hook


def about_to_block() -> None:
    """Announce that this thread is about to wait for a store, a provider or another thread."""
    _hook()

"""A hook for threads that are about to block, so that the server can let another thread run."""

from collections.abc import Callable


def _ignore() -> None:
    pass


_hook: Callable[[], None] = _ignore


def set_hook(hook: Callable[[], None] = _ignore) -> None:
    """Set the function that each thread calls before it blocks; without an argument, none is called."""
    global _hook
    _hook = hook


def about_to_block() -> None:
    """Call the hook before this thread waits for a store, a provider or another thread."""
    _hook()

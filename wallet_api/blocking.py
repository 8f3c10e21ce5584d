"""Hooks for threads that are about to block, so that the server can let another thread run."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext


def _ignore() -> None:
    pass


def _aside() -> AbstractContextManager[bool]:
    return nullcontext(True)


StepAside = Callable[[], AbstractContextManager[bool]]

_hook: Callable[[], None] = _ignore
_step_aside: StepAside = _aside


def set_hooks(hook: Callable[[], None] = _ignore, aside: StepAside = _aside) -> None:
    """Set what about_to_block() and step_aside() call; without arguments, nothing is called."""
    global _hook, _step_aside
    _hook, _step_aside = hook, aside


def about_to_block() -> None:
    """Call the hook before this thread waits for a store, a provider or another thread."""
    _hook()


def step_aside() -> AbstractContextManager[bool]:
    """Have another thread handle requests in place of this one, which only waits in this block.

    Yield whether there is one: a server has so many threads and no more.
    """
    return _step_aside()

"""Signals that are handled at once, whatever the main thread waits for."""

import signal
import socket
import threading
import time
from collections.abc import Callable

# Without a handler it has no effect: https://man7.org/linux/man-pages/man7/signal.7.html
_WAKING = signal.SIGURG
# The main thread may be about to wait when it is woken first.
_PAUSES_SECONDS = (0.0, 0.05, 0.5)


def hear_signals(react: Callable[[int], None] = lambda number: None) -> Callable[[], None]:
    """Call `react`, in a thread, with the number of each signal that has a handler; return what ends that.

    Python runs handlers in the main thread alone, which may wait for a lock without an end: a signal that
    comes just before, or to another thread, does not wake it. The handler in C writes to a socket, from any
    thread. The thread that reads it wakes the main one.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    main = threading.main_thread().ident
    assert main is not None

    def hear() -> None:
        # Both are held for as long as they are used.
        with reader, writer:
            while received := reader.recv(1):
                if received[0] == _WAKING:
                    continue
                react(received[0])
                for pause in _PAUSES_SECONDS:
                    time.sleep(pause)
                    signal.pthread_kill(main, _WAKING)

    threading.Thread(target=hear, daemon=True).start()
    handler = signal.signal(_WAKING, lambda *_: None)
    woken = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)

    def end() -> None:
        signal.set_wakeup_fd(woken)
        signal.signal(_WAKING, handler)
        writer.close()

    return end

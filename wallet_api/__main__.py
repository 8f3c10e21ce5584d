"""The entry point of `wallet-api` and `python -m wallet_api`."""

import atexit
import gc
import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C while the modules load exits without a traceback; main() installs the handlers.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from wallet_api.operate.cli import main

# The system takes back the memory of a process: Python need not search it for garbage first.
atexit.register(gc.freeze)

if __name__ == "__main__":
    main()

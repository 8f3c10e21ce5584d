"""The entry point of `wallet-api` and `python -m wallet_api`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C while the modules load exits without a traceback; main() installs the handlers.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from wallet_api.cli import main

if __name__ == "__main__":
    main()

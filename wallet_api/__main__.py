"""`wallet-api`, and `python -m wallet_api`: loads the commands, a moment that Ctrl-C may fall into."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Nothing has begun yet that would have to be ended in order, so no traceback shows where it was.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from wallet_api.cli import main

if __name__ == "__main__":
    main()

"""A program that runs Python code and sends itself a signal while the code starts a child process.

    python tests/lib/interrupted.py SIGNAL WORD CODE [ARGUMENT …]

WORD is part of the command line of that child.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_name, _word, _code, *_arguments = sys.argv[1:]
_Popen = subprocess.Popen


class InterruptedPopen(subprocess.Popen[Any]):
    """A process that runs when the signal comes, and is not in a variable of its caller yet."""

    def __init__(self, args: Sequence[str], *others: Any, **options: Any) -> None:
        super().__init__(args, *others, **options)
        if any(_word in str(part) for part in args):
            subprocess.Popen = _Popen  # type: ignore[misc]
            os.kill(os.getpid(), signal.Signals[_name])


subprocess.Popen = InterruptedPopen  # type: ignore[misc]
sys.argv[1:] = _arguments
exec(_code, {"__name__": "__main__"})

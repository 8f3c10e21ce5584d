"""The cases of the HTTP benchmark: their requests, which server responds to them, and the targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

P99_RATIO = 4.0
PEER_RATIO = 3.0


class Call(NamedTuple):
    """One request."""

    path: str
    key: str = ""
    accept_encoding: str = ""

    @property
    def operation(self) -> str:
        """Its path, and its mode where it has one."""
        address = urlsplit(self.path)
        return " ".join((address.path, *parse_qs(address.query).get("mode", ())))


@dataclass(frozen=True)
class Case:
    """Requests to one server, and the targets of their rate.

    `least` is a share of bare Flask. `peer` is the peer's equal case, and `least_of_peer` the multiple of it
    that is the target. `beside` is another case of which this one has to reach nine tenths. The p99 of a
    `steady` case stays within P99_RATIO times the p50. `lead_in_calls` are sent before each measurement.
    """

    server: str
    calls: Sequence[Call]
    least: float | None = None
    peer: str | None = None
    least_of_peer: float | None = None
    beside: str | None = None
    steady: bool = False
    lead_in_calls: int = 0


def write_calls(file: Path, calls: Sequence[Call]) -> Path:
    """Write the requests for wrk's script."""
    file.write_text("".join("\t".join(call) + "\n" for call in calls))
    return file

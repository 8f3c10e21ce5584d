"""Measures the HTTP side: `make bench`, or `python -m tests.benchmarks.http --help`.

The cases are measured one after the other, round by round, each between two runs of bare Flask, so
that other load of the machine affects all of them; ratios are made within a round. How to read the figures:
docs/benchmarks.md.
"""

import json
from pathlib import Path

import click

from tests.benchmarks.http_against import ENOUGH_ROUNDS
from tests.benchmarks.http_keys import LOW_CREDITS, ORDINARY_KEYS, Keys
from tests.benchmarks.http_mix import ordinary_cases
from tests.benchmarks.http_servers import MeasurementError
from tests.benchmarks.http_session import Session
from tests.benchmarks.http_world import Made

# Enough that keys with few credits last, however fast the service is.
_MOST_CALLS_PER_SECOND = 8_000


@click.command()
@click.option("--only", default="", help="Only cases whose name contains one of these, separated by '|'.")
@click.option("--rounds", type=int, help="How often each case is measured.  [default: 3; 6 with --against]")
@click.option("--seconds", default=3, show_default=True, help="How long each time.")
@click.option("--nginx", is_flag=True, help="With config/nginx.conf in front of each server.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Compare with another checkout, by default in the cases of 1,500 keys.",
)
@click.option("--list", "listed", is_flag=True, help="Print the names of all cases and stop.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    default=Path("build/bench-http.json"),
    show_default=True,
    help="Where all figures are written.",
)
def main(
    only: str,
    rounds: int | None,
    seconds: int,
    nginx: bool,
    against: Path | None,
    listed: bool,
    json_file: Path,
) -> None:
    """Measure the HTTP side: a table on standard output, all figures in a JSON file.

    Each case is measured for --seconds in each of --rounds, between two runs of bare Flask of half that time.
    Bare Flask is always measured, whatever --only says.
    """
    if listed:
        click.echo("\n".join(ordinary_cases(Made(("",), ("",) * 200, ("",)), Keys(1))))
        return
    rounds = rounds or (ENOUGH_ROUNDS if against else 3)
    # Lead-ins and the warm-up take as much as the measurements, or less.
    low_count = max(ORDINARY_KEYS, _MOST_CALLS_PER_SECOND * (2 * seconds * rounds + 2) // LOW_CREDITS)
    session = Session(rounds, seconds, only.split("|") if only else [], Keys(low_count))
    try:
        found = session.against(against, nginx=nginx) if against else session.table(nginx=nginx)
    except MeasurementError as error:
        raise click.ClickException(str(error)) from error
    json_file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write_text(json.dumps(found, indent=2) + "\n")
    click.echo(f"All figures: {json_file}")


if __name__ == "__main__":
    main()

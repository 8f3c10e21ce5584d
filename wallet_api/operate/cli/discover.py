"""`wallet-api discover MINT…`: find wallets by the first buyers of tokens, from the operator's own node."""

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from wallet_api.base.chains import CHAINS, WALLET_TYPES
from wallet_api.base.forms import BadRow, check_address, one_of
from wallet_api.base.times import read_time
from wallet_api.chain.discovery.launches import Beginning
from wallet_api.chain.discovery.purse import Purse
from wallet_api.chain.discovery.results import Results
from wallet_api.chain.discovery.search import Search, describe, find_first_buyers, node_source, rank_found
from wallet_api.chain.providers.faults import ProviderFault
from wallet_api.chain.sync.session import locked_session
from wallet_api.chain.sync.sources import node_url, price_sources
from wallet_api.database import Connection
from wallet_api.ledger.files.readers import NDJSON_ENDINGS
from wallet_api.operate.cli.discovered import found_document, print_found, write_wallets
from wallet_api.operate.cli.environment import require_tables, settings_with_database
from wallet_api.operate.cli.output import is_shown, json_option, print_json, progress_bar
from wallet_api.operate.cli.sync_rounds import log_to_stderr
from wallet_api.settings import Settings

_NOT_ALL = 3
_LOCK_SECONDS = 3.0


@click.command()
@click.argument("mints", metavar="MINT…", nargs=-1, required=True)
@click.option("--chain", required=True, type=click.Choice(tuple(CHAINS)), help="The chain of the tokens.")
@click.option(
    "--first",
    type=click.IntRange(1, 10_000),
    default=200,
    show_default=True,
    help="How many first buyers of each token are candidates.",
)
@click.option(
    "--min-tokens",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="In how many of the tokens a candidate was among the first.",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="The most requests that the node gets; each call of a batch counts.",
)
@click.option(
    "--since",
    "since",
    multiple=True,
    metavar="[MINT=]BLOCK|DATE|POOL",
    help="Where a token begins, if the node does not show it: a block, a day or the address of a pool.",
)
@click.option("--type", "type_", type=click.Choice(WALLET_TYPES), help="The type of the wallets in FILE.")
@click.option("--afresh", is_flag=True, help="Forget what an earlier search for FILE got.")
@click.option("--yes", is_flag=True, help="Begin without confirmation. Required without a terminal.")
@json_option
@click.option("--output", metavar="FILE", help="The list of wallets. Default: discovered-CHAIN.ndjson.")
@click.option("-v", "--verbose", is_flag=True, help="Log each request.")
def discover(
    mints: tuple[str, ...],
    chain: str,
    first: int,
    min_tokens: int,
    max_requests: int,
    since: tuple[str, ...],
    type_: str | None,
    output: str | None,
    afresh: bool,
    yes: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Find wallets that bought several tokens first, from your own node, ranked by their profit in these.

    FILE lists them for 'wallet-api import wallets'; nothing is imported. What the node has returned is kept
    in the database: run the command again to go on. Exit status: 0 all was read, 3 a part was not, 1 it
    failed.
    """
    tokens = _addresses(chain, mints)
    if min_tokens > len(tokens):
        given = "one token is" if len(tokens) == 1 else f"{len(tokens)} different tokens are"
        raise click.UsageError(f"{given} given: name {min_tokens} or more, or lower --min-tokens.")
    of_chain = CHAINS[chain].types
    if type_ is not None and type_ not in of_chain:
        raise click.UsageError(f"--type is one of {', '.join(of_chain)} on {chain}.")
    file = Path(output or f"discovered-{chain}.ndjson")
    if not file.name.endswith(NDJSON_ENDINGS):
        raise click.UsageError(f"--output is NDJSON: its name ends in {one_of(NDJSON_ENDINGS)}.")
    wanted = Search(tokens, first, min_tokens, _beginnings(chain, tokens, since))
    own = Settings.from_environment()
    node_url(own, chain)
    _confirm(own, chain, wanted, max_requests, file, yes=yes)
    with ExitStack() as stack:
        settings = stack.enter_context(settings_with_database(creates=True))
        log_to_stderr(settings, stack, verbose=verbose)
        connection = stack.enter_context(_session(str(settings.database_url), file))
        results = _results(connection, file, afresh=afresh)
        purse = _Shown(settings, max_requests, stack)
        open_source = stack.enter_context(node_source(settings, chain, tokens, purse, results))
        try:
            found = find_first_buyers(open_source, wanted, purse, results, _note)
        except ProviderFault as fault:
            again = ": run the command again to go on" if fault.worth_retrying else ""
            raise click.ClickException(
                f"{chain}: {fault.told(f'{chain.upper()}_RPC_URL')} What it returned before is kept{again}."
            ) from fault
        except (KeyboardInterrupt, SystemExit):
            click.echo("\nWhat was read is kept: run the command again to go on.", err=True)
            raise
        prices, _ = stack.enter_context(price_sources(settings))
        ranking = rank_found(connection, prices, found)
        write_wallets(file, chain, type_ or ("smart" if "smart" in of_chain else of_chain[0]), ranking)
        if found.is_whole:
            results.clear()
    document = found_document(chain, wanted, found, ranking, purse, file)
    if as_json:
        print_json(document)
    else:
        print_found(document, (describe(launch, first) for launch in found.launches))
    if not found.is_whole:
        sys.exit(_NOT_ALL)


@contextmanager
def _session(url: str, file: Path) -> Iterator[Connection]:
    """Yield the session that alone searches for a file, before anything is spent."""
    lock, remedy = f"discover {file.name}", "Stop it first, or name another --output."
    # That of a process that was killed a moment ago ends by itself.
    with locked_session(url, "discover", [lock], remedy, _LOCK_SECONDS) as connection:
        require_tables(connection)
        yield connection


def _results(connection: Connection, file: Path, *, afresh: bool) -> Results:
    """Return what an earlier search for the file got."""
    results = Results(connection, file.name)
    if afresh:
        results.clear()
    elif results.since is not None:
        click.echo(
            f"Goes on with {len(results):,} results of {results.since:%Y-%m-%d %H:%M} UTC and later, which an"
            " earlier search got. --afresh begins again.",
            err=True,
        )
    return results


def _note(text: str) -> None:
    # A progress bar stands in a line of its own.
    click.echo(f"\n{text}" if is_shown() else text, err=True)


class _Shown(Purse):
    """A purse that moves a progress bar."""

    def __init__(self, settings: Settings, most: int, stack: ExitStack) -> None:
        super().__init__(settings.sync_rpc_requests_per_second, settings.holdings_backoff_seconds, most)
        self._show = stack.enter_context(progress_bar("Requests"))

    def wait(self, calls: int = 1) -> None:
        super().wait(calls)
        self._show(self.spent, self.most, f"{self.remaining:,} left")


def _addresses(chain: str, mints: Sequence[str]) -> list[str]:
    try:
        return list(dict.fromkeys(check_address(chain, mint, "MINT") for mint in mints))
    except BadRow as error:
        raise click.UsageError(f"{error}.") from error


def _beginnings(chain: str, tokens: Sequence[str], texts: Sequence[str]) -> dict[str, Beginning]:
    """Return where tokens begin; a text without a token is of all of them."""
    beginnings: dict[str, Beginning] = {}
    for text in texts:
        mint, is_of_one, value = text.rpartition("=")
        of = _addresses(chain, [mint]) if is_of_one else tokens
        if not set(of) <= set(tokens):
            raise click.UsageError(f"--since names {mint}, which is none of the tokens.")
        beginnings |= dict.fromkeys(of, _since(chain, value))
    return beginnings


def _since(chain: str, value: str) -> Beginning:
    if value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    with suppress(ValueError):
        moment = read_time(value)
        if moment > datetime.now(UTC):
            raise click.UsageError(f"--since: {value} is in the future.")
        return moment
    try:
        return check_address(chain, value)
    except BadRow as error:
        raise click.UsageError(f"--since: {value!r} is no block, date or address of {chain}.") from error


def _confirm(settings: Settings, chain: str, wanted: Search, most: int, file: Path, *, yes: bool) -> None:
    rate = settings.sync_rpc_requests_per_second
    replaced = f" {file}, which exists, is replaced." if file.exists() else ""
    click.echo(
        f"The node of {chain.upper()}_RPC_URL gets at most {most:,} requests, at most {rate:g} a second"
        f" (up to {math.ceil(most / rate / 60)} min, if it responds at once), for the first"
        f" {wanted.first:,} buyers of {len(wanted.mints):,} tokens and the trades of those in"
        f" {wanted.min_tokens} or more.{replaced}",
        err=True,
    )
    if not yes:
        if not sys.stdin.isatty():
            raise click.ClickException("There is no terminal to confirm on. Add --yes to begin.")
        click.confirm("Begin?", abort=True, err=True)

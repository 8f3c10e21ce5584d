"""The links of wallets, which pages of callers show: https alone."""

from collections import Counter
from collections.abc import Iterator

from wallet_api.base.forms import BadRow
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rows import WalletRow

_LINKS = ("image_url", "twitter", "telegram", "copytrade_link")
_SCHEME = "https://"


def with_https_links(
    records: Iterator[Record[WalletRow]], warnings: list[str]
) -> Iterator[Record[WalletRow]]:
    """Yield the records without links that are not https; at the end, add a warning for each field."""
    emptied: Counter[str] = Counter()
    for number, line, row in records:
        for name in () if isinstance(row, BadRow) else _LINKS:
            link = getattr(row, name)
            if isinstance(link, str) and link.strip() and not link.strip().lower().startswith(_SCHEME):
                setattr(row, name, None)
                emptied[name] += 1
        yield number, line, row
    warnings += [
        f"the {name} of {rows} rows does not begin with {_SCHEME} and is left empty"
        for name, rows in emptied.items()
    ]

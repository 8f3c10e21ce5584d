"""The links of wallets, which pages of callers show: https alone."""

from collections import Counter
from collections.abc import Iterator

from wallet_api.base.forms import BadRow
from wallet_api.ledger.files.lines import Record
from wallet_api.ledger.files.rows import WalletRow

_LINKS = ("image_url", "twitter", "telegram", "copytrade_link")
_SCHEME = "https://"


class Links:
    """The links of the wallets of one file, of which those that are not https are left empty, and counted."""

    def __init__(self) -> None:
        self._emptied: Counter[str] = Counter()

    def checked(self, records: Iterator[Record[WalletRow]]) -> Iterator[Record[WalletRow]]:
        """Yield the records without these links."""
        for number, line, row in records:
            if not isinstance(row, BadRow):
                for name in _LINKS:
                    self._check(row, name)
            yield number, line, row

    def warnings(self) -> list[str]:
        """Return a text for each field with such links."""
        return [
            f"the {name} of {rows} rows does not begin with {_SCHEME} and is left empty"
            for name, rows in self._emptied.items()
        ]

    def _check(self, row: WalletRow, name: str) -> None:
        link = getattr(row, name)
        if isinstance(link, str) and link.strip() and not link.strip().lower().startswith(_SCHEME):
            setattr(row, name, None)
            self._emptied[name] += 1

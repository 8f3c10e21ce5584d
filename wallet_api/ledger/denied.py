"""The operator's list of denied tokens: a file with the columns `blockchain` and `mint`."""

import msgspec

from wallet_api.forms import BadRow, check_address
from wallet_api.ledger.readers import UnreadableFile, open_source
from wallet_api.ledger.rows import Blockchain, good
from wallet_api.ledger.tokens import Token
from wallet_api.settings import SettingsError


class TokenIdentity(msgspec.Struct):
    """A token of a file; all other columns are ignored."""

    blockchain: Blockchain
    mint: str

    def key(self) -> Token:
        """Return blockchain and mint as they are stored. Raises BadRow."""
        return self.blockchain, check_address(self.blockchain, self.mint, "mint")


def read_denied(name: str | None) -> frozenset[Token]:
    """Return the tokens of the file TOKEN_DENYLIST; none if it is not set. Raises SettingsError."""
    if name is None:
        return frozenset()
    denied: set[Token] = set()
    try:
        with open_source(name) as source:
            for number, _, row in source.records(TokenIdentity):
                try:
                    denied.add(good(row).key())
                except BadRow as fault:
                    raise SettingsError(f"TOKEN_DENYLIST: line {number} of {name}: {fault}") from fault
    except UnreadableFile as error:
        raise SettingsError(f"TOKEN_DENYLIST: {error}") from error
    return frozenset(denied)

"""The schemas of a wallet's holdings."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import WholeNumber
from wallet_api.api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Moment, Rows, String, Strings, WrittenRows
from wallet_api.api.schemas.paging import OPTIONAL_PAGINATION, CursorMixin
from wallet_api.api.schemas.shapes import Shape

_UNTRUSTED = "As its creator wrote it, or empty: do not trust it."


class HoldingsArguments(CursorMixin, AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallets/holdings."""

    takes_scope = True

    limit = WholeNumber(1, "Rows per page; all by default.")


class TokenBalanceSchema(Shape):
    """The balance of one token."""

    token_address = String("Address of the token; `native` for the native coin.")
    token_name = String(_UNTRUSTED)
    symbol = String(_UNTRUSTED)
    amount = String("Balance in the smallest unit, exact.")
    amount_formatted = String("Balance in whole tokens, exact.")
    decimals = Integer("A token is 10^`decimals` smallest units.")
    verified_contract = Boolean("Whether the provider lists it, which does not make it safe; on EVM chains.")
    price = Amount("Price of the token; absent without one.", optional=True)
    price_at = Moment("Time of the trade or quote that makes it; absent without one.", optional=True)
    price_source = String("What makes it, `trade` or `market`; absent for `native`.", optional=True)
    worth = figures.WORTH
    worth_usd = figures.WORTH_USD


class ActiveHoldingsSchema(Shape):
    """A wallet's balances, the native coin first, then by amount; empty while `loading`."""

    tokens = WrittenRows(
        TokenBalanceSchema,
        "The native coin, then the others, largest first; empty while `loading`.",
        many=True,
    )
    count = figures.ROW_COUNT
    last_updated = Moment("When the balances were fetched; null while `loading`.", nullable=True)
    stale = Boolean("Whether the balances are older than a minute; a refresh is then started.")
    loading = Boolean("Whether the first fetch is in progress.")


class HoldingsSchema(Shape):
    """The data of GET /v1/wallets/holdings."""

    active_holdings = Rows(ActiveHoldingsSchema, "The balances, and their age.")
    pagination = OPTIONAL_PAGINATION
    warnings = Strings(
        "How many rows of the provider could not be read, tokens whose prices were not, an old native price;"
        " absent if none.",
        optional=True,
    )

"""The schemas of a wallet's holdings."""

from wallet_api.schemas.arguments import AddressMixin, ChainArguments
from wallet_api.schemas.fields import Boolean, Integer, Moment, Rows, Shape, String, Strings


class HoldingsArguments(AddressMixin, ChainArguments):
    """The arguments of GET /v1/wallets/holdings."""


class TokenBalanceSchema(Shape):
    """The balance of one token."""

    token_address = String("The contract or mint; `native` for the chain's coin.")
    token_name = String("May be empty.")
    symbol = String("Ticker of the token; may be empty.")
    amount = String("In the smallest unit, exact.")
    amount_formatted = String("In whole tokens, exact.")
    decimals = Integer("10 to the power of this many smallest units are one token.")
    verified_contract = Boolean("Whether the provider lists the token; meaningful on EVM chains.")


class ActiveHoldingsSchema(Shape):
    """A wallet's balances, the native coin first, then by amount; empty while `loading`."""

    tokens = Rows(TokenBalanceSchema, "One row for each token with a balance.", many=True)
    count = Integer("How many rows `tokens` has.")
    last_updated = Moment("When the balances were fetched; null while `loading`.", nullable=True)
    stale = Boolean("Whether the balances are older than HOLDINGS_TTL_SECONDS.")
    loading = Boolean("True: request again shortly.")


class HoldingsSchema(Shape):
    """The data of GET /v1/wallets/holdings."""

    active_holdings = Rows(ActiveHoldingsSchema, "The balances, and how old they are.")
    warnings = Strings("How many rows of the provider could not be read; absent if none.", optional=True)

"""The schemas of what a copier of a wallet would have got."""

from decimal import Decimal

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.argument_fields import ROWS, Number, WholeNumber
from wallet_api.api.schemas.arguments import FormatMixin, WalletArguments
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, Measure, Moment, Rows, String, Strings
from wallet_api.api.schemas.paging import PAGINATION, CursorMixin
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.token_fields import TransactionSchema
from wallet_api.api.schemas.windows import WindowMixin

_NO_PRICE = "null if not followed."


class CopyArguments(WindowMixin, CursorMixin, FormatMixin, WalletArguments):
    """The arguments of GET /v1/wallets/copy."""

    delay = WholeNumber(
        0,
        "Seconds until the copier gets a price; with 0 the wallet's own.",
        most=3600,
        load_default=5,
    )
    fee_percent = Number(
        "Fee of each trade, in percent.", most=100, load_default=Decimal(1), metadata={"default": 1}
    )
    size = Number("Paid in each buy, with the fee; by default as the wallet.", above_zero=True)
    limit = WholeNumber(1, ROWS, load_default=50)


class CopyStepSchema(TransactionSchema):
    """A trade of the wallet, and what the copier did."""

    created_at = figures.TRADED_AT
    mint = String("The token's address, in lower case on EVM chains.")
    transaction_type = figures.DIRECTION
    event_index = figures.EVENT_INDEX
    followed = Boolean("Whether the copier bought or sold.")
    price = Amount(f"The price that the copier got; {_NO_PRICE}", nullable=True)
    price_at = Moment(f"Its time; {_NO_PRICE}", nullable=True)
    source = String(f"What makes it, `trade` or `market`; {_NO_PRICE}", nullable=True)
    value = Amount("What a buy cost, with the fee; what a sell brought, less the fee.")
    token_amount = Amount("Tokens bought or sold; of a stuck sell, lost.")
    fee = Amount("The fee.")
    realized_pnl = Amount(
        "What a sell realized, net of fees (if stuck, less its cost); absent if nothing was sold.",
        optional=True,
    )


class CopyFiguresSchema(Shape):
    """What a copier got."""

    invested = Amount("What the buys cost, with fees.")
    realized_pnl = Amount("What the sells realized, net of fees.")
    fees = Amount("All fees.")
    unrealized_pnl = Amount("Worth of what is left and has a price, less its cost.")
    unpriced_cost = Amount("The cost of what is left and has no price.")
    return_percent = Measure(
        "`realized_pnl` and `unrealized_pnl` in percent of `invested`; null if nothing was invested.",
        nullable=True,
    )
    wallet_return_percent = Measure(
        "The same of the wallet, of the followed buys, without a fee; null without one.",
        nullable=True,
    )
    wallet_return_percent_all = Measure(
        "The same of the wallet, of all its buys in the window; null without one.", nullable=True
    )
    followed = Integer("Steps that were followed.")
    not_followed = Integer("Buys without a price in time: neither cost nor gain.")
    not_followed_value = Amount("What the wallet paid in these.")
    stuck = Integer("Sells without a price for a day, which are lost.")


class CopySchema(CopyFiguresSchema):
    """The data of GET /v1/wallets/copy: summed over the steps, before rounding, they are the figures."""

    wallet = figures.WALLET
    blockchain = String("Its chain.")
    type = String("Its category.")
    currency = figures.CURRENCY
    since = Moment("First moment of the window; absent without a trade.", optional=True)
    until = Moment("First moment after the window.")
    delay = Integer("As requested, or the default.")
    fee_percent = Measure("As requested, or the default.")
    size = Amount("As requested; absent if not.", optional=True)
    steps = Rows(CopyStepSchema, "The trades of this page, oldest first.", many=True)
    pagination = PAGINATION
    warnings = Strings("What these figures leave out, and that `limit` was capped.")

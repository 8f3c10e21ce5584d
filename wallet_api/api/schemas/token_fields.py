"""The fields of a token, and those that come before them, which several schemas have."""

from wallet_api.api.schemas import figures
from wallet_api.api.schemas.fields import Amount, Boolean, Integer, String
from wallet_api.api.schemas.shapes import Shape


class TransactionSchema(Shape):
    """A row that is about one transaction."""

    tx_signature = String("Signature of the transaction.")


class BlockSchema(Shape):
    """A trade with its place in the chain."""

    block = Integer("Number of its block (on Solana its slot); absent if unknown.", optional=True)
    block_index = Integer("Number of its transaction within the block; absent if unknown.", optional=True)


class PlaceSchema(BlockSchema):
    """A trade with its place in the chain, and whether that is final."""

    final = Boolean("Whether its block is final; true if the block is unknown.")


class SaleSchema(Shape):
    """A trade with what it cost beside, and what it made, which only covered sells have."""

    realized_pnl = Amount(
        "Of a covered sell, else absent: what it realized.",
        optional=True,
    )
    realized_pnl_usd = Amount("The same in USD; absent if unknown for it or a buy behind it.", optional=True)
    cost = Amount("Of a covered sell, else absent: the cost of what it sold.", optional=True)
    fees = Amount("Tips and fees in `value`; absent if unknown.", optional=True)


class ChainSchema(Shape):
    """A row with its chain."""

    blockchain = figures.CHAIN
    currency = figures.CURRENCY


class TokenNamesSchema(Shape):
    """A token by its address and its names."""

    mint = String("The token's address, in lower case on EVM chains.")
    symbol = String("Its symbol on its chain; null if unknown.", nullable=True)
    token_name = String(
        "Its name in the newest trade with one (in rows of a wallet or trade, by that wallet), else on its"
        " chain, or empty."
    )


class TokenFaceSchema(TokenNamesSchema):
    """A token with its face, which is all that its chain's node returns of it."""

    token_supply = Amount("Its supply as last read from its chain; null if unknown.", nullable=True)
    token_decimals = Integer("Its decimals on its chain; null if unknown.", nullable=True)

"""The fields of a token, and those that come before them, which several schemas have."""

from wallet_api.schemas.fields import Amount, Integer, Shape, String


class TransactionSchema(Shape):
    """A row that is about one transaction."""

    tx_signature = String("Signature of the transaction.")


class ChainSchema(Shape):
    """A row with its chain."""

    blockchain = String("The chain of the token.")
    currency = String("Code of the chain's native coin.")


class TokenSchema(Shape):
    """A token by its address and its names."""

    mint = String("The token's address.")
    symbol = String("Its symbol, by its chain's node; null without one.", nullable=True)
    token_name = String("Its name; may be empty.")


class TokenFaceSchema(TokenSchema):
    """A token with all that its chain's node returns of it."""

    token_supply = Amount("Its supply as last read from its chain's node; null without one.", nullable=True)
    token_decimals = Integer("Its decimals, by its chain's node; null without one.", nullable=True)

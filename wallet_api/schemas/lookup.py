"""The shapes of the search for an address."""

from typing import Any

from marshmallow import ValidationError, fields, post_load, validates_schema

from wallet_api.chains import CHAINS
from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Shape


class LookupArguments(Arguments):
    """The arguments of GET /v1/wallets/lookup. The form of the address decides which chains are searched."""

    address = fields.String(
        required=True, metadata={"description": "The wallet's address, in the form of any chain."}
    )

    @validates_schema
    def _address_is_of_a_chain(self, data: dict[str, Any], **kwargs: Any) -> None:
        if not any(chain.is_address(data["address"]) for chain in CHAINS.values()):
            forms = ", or ".join(dict.fromkeys(chain.address_form for chain in CHAINS.values()))
            raise ValidationError(f"is not an address of any chain ({forms})", "address")

    @post_load
    def _canonical_address(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        chains = [chain for chain in CHAINS.values() if chain.is_address(data["address"])]
        return {
            "address": chains[0].canonical(data["address"]),
            "blockchains": tuple(chain.name for chain in chains),
        }


class MatchSchema(Shape):
    """A chain on which the address is tracked."""

    blockchain = fields.String(required=True, metadata={"description": "The chain."})
    type = fields.String(required=True, metadata={"description": "The category of the wallet there."})


class LookupSchema(Shape):
    """The data of GET /v1/wallets/lookup. All but the first two is absent when nothing was found."""

    found = fields.Boolean(
        required=True, metadata={"description": "Whether the address is tracked on any chain."}
    )
    wallet_address = fields.String(
        required=True, metadata={"description": "The address; in lower case on EVM chains."}
    )
    name = fields.String(metadata={"description": "Display name in the first match; may be empty."})
    image_url = fields.String(metadata={"description": "URL of the avatar; may be empty."})
    twitter = fields.String(metadata={"description": "URL of the profile on X; may be empty."})
    telegram = fields.String(metadata={"description": "URL of the channel on Telegram; may be empty."})
    copytrade_link = fields.String(metadata={"description": "Link to copy its trades; may be empty."})
    blockchain = fields.String(
        metadata={"description": "The chain of the first match, in the order solana, bnb, base, eth."}
    )
    type = fields.String(metadata={"description": "The category of the wallet there."})
    currency = fields.String(metadata={"description": "The native currency there."})
    matches = fields.List(
        fields.Nested(MatchSchema), metadata={"description": "All matches, in the same order."}
    )

"""The schemas of the search for an address."""

from typing import Any

from marshmallow import ValidationError, post_load, validates_schema

from wallet_api.chains import CHAINS
from wallet_api.schemas.arguments import Arguments
from wallet_api.schemas.fields import Boolean, Rows, Shape, String, Text


class LookupArguments(Arguments):
    """The arguments of GET /v1/wallets/lookup. The form of the address decides which chains are searched."""

    address = Text("The wallet's address, in the form of any chain.", required=True)

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

    blockchain = String("The chain.")
    type = String("The category of the wallet there.")


class LookupSchema(Shape):
    """The data of GET /v1/wallets/lookup. All fields but the first two are absent if it is not tracked."""

    found = Boolean("Whether the address is tracked on any chain.")
    wallet_address = String("The address; in lower case on EVM chains.")
    name = String("Display name in the first match; may be empty, absent if not tracked.", optional=True)
    image_url = String("URL of the avatar; may be empty, absent if not tracked.", optional=True)
    twitter = String("URL of the profile on X; may be empty, absent if not tracked.", optional=True)
    telegram = String("URL of the channel on Telegram; may be empty, absent if not tracked.", optional=True)
    copytrade_link = String("Link to copy its trades; may be empty, absent if not tracked.", optional=True)
    blockchain = String(
        "The chain of the first match, in the order solana, bnb, base, eth; absent if not tracked.",
        optional=True,
    )
    type = String("The category of the wallet there; absent if not tracked.", optional=True)
    currency = String("Code of the native coin there; absent if not tracked.", optional=True)
    matches = Rows(
        MatchSchema, "All matches, in the same order; absent if not tracked.", optional=True, many=True
    )

"""GET /v1/wallets/connections: the wallets that trade the same tokens as one wallet."""

from datetime import UTC, datetime
from typing import Any

from flask import Blueprint

from wallet_api.errors import WalletNotFound
from wallet_api.large import Share
from wallet_api.queries.connections import wallet_connections
from wallet_api.responses.examples import ADDRESS, MINT, PROFILE
from wallet_api.responses.operation import Operation
from wallet_api.schemas.connections import ConnectionsArguments, ConnectionsSchema
from wallet_api.services import services

blueprint = Blueprint("connections", __name__, url_prefix="/v1")

_OTHER = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
_EXAMPLE = {
    "wallet_address": ADDRESS,
    "blockchain": "solana",
    "type": "kol",
    "period": "30d",
    "token_count": 2,
    "total": 2,
    "connections": [
        {
            "wallet_address": _OTHER,
            "profile": PROFILE
            | {
                "wallet_address": _OTHER,
                "name": "Vera",
                "image_url": "https://images.example/vera.png",
                "twitter": "https://x.example/Vera",
                "copytrade_link": f"https://copytrade.example/solana/{_OTHER}",
                "type": "smart",
            },
            "shared_tokens_count": 1,
            "overlap_score": 0.5,
            "shared_tokens": [
                {
                    "mint": MINT,
                    "token_name": "Doge Club",
                }
            ],
            "last_shared_at": "2026-01-29T16:20:40Z",
        }
    ],
}

_operation = Operation(
    tag="Wallets",
    summary="Wallets that trade the same tokens",
    arguments=ConnectionsArguments(),
    data=ConnectionsSchema(),
    examples={"the_first": _EXAMPLE},
    errors=[WalletNotFound("solana", ADDRESS)],
)


@blueprint.get("/wallets/connections")
@_operation.cached_large
def connections(share: Share, **arguments: Any) -> dict[str, Any]:
    """Return the other tracked wallets of the chain that traded the same tokens in the last 30 days."""
    with services().database.read() as connection:
        return wallet_connections(connection, datetime.now(UTC), **arguments, share=share)

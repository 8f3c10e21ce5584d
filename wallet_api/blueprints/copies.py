"""GET /v1/wallets/copy: what a copier of a wallet would have got."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from flask import Blueprint

from wallet_api.errors import WalletNotFound
from wallet_api.queries.copies import CopyPage, CopyTerms, copy_wallet
from wallet_api.responses.examples import ADDRESS, examples_of
from wallet_api.responses.operation import Operation
from wallet_api.schemas.copies import CopyArguments, CopySchema
from wallet_api.services import services
from wallet_api.wallets import find_wallet

blueprint = Blueprint("copies", __name__, url_prefix="/v1")

_operation = Operation(
    name="get_copy",
    use="For what following it would have brought; for its own record use get_tracker.",
    tag="Wallets",
    summary="What a copier of a wallet would have got",
    arguments=CopyArguments(),
    data=CopySchema(),
    examples=examples_of("wallets/copy"),
    errors=[WalletNotFound("solana", ADDRESS, "kol")],
    rows="steps",
)


@blueprint.get("/wallets/copy")
@_operation.cached
def copy(
    blockchain: str,
    address: str,
    delay: int,
    fee_percent: Decimal,
    type: str | None = None,
    size: Decimal | None = None,
    **page: Any,
) -> dict[str, Any]:
    """Return what a copier of a wallet would have got in a window, step by step."""
    now, rule = datetime.now(UTC), services().price_rule
    requested = CopyPage(terms=CopyTerms(delay, fee_percent, size), **page)
    with services().database.read() as connection:
        wallet = find_wallet(connection, blockchain, address, type)
        return copy_wallet(connection, wallet, now, requested, rule)

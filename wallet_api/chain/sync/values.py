"""The native value of trades with only a dollar value, by the native price at their time."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from wallet_api.base.coins import Currency
from wallet_api.chain.decoding.trades import Draft
from wallet_api.chain.providers.prices.quotes import HOUR, hour_of
from wallet_api.chain.sync.prices import Prices
from wallet_api.database import Connection, Row, load_statements

_VALUES = load_statements(__package__, "values")

_NO_CONVERSION = Decimal(1)


class NativeValue(NamedTuple):
    """The value of a trade in the native coin, and whether it was computed from its dollars alone."""

    native: Decimal
    is_derived: bool


def value_drafts(
    connection: Connection, prices: Prices, drafts: Sequence[Draft]
) -> tuple[list[NativeValue | None], bool]:
    """Return the values of the drafts, in their order, and whether they are final.

    A value is None if it is unknown; it may become known later unless they are final. Missing prices are
    fetched. A trade that the ledger has with the same amounts keeps its first value, so that a later price
    changes nothing.
    """
    to_convert = [draft for draft in drafts if draft.usd_to_convert]
    known = _known(connection, to_convert)
    unknown = [draft for draft in to_convert if _key(draft) not in known]
    near = _near(connection, unknown)
    missing = [draft for draft in unknown if _place(draft) not in near]
    is_final = True
    if missing:
        is_final = prices.fill(connection, _hours(missing))
        near |= _near(connection, missing)

    def value(draft: Draft) -> NativeValue | None:
        if draft.usd_to_convert and (first := known.get(_key(draft))) is not None:
            return first
        price = near.get(_place(draft)) if draft.usd_to_convert else _NO_CONVERSION
        return None if price is None else NativeValue(draft.value(price), draft.is_of_dollars)

    return [value(draft) for draft in drafts], is_final


def known_trades(connection: Connection, drafts: Sequence[Draft]) -> set[tuple[int, str]]:
    """Return the wallets and signatures of those drafts whose transactions the ledger has."""
    return {(key[0], key[1]) for key in _known(connection, drafts)}


def dollars_of(connection: Connection, drafts: Sequence[Draft]) -> list[Decimal | None]:
    """Return the dollar values of the drafts, in their order; None if unknown, also without a price.

    A value that is not stated is that in the native coin, at the price nearest its time. No price is fetched.
    """
    near = _near(connection, [draft for draft in drafts if draft.value_usd is None])

    def dollars(draft: Draft) -> Decimal | None:
        if draft.value_usd is not None:
            return draft.value_usd
        price = near.get(_place(draft))
        if price is None or draft.is_unvalued:
            return None
        return draft.native * price + draft.usd_to_convert

    return [dollars(draft) for draft in drafts]


_Key = tuple[int, str, str, bool, Decimal, Decimal | None]


def _key(draft: Draft) -> _Key:
    return (
        *(draft.wallet.wallet_id, draft.tx_signature, draft.mint, draft.is_sell),
        *(draft.token_amount, draft.value_usd),
    )


def _known(connection: Connection, drafts: Sequence[Draft]) -> dict[_Key, NativeValue]:
    parameters = {
        "wallet_ids": [draft.wallet.wallet_id for draft in drafts],
        "moments": [draft.created_at for draft in drafts],
        "signatures": [draft.tx_signature for draft in drafts],
    }
    rows: Iterable[Row] = connection.execute(_VALUES["known"], parameters) if drafts else []
    return {
        (
            *(row["wallet_id"], row["tx_signature"], row["mint"], row["is_sell"]),
            *(row["token_amount"], row["value_usd"]),
        ): NativeValue(row["value"], row["value_derived"])
        for row in rows
    }


def _place(draft: Draft) -> tuple[str, datetime]:
    return (draft.wallet.chain.name, draft.created_at)


def _near(connection: Connection, drafts: Sequence[Draft]) -> dict[tuple[str, datetime], Decimal]:
    places = list({_place(draft) for draft in drafts})
    parameters = {
        "blockchains": [blockchain for blockchain, _ in places],
        "moments": [moment for _, moment in places],
    }
    rows: Iterable[Row] = connection.execute(_VALUES["near"], parameters) if places else []
    return {(row["blockchain"], row["moment"]): row["usd"] for row in rows if row["usd"] is not None}


def _hours(drafts: Iterable[Draft]) -> dict[Currency, list[datetime]]:
    hours: dict[Currency, set[datetime]] = {}
    for draft in drafts:
        hour = hour_of(draft.created_at.astimezone(UTC))
        # If the current hour has no price yet, the nearest one is in the hour before.
        hours.setdefault(draft.wallet.chain.currency, set()).update((hour - HOUR, hour))
    return {currency: sorted(wanted) for currency, wanted in hours.items()}

"""The groups that statements are about: the wallets of a chain, of one type or of all."""

from collections.abc import Mapping
from typing import Any

from wallet_api.base.chains import CHAINS, GROUPS, one_type


def group_parameters(blockchain: str, type: str | None) -> dict[str, Any]:
    """Return the parameters of a group; `all`, and None, are all types of the chain.

    Statements find wallets by `types`, which an index has; `type`, None for all, chooses among rows that are
    read in any case.
    """
    chain, one = CHAINS[blockchain], one_type(type)
    types = list(chain.types) if one is None else [one]
    return {"blockchain": blockchain, "type": one, "types": types, "currency": chain.currency}


def all_groups() -> dict[str, list[str]]:
    """Return the parameters of statements about every group: its chain and its type, at one place of each."""
    blockchains, types = zip(*GROUPS, strict=True)
    return {"blockchains": list(blockchains), "types": list(types)}


def board_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of loaded arguments by which boards are kept: a group, and a period or a window."""
    return {name: given[name] for name in ("blockchain", "type", "period")}

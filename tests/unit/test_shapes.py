"""Rows as JSON."""

import json
from itertools import product
from typing import Any

from wallet_api.api.schemas.fields import Amount, Integer, Rows, String
from wallet_api.api.schemas.shapes import Shape
from wallet_api.api.schemas.tokens import TotalHoldersSchema
from wallet_api.base.chains import WALLET_TYPES


class _Part(Shape):
    first = String("May be null.", nullable=True)
    second = Amount("May be absent.", optional=True)


class _Row(Shape):
    before = Amount("May be absent.", optional=True)
    earlier = String("May be absent.", optional=True)
    name = String("Always there.")
    part = Rows(_Part, "An object.")
    count = Integer("May be null.", nullable=True)
    last = String("May be absent.", optional=True)


class _Options(Shape):
    only = String("May be absent.", optional=True)
    other = String("May be absent.", optional=True)


def test_each_type_of_wallets_has_its_number_of_holders() -> None:
    counts = [f"{type}_count" for type in (*WALLET_TYPES, "still_holding")]
    assert list(TotalHoldersSchema().fields) == counts


def test_each_member_is_there_null_or_absent_whatever_the_others_are() -> None:
    rows = [
        dict(
            zip(
                ("before", "earlier", "name", "part_first", "part_second", "count", "last"),
                values,
                strict=True,
            )
        )
        for values in product(
            (None, "1.50"), (None, "e"), ("n",), (None, 'a",'), (None, "0"), (None, 7), (None, "\\")
        )
    ]
    expected = [_object(row) for row in rows]
    assert [json.loads(text) for text in _Row().write(rows)] == expected
    # Alone, a row has no other ones with a value.
    assert [json.loads(text) for row in rows for text in _Row().write([row])] == expected


def test_lists_of_all_rows_are_those_of_each() -> None:
    lists: list[Any] = [[], [{"only": "a"}, {"only": None}], [], [{"only": '"'}]]
    assert [json.loads(text) for text in _Options().write_lists(lists)] == [
        [],
        [{"only": "a"}, {}],
        [],
        [{"only": '"'}],
    ]


def _object(row: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: float(row[name]) for name in ("before", "part_second") if row[name] is not None}
    part = {"first": row["part_first"]}
    if "part_second" in numbers:
        part["second"] = numbers["part_second"]
    optional = {name: row[name] for name in ("earlier", "last") if row[name] is not None}
    before = {"before": numbers["before"]} if "before" in numbers else {}
    return {**before, **optional, "name": row["name"], "part": part, "count": row["count"]}

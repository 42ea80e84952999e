"""Rows as a DataFrame. pandas is imported only when it is asked for."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._times import TIMES

if TYPE_CHECKING:
    import pandas


def frame(pages: Iterable[Sequence[Any]]) -> pandas.DataFrame:
    import pandas

    rows = pandas.DataFrame([flat(item) for page in pages for item in page])
    for column in TIMES.intersection(rows.columns):
        rows[column] = pandas.to_datetime(rows[column], utc=True, format='ISO8601')
    return rows


def flat(item: Mapping[str, Any]) -> dict[str, Any]:
    """Objects inside as columns of their own (`location_lat`); a list is its words between spaces."""
    row: dict[str, Any] = {}
    for name, value in item.items():
        if isinstance(value, dict):
            for inner, one in value.items():
                # `measurements` has what the row has
                if inner not in item:
                    row[f'{name}_{inner}'] = one
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            row[name] = ' '.join(value)
        else:
            row[name] = value
    return row

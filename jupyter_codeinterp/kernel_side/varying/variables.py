"""Copies of variables from the person's kernel, as JSON. This file's text runs **in the kernel**:
``copied`` in the person's, ``restored`` in a fresh one.

Nothing is pickled, and no code of a type that is not known runs: only these types are copied.
Tables and columns of pandas whose values are numbers, texts, truth values, times or categories;
lists of dictionaries; plain values; and modules, by their names. Standard library only.
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from typing import Any

from .picks import number_or_none, outliers_of, picked
from .refusal import CannotChange

MOST_CELLS = 500_000
"""Rows times columns of a table, or values of a list."""
MOST_CHARACTERS = 20_000_000
"""Of all copies together."""
PLAIN = (str, int, float, bool, type(None))
MASKED = {
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("Float32", "Float64", "boolean", "string", "str"),
}
"""Types of pandas whose values are plain, or missing."""


def copied(names: list[str], namespace: dict[str, Any]) -> dict[str, Any]:
    """By name ``{text}``, JSON, or ``{refused, detail}``. Names without a variable are left out."""
    found: dict[str, Any] = {}
    left = MOST_CHARACTERS
    for name in names:
        if name not in namespace:
            continue
        value = namespace[name]
        try:
            text = json.dumps(encoded(value, left))
            if len(text) > left:
                raise CannotChange("too_large")
            left -= len(text)
            found[name] = {"text": text}
        except CannotChange as refused:
            found[name] = {"refused": refused.code, "detail": refused.detail}
    return found


def encoded(value: Any, most: int) -> dict[str, Any]:
    """Raises CannotChange."""
    kind = type(value)
    if kind is types.ModuleType:
        return {"kind": "module", "name": vars(value).get("__name__", "")}
    pandas = sys.modules.get("pandas")
    if pandas is not None and kind is getattr(pandas, "DataFrame", None):
        return dict(table(value, most), kind="table")
    if pandas is not None and kind is getattr(pandas, "Series", None):
        return dict(table(value.to_frame(), most), kind="series", named=value.name is not None)
    counted = [0]
    check_plain(value, counted)
    is_rows = kind is list and len(value) > 1 and all(type(row) is dict for row in value)
    return {"kind": "records" if is_rows else "plain", "value": value}


def check_plain(value: Any, counted: list[int], depth: int = 0) -> None:
    """Raises CannotChange unless JSON gives back the same value."""
    counted[0] += 1
    kind = type(value)
    if counted[0] > MOST_CELLS:
        raise CannotChange("too_large")
    if kind in PLAIN:
        return
    if kind not in (list, dict) or depth > 20:
        raise CannotChange("not_a_table", kind.__name__)
    if kind is dict and not all(type(key) is str for key in value):
        raise CannotChange("not_a_table", "dict")
    for one in value.values() if kind is dict else value:
        check_plain(one, counted, depth + 1)


def table(frame: Any, most: int) -> dict[str, Any]:
    rows, columns = frame.shape
    if rows * max(1, columns) > MOST_CELLS:
        raise CannotChange("too_large")
    labels = list(frame.columns)
    if not all(type(label) in PLAIN for label in labels) or frame.columns.nlevels > 1:
        raise CannotChange("not_a_table", "its column labels")
    found, size = [], 0
    for position in range(columns):
        one = column(frame.iloc[:, position], str(labels[position]))
        size += sum(len(v) if type(v) is str else 8 for v in one["values"])
        if size > most:
            raise CannotChange("too_large")
        found.append(one)
    index = frame.index
    if index.nlevels > 1 or type(index.name) not in PLAIN:
        raise CannotChange("not_a_table", "its index")
    counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    own = None if counts else column(index.to_series(), "its index")
    return {"labels": labels, "columns": found, "index": own, "index_name": index.name}


def column(series: Any, label: str) -> dict[str, Any]:
    dtype, name = series.dtype, str(series.dtype)
    if type(dtype).__name__ == "CategoricalDtype":
        categories = column(dtype.categories.to_series(), label)
        codes = series.cat.codes.to_numpy().tolist()
        return {"dtype": "category", "of": categories, "ordered": bool(dtype.ordered),
                "values": codes}  # fmt: skip
    if name in MASKED:
        values = series.to_numpy(dtype=object, na_value=None).tolist()
    elif type(dtype).__module__.split(".")[0] == "numpy" and dtype.kind in "biuf":
        values = series.to_numpy().tolist()
    elif type(dtype).__module__.split(".")[0] == "numpy" and dtype.kind in "Mm":
        values = series.to_numpy().view("i8").tolist()
    elif name == "object":
        values = series.to_numpy().tolist()
    else:
        raise CannotChange("not_a_table", f"{label} of type {name}")
    if not all(type(value) in PLAIN for value in values):
        raise CannotChange("not_a_table", f"{label} of type {name}")
    return {"dtype": name, "values": values}


def restored(text: str, kind: str, number: int) -> tuple[Any, dict[str, int]]:
    """The value, changed, with its rows and the columns that have an outlier before the change."""
    about = json.loads(text)
    if about["kind"] == "module":
        return importlib.import_module(about["name"]), {"rows": 0, "outliers": 0}
    value = about.get("value")
    if about["kind"] == "plain":
        return value, {"rows": 0, "outliers": 0}
    if about["kind"] == "records":
        keys = list(value[0])
        numbers = [[number_or_none(row.get(key)) for row in value] for key in keys]
        outliers = outliers_of(numbers)
        chosen = picked(kind, number, len(value), outliers)
        # Rows that come twice are two dictionaries.
        changed = [dict(value[at]) for at in chosen] if kind else value
        return changed, {"rows": len(value), "outliers": len(outliers)}
    frame, outliers = made(about)
    facts = {"rows": len(frame), "outliers": len(outliers)}
    if kind and len(frame) > 1:
        frame = frame.iloc[picked(kind, number, len(frame), outliers)]
        if about["index"] is None:
            frame = frame.reset_index(drop=True).rename_axis(index=about["index_name"])
    if about["kind"] == "series":
        series = frame.iloc[:, 0]
        return series if about["named"] else series.rename(None), facts
    return frame, facts


def made(about: dict[str, Any]) -> tuple[Any, list[int]]:
    pandas = importlib.import_module("pandas")
    columns = [made_column(one) for one in about["columns"]]
    rows = len(about["columns"][0]["values"]) if columns else 0
    index = pandas.RangeIndex(rows) if about["index"] is None else made_column(about["index"])
    frame = pandas.DataFrame(dict(enumerate(columns)), index=pandas.Index(index))
    frame.columns = pandas.Index(about["labels"])
    frame.index.name = about["index_name"]
    numbers = (
        [number_or_none(value) for value in one["values"]]
        for one in about["columns"]
        if one["dtype"][:3] in ("int", "uin", "flo", "Int", "UIn", "Flo")
    )
    return frame, outliers_of(numbers)


def made_column(one: dict[str, Any]) -> Any:
    numpy, pandas = importlib.import_module("numpy"), importlib.import_module("pandas")
    dtype, values = one["dtype"], one["values"]
    if dtype == "category":
        categories = pandas.Index(made_column(one["of"]))
        return pandas.Categorical.from_codes(values, categories, ordered=one["ordered"])
    if dtype[:8] in ("datetime", "timedelt"):
        return numpy.array(values, "i8").view(dtype)
    if dtype in MASKED:
        return pandas.array(values, dtype=dtype)
    if dtype == "object":
        array = numpy.empty(len(values), dtype=object)
        array[:] = values
        return array
    return numpy.array(values, dtype=dtype)

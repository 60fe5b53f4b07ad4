"""Changes a Parquet file in place. This file's text runs **in the kernel**, which needs pyarrow."""

from __future__ import annotations

import importlib
from typing import Any

from .picks import number_or_none, outliers_of, picked
from .refusal import CannotChange

MOST_CELLS = 5_000_000
"""Rows times columns of a file."""


def change_parquet(path: str, about: dict[str, Any], kind: str, number: int) -> dict[str, int]:
    """Rows, and columns that have an outlier, before the change. Raises CannotChange."""
    try:
        pyarrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise CannotChange("no_library", "pyarrow") from None
    with parquet.ParquetFile(path) as file:
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise CannotChange("too_large")
        table = file.read()
    if table.num_rows < 2:
        raise CannotChange("few_rows")

    def numbers() -> Any:
        for column in table.columns:
            if pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type):
                yield [number_or_none(value) for value in column.to_pylist()]

    outliers = outliers_of(numbers())
    if kind:
        rows = picked(kind, number, table.num_rows, outliers)
        parquet.write_table(table.take(pyarrow.array(rows, pyarrow.int64())), path)
    return {"rows": table.num_rows, "outliers": len(outliers)}

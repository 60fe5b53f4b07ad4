"""Variables that cells with the tag ``codeinterp-private`` assign: the model gets to know their
names and types, and nothing of their values. What other cells make of them is not covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Union

from ..document.ops import CellView


class _Named(TypedDict):
    name: str
    type: str


class Variable(_Named, total=False):
    """A variable of the kernel. Each fact is there only for values that have it; a private one
    has its name and type alone.

    len        of containers, str and bytes
    shape      of arrays, tables and columns
    dtype      of arrays and columns
    columns    of a table: pairs of label and dtype, of the first columns
    value      as text, if short
    engine     of a table whose rows are not in the kernel's memory: dask, duckdb, polars, spark
    """

    len: int
    shape: list[int]
    dtype: str
    columns: list[list[str]]
    value: str
    engine: str


Variables = Union[list[dict[str, Any]], None]


class PrivateNames:
    """Of one conversation. A name stays private when its cell is deleted, or loses its tag."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def learn(self, cells: Iterable[CellView]) -> None:
        for cell in cells:
            self._names.update(cell.assigns)

    def add(self, others: PrivateNames) -> None:
        self._names |= others._names

    def __bool__(self) -> bool:
        return bool(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def redact(self, variables: Variables) -> Variables:
        """Without values of private variables, and without their columns."""
        if variables is None:
            return None
        return [self._redacted(v) for v in variables if not self._is_part(v)]

    def _redacted(self, variable: dict[str, Any]) -> dict[str, Any]:
        if variable.get("name") not in self._names:
            return variable
        return {key: variable[key] for key in _SHOWN if key in variable}

    def _is_part(self, variable: dict[str, Any]) -> bool:
        """Whether it is a column of a private table, or an item of a private dictionary."""
        name, bracket, _ = str(variable.get("name")).partition("[")
        return bool(bracket) and name in self._names


_SHOWN: Sequence[str] = ("name", "type")

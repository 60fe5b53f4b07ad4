"""Variables that cells with the tag ``codeinterp-private`` assign: the model gets their names and
types, but not their values. Variables that other cells derive from them are not covered.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypedDict, Union

from ...wire.ops import CellView

# -------------------------------------------------------------------------------------------------
# The names that a cell's code assigns, so that their values can be kept private with it.
#
# ``src/notebook/document/assigned.ts`` does the same in a window. In doubt a name counts as
# assigned. Names from ``exec`` and ``import *`` are missed.

_NAME = re.compile(r"[^\W\d]\w*")
_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")
_WHOLE = ("import", "from", "global", "nonlocal", "case")
"""First words of statements whose names all count as assigned."""


def assigned(source: str) -> tuple[str, ...]:
    """The assigned names in order, each once. Linear in the source."""
    return tuple(dict.fromkeys(_assigned(source)))


def _assigned(source: str) -> Iterator[str]:
    for statement in _statements(source):
        words = _NAME.findall(statement)
        first = words[0] if words else ""
        ends = [match.start() for match in _EQUALS.finditer(statement)]
        if first in _WHOLE or statement.lstrip()[:1] in "%!":
            yield from map(_plain, words)
        elif ends:
            yield from map(_plain, _NAME.findall(statement[: ends[-1]]))
        targets = False
        for before, word in zip(["", *words], words, strict=False):
            targets = (targets or before in ("for", "as")) and word not in ("in", "for", "as")
            if targets or before in ("def", "class"):
                yield _plain(word)


def _statements(source: str) -> Iterator[str]:
    """Lines, each joined with its continuation in brackets."""
    open_ones, begun = 0, []
    for line in source.replace(";", "\n").replace("\\\n", " ").split("\n"):
        begun.append(line)
        open_ones += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if open_ones <= 0:
            yield " ".join(begun)
            open_ones, begun = 0, []
    yield " ".join(begun)


def _plain(name: str) -> str:
    """The name as Python normalizes it."""
    return unicodedata.normalize("NFKC", name)


class _VariableName(TypedDict):
    name: str
    type: str


class Variable(_VariableName, total=False):
    """A variable of the kernel. A fact is missing if the value lacks it; a private variable has
    only name and type.

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
    """The private names of one conversation. A name stays private after its cell is deleted or
    loses its tag."""

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
        """The variables without values and columns of private ones."""
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

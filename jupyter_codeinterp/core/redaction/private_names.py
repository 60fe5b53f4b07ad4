"""Variables that cells with the tag ``codeinterp-private`` assign: the model gets to know their
names and types, and nothing of their values. What other cells make of them is not covered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Union

from ..document.ops import CellView

Variables = Union[list[dict[str, Any]], None]


class PrivateNames:
    """Of one conversation. A name stays private when its cell is deleted, or loses its tag."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def learn(self, cells: Iterable[CellView]) -> None:
        for cell in cells:
            self._names.update(cell.assigns)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def veil(self, variables: Variables) -> Variables:
        return variables if variables is None else [self._veiled(v) for v in variables]

    def _veiled(self, variable: dict[str, Any]) -> dict[str, Any]:
        if variable.get("name") not in self._names:
            return variable
        return {key: variable[key] for key in _SHOWN if key in variable}


_SHOWN: Sequence[str] = ("name", "type")

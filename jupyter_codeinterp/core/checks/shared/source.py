"""A cell's Python code, parsed, with places that people count in characters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from ...findings import Place

PARSED = 50_000
"""Characters. Longer code is not read."""
_MAGIC = re.compile(r"^(\s*)[%!].*")
_CELL_MAGIC = re.compile(r"%%(time|timeit|capture|prun)\b.*")


@dataclass(frozen=True)
class Source:
    lines: tuple[str, ...]
    tree: ast.Module
    parents: Mapping[ast.AST, ast.AST]

    def place(self, node: ast.AST) -> Place:
        """Where a statement or expression stands."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        column, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None) or 0
        return self.place_of_bytes(line, column, end_line, end)

    def place_of_bytes(self, line: int, column: int, end_line: int, end: int) -> Place:
        """The place that Python gives as offsets in UTF-8."""
        return Place(
            line, self._characters(line, column), end_line, self._characters(end_line, end)
        )

    def _characters(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore"))

    def text(self, node: ast.AST, most: int = 80) -> str:
        """The code of a node on one line, cut if it is long."""
        words = " ".join(ast.unparse(node).split())
        return words if len(words) <= most else words[: most - 1] + "\u2026"

    def nodes(self) -> Iterator[ast.AST]:
        return ast.walk(self.tree)

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement around an expression."""
        while not isinstance(node, ast.stmt):
            if node not in self.parents:
                return None
            node = self.parents[node]
        return node

    def at(self, place: Place | None) -> ast.expr | None:
        """The expression that stands at exactly this place."""
        if place is None:
            return None
        for node in self.nodes():
            if isinstance(node, ast.expr) and self.place(node) == place:
                return node
        return None


@lru_cache(maxsize=4)
def parsed(text: str) -> Source | None:
    """The source of a cell; None if it is no Python, or too long. Magics count as empty lines."""
    if len(text) > PARSED:
        return None
    lines = text.split("\n")
    if lines and lines[0].startswith("%%"):
        if not _CELL_MAGIC.match(lines[0]):
            return None
        lines[0] = ""
    plain = [_MAGIC.sub(r"\1pass", line) for line in lines]
    try:
        tree = ast.parse("\n".join(plain))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Source(tuple(lines), tree, MappingProxyType(parents))


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def base(node: ast.AST) -> str:
    """The variable that attributes, items and calls begin with: ``df`` of ``df["a"].sum()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def column(node: ast.AST) -> str:
    """The column that ``df["price"]`` or ``df.price`` names; "" for anything else."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value if isinstance(node.slice.value, str) else ""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr
    return ""


def label(node: ast.AST) -> str:
    """The name of a variable, an attribute, or the column in ``df["price"]``."""
    return (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else column(node)
    )


def same(one: ast.AST, other: ast.AST) -> bool:
    """Whether two expressions are written the same."""
    return ast.dump(one) == ast.dump(other)


def values_of(source: Source, name: str) -> list[ast.expr]:
    """All that the cell assigns to a variable."""
    return [
        node.value
        for node in source.nodes()
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]

"""A cell's Python code, parsed, with places counted in characters."""

from __future__ import annotations

import ast
from functools import cached_property, lru_cache
from typing import TypeGuard

from ..wire.findings import Place
from .parsing import base, parse

PARSED = 20_000
"""Characters of code; longer code is not parsed."""


class Source:
    """A syntax tree with indexes, built once because checks ask about every node."""

    def __init__(self, lines: tuple[str, ...], tree: ast.Module) -> None:
        self.lines = lines
        self.tree = tree
        self._columns_of: dict[int, list[int] | None] = {}
        self.nodes = tuple(ast.walk(tree))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    # --- places ----------------------------------------------------------------------

    def place(self, node: ast.AST) -> Place:
        """The place of a statement or expression."""
        line, end_line = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        column, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None) or 0
        return self.place_of_bytes(line, column, end_line, end)

    def place_of_bytes(self, line: int, column: int, end_line: int, end: int) -> Place:
        """The place for Python's offsets, which count bytes of UTF-8."""
        start = self._characters(line, column)
        return Place(line, start, end_line, self._characters(end_line, end))

    def _characters(self, line: int, offset: int) -> int:
        columns = self._columns(line)
        return offset if columns is None else columns[min(max(offset, 0), len(columns) - 1)]

    def _columns(self, line: int) -> list[int] | None:
        """The character of each byte of a line; None if it is all ASCII."""
        if line not in self._columns_of:
            text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
            self._columns_of[line] = None if text.isascii() else characters_of_bytes(text)
        return self._columns_of[line]

    def at(self, place: Place | None) -> ast.expr | None:
        """The expression at exactly this place."""
        return None if place is None else self._expressions.get(place)

    @cached_property
    def _expressions(self) -> dict[Place, ast.expr]:
        found = [node for node in self.nodes if isinstance(node, ast.expr)]
        return {self.place(node): node for node in reversed(found)}

    # --- code ------------------------------------------------------------------------

    def text(self, node: ast.AST, most: int = 80) -> str:
        """The code of a node on one line, cut if it is long."""
        words = " ".join(ast.unparse(node).split())
        return words if len(words) <= most else words[: most - 1] + "\u2026"

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement around an expression."""
        while not isinstance(node, ast.stmt):
            if node not in self.parents:
                return None
            node = self.parents[node]
        return node

    def values_of(self, name: str) -> list[ast.expr]:
        """All expressions that the cell assigns to a variable."""
        return self._assigned.get(name, [])

    @cached_property
    def _assigned(self) -> dict[str, list[ast.expr]]:
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
        return found

    @cached_property
    def names(self) -> dict[str, list[ast.Name]]:
        """The places where each name is written."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Name):
                found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def attributes(self) -> dict[str, list[tuple[str, ast.Attribute]]]:
        """Attributes by the variable that they begin with, each with its owner's code."""
        found: dict[str, list[tuple[str, ast.Attribute]]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                found.setdefault(base(node), []).append((ast.unparse(node.value), node))
        return found


def characters_of_bytes(text: str) -> list[int]:
    sizes = [len(character.encode("utf-8", "replace")) for character in text]
    return [n for n, size in enumerate(sizes) for _ in range(size)] + [len(text)]


@lru_cache(maxsize=4)
def parsed(text: str) -> Source | None:
    """The source of a cell; None if it is no Python, too long, or nested too deep. For
    magics see ``parsing.py``."""
    found = parse(text, PARSED)
    return Source(tuple(text.split("\n")), found[1]) if found is not None else None


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of names and attributes; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


class MethodCall(ast.Call):
    """A call of a method, such as ``df.sum()``; only a type."""

    func: ast.Attribute


def is_method_call(node: ast.AST | None) -> TypeGuard[MethodCall]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


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

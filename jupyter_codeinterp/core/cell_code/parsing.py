"""Parses a cell's Python within bounds of length and depth."""

from __future__ import annotations

import ast

from ..visible import has_heaped_marks
from .python_of import python_of

DEEPEST = 60
"""Nested statements and expressions."""


def parse(source: str, most: int) -> tuple[str, ast.Module] | None:
    """The cell's Python, line for line, and its tree.

    None if the source has more than ``most`` characters, is no Python, or is nested too deep.
    """
    if len(source) > most or any(map(has_heaped_marks, source.split("\n"))):
        return None
    # What is Python as a whole has no magics: a line of a text may only look like one.
    for code in dict.fromkeys((source, python_of(source))):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return (code, tree) if _is_flat(tree) else None
    return None


def _is_flat(tree: ast.AST) -> bool:
    """Whether walks from each node are short: their number of steps is that of the nodes, times
    the depth."""
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def base(node: ast.AST) -> str:
    """The variable that attributes, items and calls begin with: ``df`` of ``df["a"].sum()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""

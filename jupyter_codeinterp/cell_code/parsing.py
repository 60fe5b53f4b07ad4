"""Parses a cell's Python within bounds of length and depth."""

from __future__ import annotations

import ast

from ..base.visible import has_heaped_marks

# -------------------------------------------------------------------------------------------------
# The Python of an IPython cell, without magics and shell commands.

PYTHON_BELOW = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit")
"""Cell magics whose cells are Python."""
_PYTHON_BESIDE = ("%time", "%timeit", "%prun", "%memit")
"""Line magics with Python in the same line."""
_COMPOUND = ("for", "while", "if", "with", "try", "def", "class", "async")


def python_of(source: str) -> str:
    """The cell with every magic replaced, line for line; "" if the cell is no Python.

    Python beside a magic stays: ``%time x = 1`` is ``x = 1``. A name that gets a magic's result
    stays assigned: ``files = !ls`` is ``files = None``.
    """
    lines = source.split("\n")
    start = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and lines[start].startswith("%%"):
        words = lines[start].split()
        if words[0] not in PYTHON_BELOW:
            return ""
        captured = [word for word in words[1:] if word.isidentifier()]
        is_capture = words[0] == "%%capture" and captured
        lines[start] = f"{captured[0]} = None" if is_capture else ""
    return "\n".join(map(_python_of_line, lines))


def _python_of_line(line: str) -> str:
    code = line.strip()
    if not code:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    if code[0] == "%":
        magic, _, rest = code.partition(" ")
        beside = rest.strip() if magic in _PYTHON_BESIDE else ""
        if not beside or beside[0] in "-%!":
            return f"{indent}pass"
        if beside.startswith(_COMPOUND):
            return indent + beside
        # Keep its columns.
        return indent + "pass;".ljust(len(code) - len(rest.lstrip())) + beside
    if code[0] in "!?" or (code[-1] == "?" and "#" not in code):
        return f"{indent}pass"
    target, equals, value = code.partition("=")
    names = (name.strip() for name in target.split(","))
    if equals and value.lstrip().startswith(("!", "%")) and all(map(str.isidentifier, names)):
        return f"{indent}{target.rstrip()} = None"
    return line


DEEPEST = 60
"""Levels of nested statements and expressions."""


def parse(source: str, most: int) -> tuple[str, ast.Module] | None:
    """The cell's Python, line for line, and its tree.

    None if the source has more than ``most`` characters, is no Python, or is nested too deep.
    """
    if len(source) > most or any(map(has_heaped_marks, source.split("\n"))):
        return None
    # Valid Python has no magics: a line inside a string may look like one.
    for code in dict.fromkeys((source, python_of(source))):
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return (code, tree) if _is_flat(tree) else None
    return None


def _is_flat(tree: ast.AST) -> bool:
    """Whether the tree is at most ``DEEPEST`` deep, which bounds walks from every node."""
    level = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False


def base(node: ast.AST) -> str:
    """The variable at the start of attributes, items and calls: ``df`` of ``df["a"].sum()``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""

"""Write the sentences of the Python code for translators: python scripts/messages.py > messages.pot
(``jupyterlab-translate`` adds those of the TypeScript to it).

A sentence is an argument of ``Sentence`` or of an error, or a value of the name given there.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

PRODUCT = Path(__file__).parents[1] / "jupyter_codeinterp"
ERRORS = "CommandError ModelError ToolServerError KernelError DocumentError StoreError"
PLACES = {"Sentence": 0, **dict.fromkeys(ERRORS.split(), 1)}
"""The position of the template among the arguments."""


def arguments(tree: ast.AST) -> Iterator[ast.expr]:
    """The templates in arguments of calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PLACES:
            place = PLACES[ast.unparse(node.func)]
            yield from node.args[place : place + 1]


def values(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.expr]:
    """The values that are assigned to these names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            known = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            yield from (node.value,) if known & names else ()


def literals(node: ast.expr) -> Iterator[tuple[int, str]]:
    """The strings of an expression, without arguments of calls."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    elif isinstance(node, (ast.IfExp, ast.Dict, ast.Tuple)):
        parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
        for part in (*parts, *getattr(node, "values", ()), *getattr(node, "elts", ())):
            yield from literals(part)


def catalogue() -> Catalog:
    """All sentences, with their files and lines."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(PRODUCT.rglob("*.py"))}
    given = {path: list(arguments(tree)) for path, tree in trees.items()}
    names = frozenset(
        part.id
        for nodes in given.values()
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
    )
    found = Catalog(project="jupyter_codeinterp")
    for path, tree in trees.items():
        for node in (*given[path], *values(tree, names)):
            for line, text in literals(node):
                if text:
                    place = (path.relative_to(PRODUCT.parent).as_posix(), line)
                    found.add(text, locations=[place], flags=["python-brace-format"])
    return found


if __name__ == "__main__":
    write_po(sys.stdout.buffer, catalogue())

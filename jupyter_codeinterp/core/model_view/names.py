"""The names that a cell's code defines, and those that it uses and does not define itself.

Python is parsed; of anything else no name is known, and nothing is said. Rather a name too few
than one too many: it moves a cell away from where the person wanted it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

PARSED = 20_000
"""Characters of a source that is parsed: some milliseconds."""
_BINDS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = (*_BINDS, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def defined(source: str) -> frozenset[str]:
    """Names that are bound at the top of the cell: assigned, imported, ``def``, ``class``."""
    return _read(source)[0]


def imported(source: str) -> frozenset[str]:
    """Those of them that are imported, and nothing else."""
    return _read(source)[1]


def used(source: str) -> frozenset[str]:
    """Names that must be there before the cell is run."""
    return _read(source)[2]


@lru_cache(maxsize=500)
def _read(source: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    lines = source.split("\n") if len(source) <= PARSED else []
    # What is IPython's, and a line of its own, is no Python; of a cell magic nothing is known.
    code = "\n".join("pass" if line[:1] in ("%", "!", "?") else line for line in lines)
    try:
        tree = None if source.startswith("%%") else ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    bound: set[str] = set()
    imports: set[str] = set()
    free: set[str] = set()
    for statement in tree.body if tree is not None else ():
        stores, brought = set(_stores(statement)), set(_imports(statement))
        local = set(_locals(statement))
        if isinstance(statement, _BLOCKS):
            local |= stores
        loads = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        if isinstance(statement, ast.AugAssign):
            loads |= stores
        free |= loads - bound - local
        bound |= stores | brought
        imports = (imports | brought) - stores
    return frozenset(bound), frozenset(imports), frozenset(free)


def _stores(statement: ast.stmt) -> Iterator[str]:
    """What the statement binds where it stands, not inside of functions and classes."""
    if isinstance(statement, _BINDS):
        yield statement.name
        return
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _BINDS):
            yield node.name
            continue
        if isinstance(node, (ast.Lambda, *_COMPREHENSIONS)):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        waiting.extend(ast.iter_child_nodes(node))


def _imports(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def _locals(statement: ast.stmt) -> Iterator[str]:
    """Names of functions, lambdas and comprehensions inside of it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        elif isinstance(node, (ast.Lambda, *_COMPREHENSIONS, *_BINDS)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id

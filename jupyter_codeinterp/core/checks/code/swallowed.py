"""An error that nobody hears of: ``except: pass`` around the computation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import dotted, is_method_call, parsed

NAME = "Errors ignored"
ALL = ("Exception", "BaseException")


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Try) or not _computes(node):
            continue
        for handler in node.handlers:
            if _catches_all(handler) and all(map(_does_nothing, handler.body)):
                last = node.body[-1].end_lineno
                words = f"Every error in lines {node.body[0].lineno} to {last} is ignored"
                if node.body[0].lineno == last:
                    words = f"Every error in line {last} is ignored"
                words += ", so what fails is missing from the result."
                yield Finding(NAME, words, source.place(handler))


def _computes(node: ast.Try) -> bool:
    """Whether what it tries makes values, and does not only import or tidy up."""
    parts = [part for statement in node.body for part in ast.walk(statement)]
    if any(isinstance(part, (ast.Import, ast.ImportFrom)) for part in parts):
        return False
    return any(isinstance(part, (ast.Assign, ast.AugAssign)) or _appends(part) for part in parts)


def _appends(node: ast.AST) -> bool:
    return is_method_call(node) and node.func.attr in ("append", "extend", "add", "update")


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or dotted(handler.type) in ALL


def _does_nothing(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Pass, ast.Continue))


CHECK = Check(NAME, before_run=read)

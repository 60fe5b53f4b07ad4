"""Whether a path that is written in the code stays in the notebook's folder."""

from __future__ import annotations

import ast
import posixpath
import re

from ..checks.shared.source import Source, dotted

_DRIVE = re.compile(r"[A-Za-z]:|[\\/~]")
_URL = re.compile(r"[A-Za-z][\w+.-]*://")
_DEEPEST = 6
"""Names and parts that are followed."""


def written(source: Source, node: ast.AST, depth: int = _DEEPEST) -> str | None:
    """The path that an expression gives, where the code spells it out; else None."""
    if depth == 0:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        values, places = source.values_of(node.id), source.names.get(node.id, ())
        stored = sum(isinstance(place.ctx, ast.Store) for place in places)
        return written(source, values[0], depth - 1) if len(values) == stored == 1 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
        one, other = (written(source, side, depth - 1) for side in (node.left, node.right))
        if one is None or other is None:
            return None
        return f"{one}/{other}" if isinstance(node.op, ast.Div) else one + other
    if isinstance(node, ast.Call) and not node.keywords and _joins(node.func):
        parts = [written(source, part, depth - 1) for part in node.args]
        return None if None in parts else "/".join(filter(None, parts))
    return None


def _joins(function: ast.expr) -> bool:
    """``Path(…)`` and ``os.path.join(…)``; ``Path("a", "/b")`` is caught, as all parts count."""
    return dotted(function) in ("Path", "pathlib.Path", "os.path.join")


def is_url(path: str) -> bool:
    return _URL.match(path) is not None


def is_inside(path: str, folder: str = "") -> bool:
    """Whether it leads nowhere but into the folder, whose whole path is known, or "". Links are
    not followed."""
    if "//" in path or "\\" in path or "\0" in path or path.startswith("~"):
        return False
    whole = _DRIVE.match(path)
    if folder.strip("/"):
        full = posixpath.normpath(path if whole else f"{folder}/{path}")
        return f"{full}/".startswith(f"{folder.rstrip('/')}/")
    return not (whole or posixpath.normpath(path).startswith(".."))

"""The names that a cell's code assigns, so that their values can be kept private with it.

``src/notebook/document/assigned.ts`` does the same in a window, by the pattern alone. Rather a
name too many than one too few; what ``exec`` or an ``import *`` assigns nobody can see.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator

from ..visible import has_heaped_marks

PARSED = 100_000
"""Characters of a source that is worth parsing."""
_NAME = re.compile(r"[^\W\d]\w*")
_EQUALS = re.compile(r"(?<![=!<>])=(?!=)")


def assigned(source: str) -> tuple[str, ...]:
    """In the order in which they are met, each once."""
    names = dict.fromkeys(by_pattern(source))
    parses = len(source) <= PARSED and not any(map(has_heaped_marks, source.split("\n")))
    try:
        tree = ast.parse(source) if parses else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is not None:
        names = dict.fromkeys(_in_tree(tree))
    return tuple(names)


def _in_tree(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            if not isinstance(node.ctx, ast.Load):
                yield from _owner(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def _owner(node: ast.expr) -> Iterator[str]:
    """Whose part is assigned."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def by_pattern(source: str) -> Iterator[str]:
    """Also where it is no Python, or Python with magics. Linear in the source."""
    for statement in _statements(source):
        words = _NAME.findall(statement)
        first = words[0] if words else ""
        ends = [match.start() for match in _EQUALS.finditer(statement)]
        if first in ("import", "from", "global", "nonlocal") or statement.lstrip()[:1] in "%!":
            yield from map(_plain, words)
        elif ends:
            yield from map(_plain, _NAME.findall(statement[: ends[-1]]))
        targets = False
        for before, word in zip(["", *words], words, strict=False):
            targets = (targets or before in ("for", "as")) and word not in ("in", "for", "as")
            if targets or before in ("def", "class"):
                yield _plain(word)


def _statements(source: str) -> Iterator[str]:
    """Lines, with those that brackets continue."""
    open_ones, begun = 0, []
    for line in source.replace(";", "\n").replace("\\\n", " ").split("\n"):
        begun.append(line)
        open_ones += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        if open_ones <= 0:
            yield " ".join(begun)
            open_ones, begun = 0, []
    yield " ".join(begun)


def _plain(name: str) -> str:
    """As Python names it."""
    return unicodedata.normalize("NFKC", name)

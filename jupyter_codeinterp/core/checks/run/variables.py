"""Variables of the person that a run changed without being asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...cell_code.parsing import base
from ...findings import Finding
from ..shared.check import Change, Check, SeenRun
from ..shared.reading import listed
from ..shared.source import Source, is_method_call, parsed

NAME = "Changed variable"
TABLES = ("DataFrame", "Series", "ndarray")
_ASKS = re.compile(
    r"\b(clean|chang|add|drop|fix|updat|replac|renam|convert|remov|fill|sort|overwrit|modif|delet"
    r"|append|set|edit|appl|transform|mak|normali|in place)",
    re.IGNORECASE,
)
"""Words that ask for a change."""
_CLEANS = re.compile(
    r"\b(?:clean|convert|rename|sort|drop|remove|delete|fill|replace|fix|normali[sz]e)\b"
    r"[^.?!]{0,60}\b(?:data|table|dataframe|data frame|dataset|columns?|rows?|duplicates)\b",
    re.IGNORECASE,
)
"""The same of a table that the words do not name."""
_CACHE = re.compile(r"(?:^|_)(?:cache|memo)(?:_|$)", re.IGNORECASE)
_KEPT = re.compile(r"(?:^|_)(?:history|logs?)(?:_|$)", re.IGNORECASE)
"""Names of what is meant to go on from run to run."""
_STARTS = ("int 0", "float 0.0", "list of 0", "dict of 0", "str", "set of 0")


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    changed_names = _changed_names(source)
    loops = {name: loop for loop in _loops(source) for name in _grown(loop)}
    for change in run.changes:
        found = _started_before(source, change, loops)
        asked = _is_asked(run.asked, change) or _in_its_functions(change)
        if found is None and change.persons and not asked:
            found = _changed(change, changed_names)
        if found is not None:
            yield found


def _is_asked(asked: str, change: Change) -> bool:
    """Whether the person names the variable, its changed columns or the table, and asks for some
    change of it."""
    words = asked[:10_000]
    columns = (*change.changed_columns, *change.lost_columns)
    # Names of columns are written as Python literals.
    named = columns and all(_has(words, column.strip("'\"")) for column in columns)
    if _has(words, change.name) or named:
        return _ASKS.search(words) is not None
    return _CLEANS.search(words) is not None


def _has(words: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", words) is not None


def _in_its_functions(change: Change) -> bool:
    """A cache that the person's own functions fill."""
    return change.before.startswith("dict") and bool(_CACHE.search(change.name))


def _changed(change: Change, changed_names: set[str]) -> Finding | None:
    before, after, name = change.before, change.after, change.name
    is_table = before.startswith(TABLES)
    if change.how == "removed":
        return Finding(NAME, f"Your variable `{name}`, a {before}, is gone.") if is_table else None
    if change.how == "rebound":
        grew = change.new_columns and not (change.changed_columns or change.lost_columns)
        if not is_table or (grew and before.split(" rows")[0] == after.split(" rows")[0]):
            return None
        was = f": {before} before, {after} now" if before != after else ""
        return Finding(NAME, f"Your variable `{name}` was replaced{was}.")
    if change.how == "changed":
        direct = name in changed_names
        if direct and (not is_table or _only_grew(change)):
            return None
        return Finding(NAME, f"Your variable `{name}` was changed in place{_what(change)}.")
    return None


def _only_grew(change: Change) -> bool:
    same_rows = change.before.split(" rows")[0] == change.after.split(" rows")[0]
    lost = change.changed_columns or change.lost_columns
    return same_rows and bool(change.new_columns) and not lost


def _what(change: Change) -> str:
    parts = []
    if change.before.split(" and ")[0] != change.after.split(" and ")[0]:
        parts.append(f"{change.before} before, {change.after} now")
    for words, columns in (
        ("new columns", change.new_columns),
        ("other values in", change.changed_columns),
        ("without", change.lost_columns),
    ):
        if columns:
            parts.append(f"{words} {listed(columns[:5])}")
    return f": {'; '.join(parts)}" if parts else ""


def _changed_names(source: Source) -> set[str]:
    """Names that the code itself changes: assigns a part of them, or calls a method on them on
    a line of its own."""
    found = set()
    for node in source.nodes:
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found.add(base(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found.add(base(node.value))
        elif isinstance(node, ast.AugAssign):
            found.add(base(node.target))
        elif is_method_call(node) and node.func.attr in ("pop", "popitem", "popleft"):
            found.add(base(node))
    return found


def _started_before(
    source: Source, change: Change, loops: dict[str, ast.For | ast.While]
) -> Finding | None:
    """A sum or a list in a loop that begins with what an earlier run left in it."""
    if change.how not in ("rebound", "changed") or change.name not in loops:
        return None
    if (
        _KEPT.search(change.name)
        or not change.before
        or change.before.startswith(_STARTS)
        or source.values_of(change.name)
    ):
        return None
    words = f"`{change.name}` does not begin empty here: it was {change.before} before."
    return Finding("Left from before", words, source.place(loops[change.name]))


def _loops(source: Source) -> list[ast.For | ast.While]:
    return [node for node in source.nodes if isinstance(node, (ast.For, ast.While))]


def _grown(loop: ast.For | ast.While) -> Iterator[str]:
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign):
            yield base(node.target)
        elif isinstance(node, ast.Call) and _appends(node.func):
            yield base(node.func)


def _appends(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "add")


CHECK = Check(NAME, after_run=read)

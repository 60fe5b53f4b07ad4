"""A result that nothing keeps: ``df.dropna()`` on a line of its own changes nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, dotted, is_true, keyword, parsed

NAME = "Result not kept"
PURE = {
    "dropna", "fillna", "ffill", "bfill", "interpolate", "drop_duplicates", "astype", "assign",
    "sort_values", "sort_index", "reset_index", "set_index", "set_axis", "merge", "nlargest",
    "nsmallest", "isin", "between", "to_datetime", "to_numeric", "add_prefix", "add_suffix",
    "melt", "pivot", "explode", "tz_localize", "tz_convert",
}  # fmt: skip
"""Methods of tables and columns that only return something new, unless ``inplace``."""
WITH_COLUMNS = frozenset(("drop", "rename", "reindex"))
"""The same, but files, paths and databases have methods of these names."""
TEXT = {"strip", "lstrip", "rstrip", "lower", "upper", "title", "replace", "zfill"}
"""Methods of texts, and of ``.str``."""


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if isinstance(node, ast.Expr) and not _is_shown(source, node) and _is_pure(node.value):
            yield Finding(
                NAME,
                f"The result of `{source.text(node)}` is not kept, so this line changes nothing.",
                source.place(node),
            )


def _is_shown(source: Source, node: ast.Expr) -> bool:
    """Whether the notebook shows it, as it does with the last line, or an error of it counts."""
    parent = source.parents.get(node)
    return node is source.tree.body[-1] or isinstance(parent, (ast.Try, ast.With, ast.AsyncWith))


def _is_pure(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return isinstance(node.left, (ast.Attribute, ast.Subscript))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id == "sorted"
    if not isinstance(node.func, ast.Attribute) or _changes_in_place(node):
        return False
    name, owner = node.func.attr, node.func.value
    if name in WITH_COLUMNS:
        return any(keyword(node, word) for word in ("columns", "axis", "index"))
    if name in TEXT:
        # ``path.replace(target)`` moves a file.
        is_column = isinstance(owner, ast.Attribute) and owner.attr == "str"
        return is_column or (name != "replace" and not node.args) or len(node.args) == 2
    return name in PURE and dotted(owner) not in ("self", "session", "db")


def _changes_in_place(call: ast.Call) -> bool:
    return is_true(keyword(call, "inplace"))


CHECK = Check(NAME, before_run=read)

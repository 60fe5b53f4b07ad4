"""What the code alone shows: cells that ran out of order, and names that no cell defines."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from ..model_view.names import PARSED, defined, used
from ..staleness.python_of import PYTHON_BELOW, python_of
from .verification import CodeCell, Finding

_GIVEN = frozenset(
    {*dir(builtins), "__file__", "In", "Out", "_", "__", "___", "get_ipython", "display", "exit"}
    | {"quit", "_i", "_ii", "_iii", "_oh", "_dh", "_ih", "open"}
)
"""Names that IPython gives."""
_BRINGS_ANY = ("import *", "%pylab", "%run", "%load_ext", "exec(", "globals()", "%store")
"""Code that may define any name. The check of names is left out then."""
_OTHER_MAGICS = ("%%bash", "%%sh", "%%html", "%%javascript", "%%js", "%%markdown", "%%writefile")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MOST_NAMES = 12


def findings(cells: Sequence[CodeCell], language: str) -> tuple[Finding, ...]:
    """All of them, in the order of the cells. ``language`` is the kernel's; names are known for
    Python."""
    found = list(_out_of_order(cells))
    if language == "python":
        found += _missing(cells)
    return tuple(sorted(found, key=lambda one: one.number))


def _out_of_order(cells: Sequence[CodeCell]) -> Iterator[Finding]:
    highest = 0
    for cell in cells:
        if cell.count is None:
            continue
        if cell.count < highest:
            yield Finding("out_of_order", cell.cell_id, cell.number)
        highest = max(highest, cell.count)


def _missing(cells: Sequence[CodeCell]) -> Iterator[Finding]:
    codes = [_python(cell.source) for cell in cells]
    trees = [_parsed(code) for code in codes]
    if any(tree is None for tree in trees):
        return  # What that cell defines is unknown.
    everywhere: frozenset[str] = frozenset().union(*map(defined, codes))
    above: set[str] = set(_GIVEN)
    for cell, code, tree in zip(cells, codes, trees, strict=True):
        nowhere = used(code) - everywhere - _GIVEN
        if nowhere:
            names = tuple(sorted(nowhere)[:MOST_NAMES])
            yield Finding("only_live", cell.cell_id, cell.number, names)
        later = (_used_at_once(code, tree) & everywhere) - above - defined(code)
        if later:
            names = tuple(sorted(later)[:MOST_NAMES])
            yield Finding("later", cell.cell_id, cell.number, names)
        above |= defined(code)


def _used_at_once(code: str, tree: ast.Module | None) -> frozenset[str]:
    """Names that the cell itself uses; those in its functions are needed only when called."""
    lines = code.split("\n")
    for one in tree.body if tree is not None else ():
        if isinstance(one, _DEFINITIONS):
            first, last = one.lineno - 1, one.end_lineno or one.lineno
            lines[first:last] = [""] * (last - first)
            for decorator in one.decorator_list:
                first, last = decorator.lineno - 1, decorator.end_lineno or decorator.lineno
                lines[first:last] = [""] * (last - first)
    return used("\n".join(lines))


def _python(source: str) -> str:
    """The code without what only IPython understands; unparsable if it may define any name."""
    first = source.split(None, 1)[0] if source.strip() else ""
    if first in _OTHER_MAGICS:
        return ""
    unknown = first.startswith("%%") and first not in PYTHON_BELOW
    if unknown or any(words in source for words in _BRINGS_ANY):
        return "?"
    return python_of(source)


def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code) if len(code) <= PARSED else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

"""Puts imports on top without a change of what runs. Pure; nothing runs.

An import moves only where all that runs before it cannot change what it gives: see ``_stays``.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Union

import msgspec
from msgspec import structs

from ..cell_code.cell_names import PARSED, Names, names_of
from ..cell_code.parsing import parse
from .ordering import Cell

Import = Union[ast.Import, ast.ImportFrom]
_SETTLES = frozenset(
    {"sys", "os", "site", "importlib", "subprocess", "warnings", "builtins", "logging", "locale"}
    | {"chdir", "environ", "putenv", "use", "filterwarnings", "simplefilter", "set_start_method"}
)
"""Names with which code may change what a later import does or shows."""
_HARMLESS = {
    "os": ("path", "listdir", "getcwd", "sep", "walk"),
    "sys": ("version", "version_info", "platform"),
}
"""What code may read of these."""


_MATPLOTLIB = re.compile(r"^%(?:matplotlib|config InlineBackend)\b.*$", re.MULTILINE)
"""Magics that change no import."""


class Lifted(msgspec.Struct, frozen=True):
    """``cells``: all cells, with their new sources. ``first``: the cell that has the imports; ""
    if none moves. ``is_new``: it did not exist. ``moved``: cells that lose an import, with its
    code. ``stay``: cells that keep one below the first cell, with the reason."""

    cells: tuple[Cell, ...]
    first: str = ""
    is_new: bool = False
    moved: tuple[tuple[str, str], ...] = ()
    stay: tuple[tuple[str, str], ...] = ()


def with_imports_on_top(cells: Sequence[Cell]) -> Lifted:
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    names = [names_of(cell.source) for cell in code]
    if not code or not all(one.known for one in names):
        return Lifted(tuple(cells))
    top = _Code(code[0])
    head = top.leading()
    lines = [top.text(node) for node in head]
    target: list[str] = []
    moved: list[tuple[str, str]] = []
    stay: list[tuple[str, str]] = []
    sources: dict[str, str | None] = {}
    above: list[str] = []
    settled = False
    for number, cell in enumerate(code):
        one = top if number == 0 else _Code(cell)
        taken: list[Import] = []
        for node in one.body:
            if number == 0 and node in head:
                continue
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_fixed(node):
                why = _stays(node, one, cell, names, number, settled, above)
                if why:
                    stay.append((cell.cell_id, why))
                else:
                    taken.append(node)
            settled = settled or _settles(node)
        settled = settled or not one.is_plain
        above.append(cell.source)
        if not taken:
            continue
        left = one.without(taken)
        # Comments of a cell that has nothing else go along.
        whole = not _has_code(left) and not cell.shows
        texts = [cell.source.strip("\n")] if whole else [one.text(node) for node in taken]
        target += [text for text in texts if text not in (*lines, *target)]
        sources[cell.cell_id] = None if whole else left
        moved += [(cell.cell_id, one.text(node)) for node in taken]
    if not moved:
        return Lifted(tuple(cells), stay=tuple(stay))
    if head:
        base = Cell(code[0].cell_id, "code", sources.get(code[0].cell_id) or code[0].source)
        sources[base.cell_id] = _Code(base).with_below_leading(target)
        return Lifted(_put(cells, sources), code[0].cell_id, False, tuple(moved), tuple(stay))
    text = "\n".join(target)
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
    new = Cell(f"imports-{mark}", "code", text)
    kept = list(_put(cells, sources))
    kept.insert(_below_title(kept), new)
    return Lifted(tuple(kept), new.cell_id, True, tuple(moved), tuple(stay))


class _Code:
    """The statements of a cell at its top level; none if it has magics, or is too long."""

    def __init__(self, cell: Cell) -> None:
        code = _MATPLOTLIB.sub("pass", cell.source)
        found = parse(code, PARSED)
        self.is_plain = found is not None and found[0] == code
        self.body = found[1].body if found is not None and self.is_plain else []
        self._lines = cell.source.split("\n")

    def leading(self) -> list[ast.stmt]:
        """The imports that the cell begins with."""
        found: list[ast.stmt] = []
        for node in self.body:
            if isinstance(node, ast.Pass) and not found:
                continue
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or not self.is_alone(node):
                break
            found.append(node)
        return found

    def text(self, node: ast.stmt) -> str:
        return "\n".join(self._lines[node.lineno - 1 : node.end_lineno])

    def is_alone(self, node: ast.stmt) -> bool:
        """Whether no other statement is in its lines."""
        mine = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        return not any(
            other is not node
            and (other.lineno in mine or (other.end_lineno or other.lineno) in mine)
            for other in self.body
        )

    def shows_another(self, node: ast.stmt) -> bool:
        """Whether a value above it would become the cell's last one, which is shown."""
        at = self.body.index(node)
        rest = self.body[at + 1 :]
        above = [one for one in self.body[:at] if not isinstance(one, (ast.Import, ast.ImportFrom))]
        only_imports = all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in rest)
        return only_imports and bool(above) and _is_shown(above[-1])

    def without(self, nodes: Sequence[ast.stmt]) -> str:
        gone = {line for n in nodes for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)}
        kept = [line for number, line in enumerate(self._lines, 1) if number not in gone]
        return "\n".join(kept).strip("\n")

    def with_below_leading(self, texts: Sequence[str]) -> str:
        """With these lines below the imports that it begins with."""
        end = self.leading()[-1].end_lineno or 0
        return "\n".join([*self._lines[:end], *texts, *self._lines[end:]])


def _stays(
    node: Import,
    code: _Code,
    cell: Cell,
    names: Sequence[Names],
    number: int,
    settled: bool,
    above: Sequence[str],
) -> str:
    """Why an import does not move; "" if it does."""
    bound = [one.asname or one.name.partition(".")[0] for one in node.names]
    module = (node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name).split(
        "."
    )[0]
    if settled:
        return "the code above it may change how it is imported"
    if cell.failed:
        return "its cell failed"
    if not code.is_alone(node):
        return "its line has other code"
    if code.shows_another(node):
        return "the cell would show another value"
    if any(f"{module}.py" in source for source in above):
        return f"a cell above names `{module}.py`"
    for name in bound:
        if hasattr(builtins, name):
            return f"`{name}` is also a name of Python"
        mine = names[number].same.get(name)
        for one in names:
            if (name in one.binds or name in one.deletes) and one.same.get(name) != mine:
                return f"`{name}` is also something else"
        if mine is None or name in names[number].functions:
            return f"`{name}` is also something else"
    return ""


def _is_shown(node: ast.stmt) -> bool:
    """Whether IPython shows it at the end of a cell."""
    if not isinstance(node, ast.Expr):
        return False
    call = node.value.func if isinstance(node.value, ast.Call) else None
    return not (isinstance(call, ast.Name) and call.id == "print")


def _is_fixed(node: Import) -> bool:
    """Imports that mean something else in another cell."""
    if not isinstance(node, ast.ImportFrom):
        return False
    return node.level > 0 or node.module == "__future__" or node.names[0].name == "*"


def _settles(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return False
    return any(map(_settles_part, _parts(node)))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """All but ``os.path`` and the like."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if (
            isinstance(one, ast.Attribute)
            and isinstance(one.value, ast.Name)
            and one.attr in _HARMLESS.get(one.value.id, ())
        ):
            continue
        yield one
        waiting.extend(ast.iter_child_nodes(one))


def _settles_part(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return node.id in _SETTLES
    return isinstance(node, ast.Attribute) and node.attr in _SETTLES


def _has_code(source: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in source.split("\n"))


def _put(cells: Sequence[Cell], sources: dict[str, str | None]) -> tuple[Cell, ...]:
    """With the new sources; a cell whose source is None has lost all, and goes."""
    new = ((cell, sources.get(cell.cell_id, cell.source)) for cell in cells)
    return tuple(structs.replace(cell, source=text) for cell, text in new if text is not None)


def _below_title(cells: Sequence[Cell]) -> int:
    """Where a new first cell goes."""
    if not cells or cells[0].cell_type == "code":
        return 0
    return int(cells[0].source.lstrip().startswith("# "))

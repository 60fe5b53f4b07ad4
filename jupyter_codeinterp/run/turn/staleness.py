"""Cells whose inputs have changed since they ran. Pure; see ``find``."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec

from ...base.sentences import Sentence
from ...cell_code.cell_names import PARSED, Function, Names, changed_by, is_plain, names_of
from ...cell_code.parsing import base, parse

# -------------------------------------------------------------------------------------------------
# The names that a statement reads and writes, with the columns of tables.

_ABOUT_ALL = frozenset(
    ("T", "axes", "columns", "dtypes", "empty", "iloc", "index", "loc", "shape", "values")
)
"""Attributes of a table that depend on all its columns."""
_ADDS = frozenset(("append", "extend", "insert", "pop", "popleft", "popitem", "appendleft"))
"""Methods that change their object once more with each call."""

Columns = dict[str, frozenset[str] | None]
"""Columns by name of the table; None for the whole object."""


class Effects(msgspec.Struct, frozen=True):
    """``code``: the statement. ``adds``: the names that it changes further with each run, as
    ``x += 1`` does; other statements that change their own input give the same when they run
    twice, as ``df = df.dropna()`` does."""

    code: str
    names: Names
    reads: Columns
    changes: Columns
    adds: frozenset[str]


@lru_cache(maxsize=2_000)
def statements(source: str) -> tuple[Effects, ...]:
    """The cell's top-level statements; empty if the cell cannot be parsed."""
    found = parse(source, PARSED)
    return tuple(map(_effects, found[1].body)) if found else ()


def _effects(statement: ast.stmt) -> Effects:
    code = ast.unparse(statement)
    names = names_of(code)
    read, changed = _columns(statement)
    reads = {name: read.get(name) for name in names.reads}
    changes = {name: changed.get(name) for name in names.changes}
    return Effects(code, names, reads, changes, frozenset(_adds(statement)))


def _columns(statement: ast.stmt) -> tuple[Columns, Columns]:
    """The columns read and changed, for names of which only columns are used."""
    read: Columns = {}
    changed: Columns = {}
    parts = {
        id(one.value): one
        for one in ast.walk(statement)
        if isinstance(one, (ast.Attribute, ast.Subscript)) and _column(one) is not None
    }
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            for name in changed_by(node, unused=True):
                _add(changed, name, None)
            # ``df.sum()`` calls a method, not a column.
            parts.pop(id(getattr(node.func, "value", None)), None)
        elif isinstance(node, ast.AugAssign):
            target = node.target
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                _add(read, target.value.id, _column(target))
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            if not isinstance(node.ctx, ast.Load):
                _add(changed, base(node), _column(node))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            part = parts.get(id(node))
            if part is None:
                _add(read, node.id, None)
            else:
                loads = isinstance(part.ctx, ast.Load)
                _add(read, node.id, _column(part) if loads else frozenset())
    return read, changed


def _add(to: Columns, name: str, columns: frozenset[str] | None) -> None:
    known = to.get(name, frozenset())
    to[name] = None if known is None or columns is None else known | columns


def _column(node: ast.AST) -> frozenset[str] | None:
    """The columns in ``df["a"]``, ``df[["a", "b"]]`` and ``df.a``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        whole = node.attr in _ABOUT_ALL or not isinstance(node.ctx, ast.Load)
        return None if whole else frozenset((node.attr,))
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return None
    keys = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
    texts = [one.value for one in keys if isinstance(one, ast.Constant)]
    found = frozenset(text for text in texts if isinstance(text, str))
    return found if len(found) == len(keys) else None


def _adds(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.AugAssign):
            yield base(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            own = {ast.unparse(target) for target in node.targets}
            for part in (node.value.left, node.value.right):
                if ast.unparse(part) in own:
                    yield base(part)
        elif isinstance(node, ast.Attribute) and node.attr in _ADDS:
            yield base(node)


# -------------------------------------------------------------------------------------------------
# The runs of a kernel's cells, and the names that each run read and wrote.
#
# Real values are not examined. The value of a name is a digest of the statement that made it and of
# the values that the statement read: the same code on the same values makes the same value.

MOST_RUNS = 2_000
"""Cells remembered for a kernel: some 4 kB each."""

Given = dict[tuple[str, frozenset[str] | None], str]
"""The values that a run read from other cells, by name and columns."""


class LastRun(msgspec.Struct, frozen=True):
    """A cell's last run. ``number`` is its execution count. ``times`` counts its runs."""

    number: int
    source: str
    given: Given
    writes: frozenset[str]
    times: int


class Values:
    """The names of a kernel, with their values. ``owner`` is the cell that wrote a name last."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}
        self._now: dict[str, dict[str, str]] = {}
        """Values by name and column; "" for the object itself."""
        self._functions: dict[str, Function] = {}
        self._modules: set[str] = set()

    def run(self, cell_id: str, source: str, before: Given) -> tuple[Given, frozenset[str]]:
        """The values that a run of the cell reads, and the names that it writes. ``before``: the
        values that its last run read; a cell that changes its own input reads them again, unless
        it adds to the input with each run."""
        known = {name: value for (name, _), value in reversed(before.items())}
        given: Given = {}
        written: set[str] = set()
        for effects in statements(source):
            reads = self._reads(effects)
            made = effects.code
            for name in sorted(reads):
                columns = reads[name]
                value = self.value(name, columns)
                if name not in written:
                    if self.owner.get(name) == cell_id and name not in effects.adds:
                        value = before.get((name, columns), known.get(name, value))
                    given[name, columns] = value
                made = _digest(f"{made} {name} {value}")
            written |= self._write(effects, reads, made)
        self.owner.update(dict.fromkeys(written, cell_id))
        return given, frozenset(written)

    def value(self, name: str, columns: frozenset[str] | None = None) -> str:
        """The value of an object, or of the object with these columns; "" if no cell wrote it."""
        now = self._now.get(name, {})
        parts = sorted(now) if columns is None else ["", *sorted(columns)]
        known = [f"{part} {now[part]}" for part in parts if part in now]
        return _digest(" ".join(known)) if known else ""

    def _reads(self, effects: Effects) -> Columns:
        """The names that a statement reads, and those that functions called by it read."""
        reads = dict(effects.reads)
        waiting, seen = list(reads), set[str]()
        while waiting:
            name = waiting.pop()
            function = self._functions.get(name)
            if function is not None and name not in seen:
                seen.add(name)
                reads.update(dict.fromkeys(function.reads))
                waiting.extend(function.reads)
        return reads

    def _write(self, effects: Effects, reads: Columns, made: str) -> set[str]:
        changes = dict(effects.changes)
        for name in reads:
            if name in self._functions:
                changes.update(dict.fromkeys(self._functions[name].changes))
        for name in effects.names.binds:
            imported = effects.names.imports.get(name)
            self._now[name] = {"": made if imported is None else _digest(imported)}
            self._functions.pop(name, None)
            self._modules.discard(name)
        for name in effects.names.deletes:
            self._now.pop(name, None)
        self._functions.update(effects.names.functions)
        self._modules.update(effects.names.imports)
        changed = changes.keys() - self._modules
        for name in changed:
            columns = changes[name]
            now = self._now.setdefault(name, {}) if columns else {}
            now.update(dict.fromkeys(columns or [""], made))
            self._now[name] = now
        return {*effects.names.binds, *changed}


class Runs:
    """The runs of one start of one kernel."""

    def __init__(self) -> None:
        self.last: dict[str, LastRun] = {}
        """The last runs by cell, in the order of their reports."""
        self._numbers: set[int] = set()
        self._values = Values()

    def ran(self, cell_id: str, number: int, source: str) -> None:
        """The kernel has run a cell, with this execution count. A count that another run had
        shows that the kernel was restarted: all earlier runs are forgotten."""
        if number == 1 or number in self._numbers:
            self.last.clear()
            self._numbers.clear()
            self._values = Values()
        self._numbers.add(number)
        before = self.last.pop(cell_id, LastRun(0, source, {}, frozenset(), 0))
        if before.number > number:  # A late report of an earlier run.
            self.last[cell_id] = before
            return
        given, written = self._values.run(cell_id, source, before.given)
        self.last[cell_id] = LastRun(number, source, given, written, before.times + 1)
        if len(self.last) > MOST_RUNS:
            del self.last[next(iter(self.last))]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


# -------------------------------------------------------------------------------------------------
# Finds cells whose result would differ in a run of the notebook from the top.
#
# The cells run again from the top, with digests (``Values``) in place of real values. A cell is
# stale if it then reads other values than in its last run. See docs/stale.md.

AGAIN = Sentence("This ran {times} times, and each run changed `{name}`.")
EDITED = Sentence("This cell was edited after it ran.")
MOST_TIMES = 20
"""The most simulated runs of a cell that ran more than once."""


class NotebookCell(msgspec.Struct, frozen=True):
    """A code cell of the notebook, with its source as it is now."""

    cell_id: str
    source: str


def find(cells: Sequence[NotebookCell], runs: Runs) -> dict[str, Sentence]:
    """The reasons of stale cells, by id. ``cells`` are in the order of the notebook."""
    once, repeated = _Again(cells, runs, 1), _Again(cells, runs, MOST_TIMES)
    found: dict[str, Sentence] = {}
    for cell in cells:
        run = runs.last.get(cell.cell_id)
        if run is None:
            continue
        if not same_code(cell.source, run.source):
            found[cell.cell_id] = EDITED
        elif name := once.differs(cell.cell_id, run):
            adds = {added for one in statements(run.source) for added in one.adds}
            if run.times > 1 and name in adds:
                found[cell.cell_id] = Sentence(AGAIN, times=run.times, name=name)
            elif repeated.differs(cell.cell_id, run):
                found[cell.cell_id] = _reason(name, run, once.origin(cell.cell_id, name), runs)
    return found


class _Again:
    """A simulated run from the top, each cell as often as it ran, at most ``most`` times."""

    def __init__(self, cells: Sequence[NotebookCell], runs: Runs, most: int) -> None:
        self._values = Values()
        self._given: dict[str, Given] = {}
        self._origins: dict[str, dict[str, str]] = {}
        known = {run.source for run in runs.last.values()}
        for cell in cells:
            run = runs.last.get(cell.cell_id)
            # A cell that was cut and pasted has a new id and the same source.
            if run is None and cell.source not in known:
                continue
            given: Given = {}
            self._origins[cell.cell_id] = dict(self._values.owner)
            source = run.source if run is not None else cell.source
            adds = any(one.adds for one in statements(source))
            for _ in range(min(run.times, most) if run is not None and adds else 1):
                given, _ = self._values.run(cell.cell_id, source, given)
            self._given[cell.cell_id] = given

    def differs(self, cell_id: str, run: LastRun) -> str:
        """The first name with another value than in the last run; "" if there is none."""
        given = self._given[cell_id]
        for (name, columns), value in run.given.items():
            if given.get((name, columns), "") != value and not self._is_below(cell_id, name, value):
                return name
        return ""

    def _is_below(self, cell_id: str, name: str, value: str) -> bool:
        """Whether cells below alone write the name, with this value."""
        return name not in self._origins[cell_id] and self._values.value(name) == value

    def origin(self, cell_id: str, name: str) -> str:
        """The cell that wrote the name before this one; "" if there is none."""
        below = self._values.owner.get(name, "")
        return self._origins[cell_id].get(name, below)


def _reason(name: str, run: LastRun, origin: str, runs: Runs) -> Sentence:
    wrote = runs.last.get(origin)
    if wrote is None:
        gone = [one.number for one in runs.last.values() if name in one.writes]
        if not gone:
            return Sentence()
        words = "[{number}], which set `{name}`, was deleted."
        return Sentence(words, number=max(gone), name=name)
    if wrote.number > run.number:
        words = "`{name}` was changed by [{number}] after this ran."
        return Sentence(words, name=name, number=wrote.number)
    words = "`{name}` comes from [{number}], which is out of date."
    return Sentence(words, name=name, number=wrote.number)


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in comments and spaces alone."""
    if one.strip() == other.strip():
        return True
    # In a magic every character counts.
    if not (is_plain(one) and is_plain(other)):
        return False
    return [part.code for part in statements(one)] == [part.code for part in statements(other)]


# -------------------------------------------------------------------------------------------------
# The runs in all kernels, and the cells of the notebooks that windows have open.

MOST_KEPT = 50
"""Kernels, and notebooks. The one used longest ago is forgotten."""

T = TypeVar("T")


class Watch:
    def __init__(self) -> None:
        self._kernels: dict[str, Runs] = {}
        self._notebooks: dict[str, list[NotebookCell]] = {}

    def ran(self, kernel_id: str, cell_id: str, number: int, source: str) -> None:
        """A kernel has begun the run with this execution count."""
        runs = self._kernels.get(kernel_id) or Runs()
        _keep(self._kernels, kernel_id, runs)
        runs.ran(cell_id, number, source)

    def report(self, path: str, order: Sequence[str], sources: Mapping[str, str]) -> None:
        """The code cells of a notebook are now these. ``sources`` has at least those that differ
        from the last report."""
        known = {cell.cell_id: cell.source for cell in self._notebooks.get(path, ())}
        known.update(sources)
        cells = [NotebookCell(cell_id, known.get(cell_id, "")) for cell_id in order]
        _keep(self._notebooks, path, cells)

    def put(self, path: str, cell: NotebookCell, above: Sequence[str]) -> None:
        """The agent has written a cell. ``above`` names cells above it, the nearest first."""
        others = [one for one in self._notebooks.get(path, ()) if one.cell_id != cell.cell_id]
        places = {one.cell_id: place for place, one in enumerate(others)}
        here = next((places[one] + 1 for one in above if one in places), len(others))
        _keep(self._notebooks, path, [*others[:here], cell, *others[here:]])

    def knows(self, path: str) -> bool:
        """Whether a window has reported the notebook."""
        return path in self._notebooks

    def stale(self, path: str, kernel_id: str) -> dict[str, Sentence]:
        """Why cells of a notebook are stale, by id."""
        runs = self._kernels.get(kernel_id)
        return find(self._notebooks.get(path, ()), runs) if runs is not None else {}


def _keep(kept: dict[str, T], key: str, value: T) -> None:
    """Store the value as the newest of at most ``MOST_KEPT``."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST_KEPT:
        del kept[next(iter(kept))]

"""What the cells of a kernel ran, and what each run read and wrote.

Nobody looks at values. The value of a name is a digest of the statement that made it and of the
values which that statement read: the same code on the same values makes the same value.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from ..cell_code.cell_names import PARSED, Function
from ..cell_code.parsing import parse
from .effects import Effects, effects_of

MOST = 2_000
"""Cells that a kernel's runs remember: some 4 kB each."""
ANY = -1
"""In place of the number of a statement."""


class Run(msgspec.Struct, frozen=True):
    """A cell's last run. ``number`` is its execution count. ``given`` has the values that it read
    of other cells, by the number of the statement and the name. ``times`` counts its runs."""

    number: int
    source: str
    given: dict[tuple[int, str], str]
    writes: frozenset[str]
    times: int


class Values:
    """The names of a kernel, with their values. ``owner`` is the cell that wrote a name last."""

    def __init__(self) -> None:
        self.owner: dict[str, str] = {}
        self._now: dict[str, dict[str, str]] = {}
        """By name and column; "" for the object itself."""
        self._functions: dict[str, Function] = {}
        self._modules: set[str] = set()

    def copy(self) -> Values:
        made = Values()
        made.owner, made._functions = dict(self.owner), dict(self._functions)
        made._now = {name: dict(columns) for name, columns in self._now.items()}
        made._modules = set(self._modules)
        return made

    def run(
        self, cell_id: str, source: str, before: Mapping[tuple[int, str], str]
    ) -> tuple[dict[tuple[int, str], str], frozenset[str]]:
        """What a run of the cell reads and writes. ``before``: what its last run read. A cell that
        changes its own input takes it from there, unless it adds to it with each run."""
        given: dict[tuple[int, str], str] = {}
        written: set[str] = set()
        for place, effects in enumerate(statements(source)):
            reads = self._reads(effects)
            made = effects.code
            for name in sorted(reads):
                value = self.value(name, reads[name])
                if name not in written:
                    own = self.owner.get(name) == cell_id and name not in effects.adds
                    if own:
                        value = before.get((place, name), before.get((ANY, name), value))
                    given[place, name] = value
                made = _digest(f"{made} {name} {value}")
            written |= self._write(effects, reads, made)
        self.owner.update(dict.fromkeys(written, cell_id))
        return given, frozenset(written)

    def value(self, name: str, columns: frozenset[str] | None = None) -> str:
        """Of an object, or of it and these columns; "" for a name that no cell has written."""
        now = self._now.get(name, {})
        parts = sorted(now) if columns is None else ["", *sorted(columns)]
        known = [f"{part} {now[part]}" for part in parts if part in now]
        return _digest(" ".join(known)) if known else ""

    def _reads(self, effects: Effects) -> dict[str, frozenset[str] | None]:
        """With what the functions read that it may call."""
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

    def _write(
        self, effects: Effects, reads: Mapping[str, frozenset[str] | None], made: str
    ) -> set[str]:
        changes = dict(effects.changes)
        for name in reads:
            if name in self._functions:
                changes.update(dict.fromkeys(self._functions[name].changes))
        for name in effects.binds:
            same = effects.names.same.get(name)
            self._now[name] = {"": made if same is None else _digest(same)}
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
        return {*effects.binds, *changed}


class Runs:
    """The runs of one start of one kernel, in the order of their execution counts."""

    def __init__(self) -> None:
        self.last: dict[str, Run] = {}
        """By cell."""
        self._cells: dict[int, str] = {}
        """By execution count."""
        self._values = Values()

    def ran(self, cell_id: str, number: int, source: str) -> None:
        """The kernel has run a cell. A count that another run had says that the kernel was
        restarted: all earlier runs are forgotten. The news of a run may come twice."""
        known = self._cells.get(number)
        if known is not None:
            run = self.last.get(known)
            news = (cell_id, number, source)
            if run is not None and (known, run.number, run.source) == news:
                return
            self.restarted()
        elif number == 1 and self._cells:
            self.restarted()
        self._cells[number] = cell_id
        before = self.last.get(cell_id)
        if before is not None and before.number > number:
            return  # Late news of an earlier run.
        known_before = _given_before(before, source)
        given, written = self._values.run(cell_id, source, known_before)
        self.last.pop(cell_id, None)
        times = before.times + 1 if before is not None else 1
        self.last[cell_id] = Run(number, source, given, written, times)
        if len(self.last) > MOST:
            self._cells.pop(self.last.pop(next(iter(self.last))).number, None)

    def copy(self) -> Runs:
        """As they are now."""
        made = Runs()
        made.last, made._cells = dict(self.last), dict(self._cells)
        made._values = self._values.copy()
        return made

    def restarted(self) -> None:
        self.last.clear()
        self._cells.clear()
        self._values = Values()


def _given_before(before: Run | None, source: str) -> dict[tuple[int, str], str]:
    if before is None:
        return {}
    found = {(ANY, name): value for (_, name), value in reversed(before.given.items())}
    return {**found, **before.given} if before.source == source else found


@lru_cache(maxsize=2_000)
def statements(source: str) -> tuple[Effects, ...]:
    """Of the cell's top; none of a cell that cannot be read."""
    found = parse(source, PARSED)
    return tuple(effects_of(ast.unparse(one)) for one in found[1].body) if found else ()


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()

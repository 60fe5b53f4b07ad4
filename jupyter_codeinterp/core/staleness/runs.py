"""What the cells of a kernel ran, and what each run read and wrote.

Nobody looks at values. The value of a name is a digest of the statement that made it and of the
values which that statement read: the same code on the same values makes the same value.
"""

from __future__ import annotations

import hashlib

import msgspec

from ..cell_code.cell_names import Function
from .effects import Columns, Effects, statements

MOST = 2_000
"""Cells that a kernel's runs remember: some 4 kB each."""

Given = dict[tuple[str, frozenset[str] | None], str]
"""The values that a run read of other cells, by name and columns."""


class Run(msgspec.Struct, frozen=True):
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
        """By name and column; "" for the object itself."""
        self._functions: dict[str, Function] = {}
        self._modules: set[str] = set()

    def run(self, cell_id: str, source: str, before: Given) -> tuple[Given, frozenset[str]]:
        """What a run of the cell reads and writes. ``before``: what its last run read. A cell that
        changes its own input takes it from there, unless it adds to it with each run."""
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
        """Of an object, or of it and these columns; "" for a name that no cell has written."""
        now = self._now.get(name, {})
        parts = sorted(now) if columns is None else ["", *sorted(columns)]
        known = [f"{part} {now[part]}" for part in parts if part in now]
        return _digest(" ".join(known)) if known else ""

    def _reads(self, effects: Effects) -> Columns:
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

    def _write(self, effects: Effects, reads: Columns, made: str) -> set[str]:
        changes = dict(effects.changes)
        for name in reads:
            if name in self._functions:
                changes.update(dict.fromkeys(self._functions[name].changes))
        for name in effects.names.binds:
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
        return {*effects.names.binds, *changed}


class Runs:
    """The runs of one start of one kernel."""

    def __init__(self) -> None:
        self.last: dict[str, Run] = {}
        """By cell, in the order of their news."""
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
        before = self.last.pop(cell_id, Run(0, source, {}, frozenset(), 0))
        if before.number > number:  # Late news of an earlier run.
            self.last[cell_id] = before
            return
        given, written = self._values.run(cell_id, source, before.given)
        self.last[cell_id] = Run(number, source, given, written, before.times + 1)
        if len(self.last) > MOST:
            del self.last[next(iter(self.last))]


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()

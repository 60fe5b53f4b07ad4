"""What the cells of a kernel ran, and what each run read and wrote."""

from __future__ import annotations

import msgspec

from ..cell_code.cell_names import Function, Names, names_of

MOST = 2_000
"""Cells that a kernel's runs remember: some 4 kB each."""


class Run(msgspec.Struct, frozen=True):
    """A cell's last run. ``number`` is its execution count. ``reads`` gives for each name the
    function that reads it, "" for the cell itself."""

    number: int
    source: str
    reads: dict[str, str]
    writes: frozenset[str]


class Write(msgspec.Struct, frozen=True):
    """Numbers of the runs in which a cell first and last wrote a name."""

    first: int
    last: int


class Runs:
    """The runs of one start of one kernel, in the order of their execution counts."""

    def __init__(self) -> None:
        self.last: dict[str, Run] = {}
        """By cell."""
        self.writes: dict[str, dict[str, Write]] = {}
        """By name and cell."""
        self._cells: dict[int, str] = {}
        """By execution count."""
        self._functions: dict[str, Function] = {}
        self._same: dict[str, str] = {}
        self._modules: set[str] = set()
        self._since: dict[str, int] = {}
        """By name: the run that gave it the value that it has now."""

    def ran(self, cell_id: str, number: int, source: str) -> None:
        """The kernel has run a cell. A count that another run had says that the kernel was
        restarted: all earlier runs are forgotten. The news of a run may come twice."""
        known = self._cells.get(number)
        if known is not None:
            run = self.last.get(known)
            if (
                known == cell_id
                and run is not None
                and (run.number, run.source) == (number, source)
            ):
                return
            self.restarted()
        elif number == 1 and self._cells:
            self.restarted()
        self._cells[number] = cell_id
        before = self.last.get(cell_id)
        if before is not None and before.number > number:
            return  # Late news of an earlier run.
        names = names_of(source)
        reads = self._reads(names)
        written = self._written(names, reads)
        self.last.pop(cell_id, None)
        self.last[cell_id] = Run(number, source, reads, names.binds | written)
        self._since.update(dict.fromkeys(written, number))
        for name in names.binds | written:
            cells, since = self.writes.setdefault(name, {}), self._since[name]
            first = cells[cell_id].first if cell_id in cells else since
            cells[cell_id] = Write(first, since)
        self._bound(names)
        if len(self.last) > MOST:
            self._forget(next(iter(self.last)))

    def copy(self) -> Runs:
        """As they are now."""
        made = Runs()
        made.last, made._cells = dict(self.last), dict(self._cells)
        made.writes = {name: dict(cells) for name, cells in self.writes.items()}
        made._functions, made._same = dict(self._functions), dict(self._same)
        made._modules, made._since = set(self._modules), dict(self._since)
        return made

    def restarted(self) -> None:
        for part in (self.last, self.writes, self._cells, self._functions, self._same):
            part.clear()
        self._modules.clear()
        self._since.clear()

    def _reads(self, names: Names) -> dict[str, str]:
        """What the run read, also in the functions that it may have called."""
        reads = dict.fromkeys(names.reads, "")
        waiting = [*names.reads, *names.functions] if names.reads else []
        seen: set[str] = set()
        while waiting:
            function = waiting.pop()
            known = names.functions.get(function) or self._functions.get(function)
            if function in seen or known is None:
                continue
            seen.add(function)
            for name in known.reads - names.binds:
                reads.setdefault(name, function)
            waiting.extend(known.reads)
        return reads

    def _written(self, names: Names, reads: dict[str, str]) -> frozenset[str]:
        """What differs after the run: no import or function that is as before."""
        same = {name for name, code in names.same.items() if self._same.get(name) == code}
        called = [self._functions[name] for name in reads if name in self._functions]
        changes = {name for function in called for name in function.changes}
        return (names.binds - same) | ((names.changes | changes) - self._modules)

    def _bound(self, names: Names) -> None:
        for name in names.binds:
            self._functions.pop(name, None)
            self._same.pop(name, None)
            self._modules.discard(name)
        self._functions.update(names.functions)
        self._same.update(names.same)
        self._modules.update(names.same.keys() - names.functions.keys())

    def _forget(self, cell_id: str) -> None:
        run = self.last.pop(cell_id)
        self._cells.pop(run.number, None)
        for name in run.writes:
            self.writes.get(name, {}).pop(cell_id, None)

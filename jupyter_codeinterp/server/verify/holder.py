"""Runs the cells behind an answer on changed data, to see how far its figures move."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...core.errors import CommandError
from ...core.verify.holding import Followed, Holding, Outputs, moved, places
from ...core.verify.variations import Variation, variations
from ...core.verify.verification import CodeCell
from .notebook import Book, read
from .runs import Run, Runs, cleaned_up, copied
from .tables import TABLES, TableFile, read_table
from .verifier import Verifier

MOST_TABLE = 20_000_000
"""Bytes of a table that is changed."""
OTHER_DATA = (".parquet", ".xlsx", ".xls", ".feather", ".db", ".sqlite")
NAMED = {"shuffled": "shuffled rows", "doubled": "doubled rows"}


class Holder(Runs["HoldRun"]):
    def __init__(self, verifier: Verifier) -> None:
        super().__init__()
        self._verifier = verifier

    async def plan(self, path: str, key: str, figures: Sequence[Followed]) -> Holding:
        """What a run would do. Raises CommandError as ``start``."""
        self._verifier.check_allowed()
        run = await self._planned(path, key, figures)
        return run.now

    async def start(self, path: str, key: str, figures: Sequence[Followed]) -> Holding:
        """Begin. Raises CommandError ``not_allowed``, ``busy``, ``in_folder``, ``no_table`` (no
        file can be changed), ``malformed`` or as ``read``."""
        self._verifier.check_allowed()
        self.check(path)
        run = await self._planned(path, key, figures)
        self.check(path)
        self.add(path, run)
        run.start()
        return run.now

    async def _planned(self, path: str, key: str, figures: Sequence[Followed]) -> HoldRun:
        book = await read(self._verifier.contents, self._verifier.kernels, path)
        wanted = {figure.cell_id for figure in figures}
        last = max((n for n, cell in enumerate(book.cells) if cell.cell_id in wanted), default=-1)
        if last < 0:
            raise CommandError("malformed", "The notebook no longer has the cells of this answer.")
        cells = book.cells[: last + 1]
        folder = self._verifier.folder(path)
        found, others = await asyncio.to_thread(_data, folder, cells)
        if not found:
            words = (
                "These cells name no CSV or JSON table next to the notebook that could be changed."
            )
            raise CommandError("no_table", words)
        seconds = _seconds(self._verifier.of(path), cells)
        return HoldRun(self._verifier, book, key, figures, cells, folder, found, others, seconds)


class HoldRun(Run[Holding]):
    def __init__(
        self,
        verifier: Verifier,
        book: Book,
        key: str,
        figures: Sequence[Followed],
        cells: Sequence[CodeCell],
        folder: Path,
        tables: dict[str, TableFile],
        others: Iterable[str],
        seconds: float,
    ) -> None:
        self._verifier = verifier
        self._book = book
        self._figures = figures
        self._cells = cells
        self._folder = folder
        self._tables = tables
        self._variations = variations([file.table for file in tables.values()])
        runs = len(self._variations)
        super().__init__(
            Holding(
                book.path,
                key,
                "planned",
                runs,
                len(cells),
                round(seconds * (runs + 1), 1),
                tuple(tables),
                tuple(others),
            )
        )

    def scrubbed(self, words: str) -> str:
        return self._verifier.scrub(words)

    def start(self) -> None:
        self.show(state="running")
        self.begin(self._work())

    async def _work(self) -> None:
        saved: Outputs = {cell.cell_id: cell.outputs for cell in self._cells}
        base = await self._run(None)
        if isinstance(base, str):
            raise CommandError("failed", f"On the unchanged data, {base}")
        # Where the notebook shows something else by now, its figures cannot be followed.
        followed = places(self._figures, saved)
        runs: list[Outputs] = []
        failed: list[str] = []
        for number, variation in enumerate(self._variations, 1):
            ran = await self._run(variation)
            if isinstance(ran, str):
                failed.append(f"{_named(variation)}: {ran}")
            else:
                runs.append(ran)
            found = [moved(place, text, base, runs) for place, text in followed.items()]
            known = tuple(one for one in found if one is not None)
            self.show(
                at=number,
                figures=known,
                failed=tuple(failed),
                left_out=len(self._figures) - len(known),
            )

    async def _run(self, variation: Variation | None) -> Outputs | str:
        """The cells' outputs; words if a cell failed."""
        from ...adapters.kernels.fresh import FreshKernel  # imports nbclient

        copy = await copied(self._folder)
        sources = [cell.source for cell in self._cells]
        kernel = FreshKernel(
            self._verifier.kernel_manager, self._book.kernel, {"cwd": str(copy)}, sources
        )
        self.kernel = kernel
        outputs: dict[str, Sequence[Any]] = {}
        try:
            if variation is not None:
                await asyncio.to_thread(_change, copy, self._tables, variation)
            await kernel.start(self._verifier.timeout)
            for at, cell in enumerate(self._cells):
                ran = await kernel.run(at)
                if ran.status != "ok" and "raises-exception" not in cell.tags:
                    return f"cell {cell.number} failed."
                outputs[cell.cell_id] = _joined(ran.outputs)
        finally:
            await asyncio.shield(cleaned_up(kernel, copy))
        return outputs


def _joined(outputs: Sequence[Any]) -> list[Any]:
    """Outputs as a notebook keeps them: neighbours of one stream are one output."""
    found: list[Any] = []
    for one in outputs:
        last = found[-1] if found else {}
        if one.get("output_type") == "stream" and last.get("name") == one.get("name"):
            found[-1] = {**last, "text": f"{last.get('text', '')}{one.get('text', '')}"}
        else:
            found.append(one)
    return found


def _data(folder: Path, cells: Sequence[CodeCell]) -> tuple[dict[str, TableFile], list[str]]:
    """Tables that the cells name, by path in the folder, and other data files that they name."""
    code = "\n".join(cell.source for cell in cells)
    tables: dict[str, TableFile] = {}
    others: list[str] = []
    for file in sorted(folder.rglob("*"))[:2_000]:
        if file.name not in code or not file.is_file():
            continue
        name = file.relative_to(folder).as_posix()
        if file.suffix.lower() in TABLES and file.stat().st_size <= MOST_TABLE:
            table = read_table(file)
            if table is not None:
                tables[name] = table
                continue
        if file.suffix.lower() in (*TABLES, *OTHER_DATA):
            others.append(name)
    return tables, others


def _change(copy: Path, tables: dict[str, TableFile], variation: Variation) -> None:
    for name, table in tables.items():
        (copy / name).write_text(table.varied(variation), "utf-8")


def _seconds(verified: Any, cells: Sequence[CodeCell]) -> float:
    """The time of these cells in the last verification; 0.0 if unknown."""
    lines = verified.cells if verified is not None else ()
    wanted = {cell.cell_id for cell in cells}
    return float(sum(line.seconds for line in lines if line.cell_id in wanted))


def _named(variation: Variation) -> str:
    if variation.kind == "left_out":
        return f"5 % of the rows left out ({variation.number})"
    if variation.kind == "outlier":
        return f"without an outlier in numeric column {variation.number + 1}"
    return NAMED[variation.kind]

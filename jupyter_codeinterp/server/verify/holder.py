"""Runs the cells behind an answer on changed data, to see how far its figures move."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...core.errors import CommandError, KernelError
from ...core.verify.holding import Followed, Holding, Outputs, Ran, moved, places
from ...core.verify.variations import Variation, share
from ...core.verify.verification import CodeCell
from .inputs import Inputs, found_in
from .notebook import Book, read
from .runs import Run, Runs, cleaned_up, copied
from .verifier import Verifier

NAMED = {"twice": "all rows twice", "shuffled": "shuffled rows", "doubled": "doubled rows"}


class CopyingKernel(Protocol):
    async def copies(self, names: Sequence[str]) -> dict[str, Any]: ...


class Holder(Runs["HoldRun"]):
    def __init__(self, verifier: Verifier, kernel: Callable[[str], CopyingKernel]) -> None:
        """``kernel`` takes the notebook's path and gives the person's kernel, which is asked for
        copies of variables and for nothing else."""
        super().__init__()
        self._verifier = verifier
        self._kernel = kernel

    async def plan(self, path: str, key: str, figures: Sequence[Followed]) -> Holding:
        """What a run would do. Raises CommandError as ``start``."""
        self._verifier.check_allowed()
        run = await self._planned(path, key, figures)
        return run.now

    async def start(self, path: str, key: str, figures: Sequence[Followed]) -> Holding:
        """Begin. Raises CommandError ``not_allowed``, ``busy``, ``in_folder``, ``no_table``
        (nothing can be changed), ``malformed`` or as ``read``."""
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
        found = await asyncio.to_thread(found_in, folder, cells, book.language)
        if not found.anything:
            words = (
                "These cells name no CSV, JSON, Parquet or Excel table next to the notebook that "
                "could be changed, and use no variable that is in your kernel only."
            )
            raise CommandError("no_table", words)
        seconds = _seconds(self._verifier.of(path), cells)
        inputs, kernel = Inputs(found), self._kernel(path)
        return HoldRun(self._verifier, book, key, figures, cells, folder, inputs, kernel, seconds)


class HoldRun(Run[Holding]):
    def __init__(
        self,
        verifier: Verifier,
        book: Book,
        key: str,
        figures: Sequence[Followed],
        cells: Sequence[CodeCell],
        folder: Path,
        inputs: Inputs,
        kernel: CopyingKernel,
        seconds: float,
    ) -> None:
        self._verifier = verifier
        self._book = book
        self._figures = figures
        self._cells = cells
        self._folder = folder
        self._inputs = inputs
        self._persons = kernel
        self._seconds = seconds
        runs = len(inputs.variations())
        super().__init__(
            Holding(
                book.path,
                key,
                "planned",
                runs,
                len(cells),
                round(seconds * (runs + 1), 1),
                inputs.changed,
                inputs.unchanged,
                variables=inputs.variables,
            )
        )

    def scrubbed(self, words: str) -> str:
        return self._verifier.scrub(words)

    def start(self) -> None:
        self.show(state="running")
        self.begin(self._work())

    async def _work(self) -> None:
        saved: Outputs = {cell.cell_id: cell.outputs for cell in self._cells}
        inputs = self._inputs
        if inputs.found.variables:
            inputs.take(await self._copies())
        base = await self._run(None)
        variations = inputs.variations()
        self.show(
            runs=len(variations),
            changed=inputs.changed,
            unchanged=inputs.unchanged,
            variables=inputs.variables,
        )
        if isinstance(base, str):
            raise CommandError("failed", f"On the unchanged data, {base}")
        rows = inputs.rows()
        if not rows:
            raise CommandError("no_table", f"Nothing can be changed: {_all(inputs.unchanged)}.")
        # Where the notebook shows something else by now, its figures cannot be followed.
        followed = places(self._figures, saved)
        twice: Outputs | None = None
        runs: list[Ran] = []
        failed: list[str] = []
        for number, variation in enumerate(variations, 1):
            ran = await self._run(variation)
            if isinstance(ran, str):
                failed.append(f"{_named(variation)}: {ran}")
            elif variation.kind == "twice":
                twice = ran
            else:
                runs.append(Ran(ran, share(variation, rows)))
            found = [moved(place, text, base, runs, twice) for place, text in followed.items()]
            known = tuple(one for one in found if one is not None)
            self.show(
                at=number,
                figures=known,
                failed=tuple(failed),
                left_out=len(self._figures) - len(known),
            )

    async def _copies(self) -> dict[str, Any]:
        try:
            return await self._persons.copies(self._inputs.found.variables)
        except KernelError:
            # Without them a cell fails, and says which name it lacks.
            return {}

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
            await asyncio.to_thread(self._inputs.write, copy, variation)
            await kernel.start(self._verifier.timeout)
            expression = self._inputs.expression(copy, variation)
            if expression:
                answer = await kernel.value(expression)
                if variation is None:
                    self._inputs.learn(answer)
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


def _all(names: Sequence[str]) -> str:
    return ", ".join(names) or "no table is left"

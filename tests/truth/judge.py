"""Runs the programs in a real kernel, and counts what the checks find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from jupyter_codeinterp.core.checks.checks import Checks
from jupyter_codeinterp.core.checks.shared.kernel_report import seen_run
from jupyter_codeinterp.core.findings import Finding
from jupyter_codeinterp.core.hooks.hook import CellCode, CellOutputs
from tests.kernels import Person, kernel_manager, person_at, run, running_kernel
from tests.truth.programs import FILES, Program


@dataclass(frozen=True)
class Verdict:
    program: Program
    found: tuple[Finding, ...]

    @property
    def told(self) -> str:
        """Who hears of it: ``person``, ``model`` or nobody."""
        audiences = {finding.audience for finding in self.found}
        return "person" if "person" in audiences else "model" if audiences else ""


async def judge(programs: Iterable[Program]) -> list[Verdict]:
    async with (
        kernel_manager() as kernels,
        running_kernel(kernels) as (_, kernel, kernel_id),
        person_at(kernels, kernel_id) as person,
    ):
        # The first run installs what watches the others.
        await run(kernel, "import pandas")
        return [await _verdict(kernel, person, program) for program in programs]


async def _verdict(kernel: ZmqKernel, person: Person, program: Program) -> Verdict:
    await person.finished(person.run(f"%reset -f\n{program.setup}"))
    _, done = await run(kernel, program.source)
    if done.status != "ok":
        raise ValueError(f"{program.family}: {program.name} failed: {done.outputs[-1]}")
    cell = CellCode("memory.ipynb", "c1", program.source, files=FILES)
    outputs = CellOutputs("ok", done.outputs, done.execution_count, done.elapsed)
    seen = seen_run(cell, outputs, done.report, program.asked)
    return Verdict(program, await Checks().after_run(seen))


@dataclass(frozen=True)
class Row:
    """Of a family: how many wrong programs, how many of them are found, how many right ones, and
    of these how many are called wrong to the person, and to the model only."""

    family: str
    wrong: int
    found: int
    right: int
    person: int
    model: int


def row(family: str, verdicts: Iterable[Verdict]) -> Row:
    mine = [one for one in verdicts if family in ("all", one.program.family)]
    wrong = [one.told for one in mine if one.program.is_wrong]
    right = [one.told for one in mine if not one.program.is_wrong]
    found = len(wrong) - wrong.count("")
    return Row(family, len(wrong), found, len(right), right.count("person"), right.count("model"))

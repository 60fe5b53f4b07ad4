"""`features/checks` on programs of each family, and the watch that no program notices."""

from __future__ import annotations

import os
import re

import pytest

from jupyter_codeinterp.extensions import Extensions
from jupyter_codeinterp.kernel.zmq import ZmqKernel
from jupyter_codeinterp.run import reported
from jupyter_codeinterp.run.turn.hooks import CellCode, CellOutputs, findings
from tests.kernels import Person, kernel_manager, person_at, run, running_kernel
from tests.truth.programs import Program, programs

EVERY = programs()
STEP = int(os.environ.get("CODEINTERP_TEST_EVERY", "4"))
"""``scripts/engines pandas2`` takes them all."""
UNWATCH = """
for name in ("pre_run_cell", "post_run_cell"):
    calls = get_ipython().events.callbacks[name]
    for call in [c for c in calls if type(getattr(c, "__self__", None)).__name__ == "CellWatch"]:
        get_ipython().events.unregister(name, call)
"""
STATE = "print({n: repr(v) for n, v in sorted(globals().items()) if n[0] not in '_IO'})"
DRAWS = re.compile("random draw|bootstrap without")
ADDRESSES = r"0x[0-9a-fA-F]+|ipykernel_\d+"
NUMBERS = re.compile(rf"{ADDRESSES}|In\[\d+\]|'execution_count': \d+")


@pytest.mark.timeout(300)
async def test_each_wrong_program_is_found_and_no_right_one_alarms_a_person() -> None:
    alarmed, chosen = set(), [one for one in EVERY if one.is_wrong] + EVERY[::STEP]
    async with (
        kernel_manager() as kernels,
        running_kernel(kernels) as (_, kernel, kernel_id),
        person_at(kernels, kernel_id) as person,
    ):
        # The first run installs what watches the others.
        await run(kernel, "import pandas")
        for program in chosen:
            await ran(person, f"%reset -f\n{program.setup}")
            if "person" in await audiences(kernel, program):
                alarmed.add(program.name)
    assert len([one for one in chosen if not one.is_wrong]) >= 30
    assert alarmed == {one.name for one in chosen if one.is_wrong}


async def audiences(kernel: ZmqKernel, program: Program) -> set[str]:
    """Who reads the findings on the program."""
    _, done = await run(kernel, program.source)
    assert done.status == "ok", (program.name, done.outputs[-1:])
    report = reported.read(done.report, program.source)
    outputs = CellOutputs(done.outputs, report.facts)
    found = await findings(Extensions().hooks, CellCode(program.source), outputs)
    return {finding.audience for finding in found}


@pytest.mark.timeout(300)
async def test_programs_run_as_they_do_unwatched() -> None:
    """The same outputs and variables, whatever the watch sees."""
    chosen = [one for one in EVERY[::STEP] if not DRAWS.search(one.name)]
    watched, plain = await came_of(chosen, ""), await came_of(chosen, UNWATCH)
    assert len(watched) == len(chosen) >= 38
    assert watched == plain


async def came_of(chosen: list[Program], before: str) -> list[tuple[str, str]]:
    async with (
        kernel_manager() as kernels,
        running_kernel(kernels) as (_, kernel, kernel_id),
        person_at(kernels, kernel_id) as person,
    ):
        await run(kernel, "import pandas")
        await ran(person, before)
        found, reports = [], 0
        for program in chosen:
            await ran(person, f"%reset -f\n{program.setup}")
            _, done = await run(kernel, program.source)
            reports += bool(done.report)
            state = await ran(person, STATE)
            found.append((NUMBERS.sub("", repr(done.outputs)), NUMBERS.sub("", state)))
        assert (reports > len(chosen) / 3) != (before == UNWATCH)
        return found


async def ran(person: Person, source: str) -> str:
    msg_id = person.run(source)
    await person.finished(msg_id)
    return person.text(msg_id)

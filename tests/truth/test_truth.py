"""The checks on some programs of each family, and the watch that no program notices."""

from __future__ import annotations

import os
import re
from itertools import groupby

import pytest

from tests.kernels import Person, kernel_manager, person_at, run, running_kernel
from tests.truth.judge import judge
from tests.truth.programs import EVERYDAY, Program, programs

EVERY = programs()
STEP = int(os.environ.get("CODEINTERP_TEST_EVERY", "5"))
"""``scripts/engines pandas2`` takes them all."""
DRAWS = re.compile("random draw|bootstrap without")
UNWATCH = """
for name in ("pre_run_cell", "post_run_cell"):
    calls = get_ipython().events.callbacks[name]
    for call in [c for c in calls if type(getattr(c, "__self__", None)).__name__ == "Watch"]:
        get_ipython().events.unregister(name, call)
"""
STATE = "print({n: repr(v) for n, v in sorted(globals().items()) if n[0] not in '_IO'})"
ADDRESSES = r"0x[0-9a-fA-F]+|ipykernel_\d+"
NUMBERS = re.compile(rf"{ADDRESSES}|In\[\d+\]|'execution_count': \d+")


def few(is_wrong: bool) -> list[Program]:
    """Two of each family, of the half that rules were tuned on."""
    chosen = [one for one in EVERY if one.is_wrong == is_wrong and not one.is_held]
    return [
        one for _, family in groupby(chosen, lambda one: one.family) for one in list(family)[:2]
    ]


def test_there_are_many_of_each_family_in_both_halves() -> None:
    for is_wrong, least in ((True, 120), (False, 240)):
        chosen = [one for one in EVERY if one.is_wrong == is_wrong]
        assert len(chosen) >= least
        assert len({one.family for one in chosen}) == 12
        held = sum(one.is_held for one in chosen)
        assert 0.4 < held / len(chosen) < 0.6


@pytest.mark.parametrize("is_wrong", [True, False], ids=["wrong", "right"])
async def test_wrong_programs_are_found_and_right_ones_get_no_word(is_wrong: bool) -> None:
    verdicts = await judge(few(is_wrong))
    assert len(verdicts) >= 12
    assert {one.program.name for one in verdicts if bool(one.told) != is_wrong} == set()


async def test_everyday_programs_alarm_nobody_and_wrong_ones_beside_them_do() -> None:
    verdicts = await judge(programs(EVERYDAY))
    assert len(verdicts) > 130
    alarmed = {one.program.name for one in verdicts if one.told == "person"}
    assert alarmed == {one.program.name for one in verdicts if one.program.is_wrong}
    right = [one for one in verdicts if not one.program.is_wrong]
    assert sum(one.told == "model" for one in right) <= 0.1 * len(right)


@pytest.mark.timeout(300)
async def test_programs_run_as_they_do_unwatched() -> None:
    """The same outputs and variables, whatever the watch sees."""
    chosen = [one for one in EVERY if not DRAWS.search(one.name)][::STEP]
    watched, plain = await came_of(chosen, ""), await came_of(chosen, UNWATCH)
    assert len(watched) == len(chosen) > 70
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
        assert (reports > len(chosen) / 2) != (before == UNWATCH)
        return found


async def ran(person: Person, source: str) -> str:
    msg_id = person.run(source)
    await person.finished(msg_id)
    return person.text(msg_id)

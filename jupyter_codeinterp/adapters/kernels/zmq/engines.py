"""Asks a kernel how far its engines (Spark, Dask) are, while a cell runs."""

from __future__ import annotations

import asyncio

import msgspec

from ....core.engine_work import EngineWork
from ....core.ports import EnginesWork
from .run import Run
from .variables import Variables

FIRST = 3.0
"""Seconds before the first question. A kernel without an engine gets no other one."""
PAUSE = 2.0
LATER = 10.0
"""Seconds between questions, in the first minute and after it."""


class _Answer(msgspec.Struct, frozen=True):
    """Code in the kernel may answer anything."""

    progress: tuple[EngineWork, ...]
    loaded: bool = False


async def follow_engines(variables: Variables, run: Run) -> None:
    """Tell the run of each change, until cancelled."""
    loop = asyncio.get_running_loop()
    shown = EnginesWork(())
    await asyncio.sleep(FIRST)
    began = loop.time()
    while variables.subshell is not None:
        answer = _read(await variables.progress()) if run.begun else None
        if answer is not None:
            if not answer.loaded:
                return
            work = EnginesWork(answer.progress[:2])
            if work != shown:
                shown = work
                run.engines_work(work)
        await asyncio.sleep(PAUSE if loop.time() < began + 60 else LATER)


def _read(answer: object) -> _Answer | None:
    """None of an answer that did not come in time, or in another form."""
    try:
        return msgspec.convert(answer, _Answer)
    except msgspec.ValidationError:
        return None

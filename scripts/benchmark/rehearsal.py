"""What a rehearsal adds to its cell's own time, in a kernel with 1 GB of variables."""

from __future__ import annotations

import asyncio
import sys
import time

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from tests.kernels import python, run

from .figures import Bound, Figure

VARIABLES = (
    "import numpy, pandas\n"
    "arrays = [numpy.random.default_rng(n).random(6_250_000) for n in range(18)]\n"
    "table = pandas.DataFrame({f'c{n}': numpy.arange(2_500_000.0) for n in range(5)})"
)
"""18 arrays of 50 MB and a table of 100 MB."""
COUNT = 40
WARM_UP = 3
MOST = 60
"""Milliseconds."""


def measure() -> list[Figure]:
    return asyncio.run(_measure()) if sys.platform == "linux" else []


async def _measure() -> list[Figure]:
    async with python() as (kernel, _, _):
        _, done = await run(kernel, VARIABLES)
        if done.status != "ok":
            raise RuntimeError(f"the cell failed: {done.outputs[-1:]}")
        waits = [await _one(kernel) for _ in range(WARM_UP + COUNT)][WARM_UP:]
    return [
        Figure(
            "a rehearsal adds to its cell's time, with 1 GB of variables",
            [1000 * seconds for seconds in waits],
            "ms",
            (Bound(MOST, "median"),),
        )
    ]


async def _one(kernel: ZmqKernel) -> float:
    """Seconds of the rehearsal of a cell that takes next to none, there and back."""
    await asyncio.sleep(0.1)
    began = time.perf_counter()
    answer = await kernel.rehearse("1 + 1", 10.0)
    took = time.perf_counter() - began
    if answer.get("how") != "ended":
        raise RuntimeError(f"no rehearsal: {answer}")
    return took

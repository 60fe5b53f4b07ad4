"""What watching a cell of the agent adds to it: two kernels, one that is watched and one that is
not, run the same cells in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from tests.kernels import kernel_manager, run, running_kernel

from .figures import Bound, Figure

ROUNDS = 40
WARM_UP = 5
UNWATCH = """
for name in ("pre_run_cell", "post_run_cell"):
    calls = get_ipython().events.callbacks[name]
    for call in [c for c in calls if type(getattr(c, "__self__", None)).__name__ == "Watch"]:
        get_ipython().events.unregister(name, call)
"""
TABLES = """
import numpy as np, pandas as pd
rows = 100_000
numbers = np.arange(rows)
for place in range(10):
    globals()[f"table_{place}"] = pd.DataFrame({
        "key": numbers, "amount": numbers * 1.5 + place,
        "region": np.array(["East", "North", "South", "West"], dtype=object)[numbers % 4],
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(numbers % 365, unit="D"),
    })
"""


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with _kernels() as (watched, plain):
        trivial = await _added(watched, plain, "x = 1 + 1")
        for kernel in (watched, plain):
            await _ran(kernel, TABLES)
        ten = await _added(watched, plain, "x = 1 + 1")
        new = await _added(watched, plain, "made = table_0.assign(x={})")
    return [
        Figure("the watch adds to a trivial cell", trivial, "ms", (Bound(15, "median"),)),
        Figure("… beside ten tables of 100,000 rows", ten, "ms", (Bound(50, "median"),)),
        Figure("… that makes an eleventh, which it describes", new, "ms", (Bound(70, "median"),)),
    ]


@asynccontextmanager
async def _kernels() -> AsyncIterator[tuple[ZmqKernel, ZmqKernel]]:
    async with (
        kernel_manager() as kernels,
        running_kernel(kernels) as (_, watched, _),
        running_kernel(kernels) as (_, plain, _),
    ):
        for kernel in (watched, plain):
            await _ran(kernel, "import pandas as pd")
        await _ran(plain, UNWATCH)
        yield watched, plain


async def _added(watched: ZmqKernel, plain: ZmqKernel, source: str) -> list[float]:
    """Milliseconds of each round."""
    found = []
    for number in range(WARM_UP + ROUNDS):
        code = source.format(number)
        found.append(1000 * (await _ran(watched, code) - await _ran(plain, code)))
    return found[WARM_UP:]


async def _ran(kernel: ZmqKernel, source: str) -> float:
    _, done = await run(kernel, source)
    if done.status != "ok":
        raise RuntimeError(f"the cell failed: {done.outputs[-1:]}")
    return done.elapsed

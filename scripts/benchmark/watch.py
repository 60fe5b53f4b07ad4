"""Measures the cost of watching the agent's cells: a watched and an unwatched kernel run the same
cells in turn."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from jupyter_codeinterp.kernel.zmq import ZmqKernel
from tests.kernels import kernel_manager, run, running_kernel

from .figures import Bound, Figure

WARM_UP = 1
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
LARGE = """
import numpy as np, pandas as pd
draws = np.random.default_rng(1)
fifty = np.array([f"key {n}" for n in range(50)], dtype=object)
large = pd.DataFrame({"key": fifty[draws.integers(0, 50, 1_000_000)], "x": 1.0})
names = pd.DataFrame({"key": fifty, "name": fifty})
groups = pd.DataFrame({"group": np.arange(50_000) % 5_000, "x": np.arange(50_000) * 1.0})
"""
CELLS = {
    "a trivial cell beside ten tables of 100,000 rows": (TABLES, "x = 1 + 1", 20),
    "a merge of 1,000,000 rows on 50 text keys": (LARGE, "m = large.merge(names, on='key')", 7),
    "groupby and apply on 5,000 groups": (
        LARGE,
        "r = groups.groupby('group')[['x']].apply(lambda g: g['x'].max() - g['x'].min())",
        7,
    ),
}
"""By name: the code before the cell, the cell, and how often it runs in each kernel."""
ADDED = 20.0
SHARE = 0.05


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    figures = []
    for name, (before, cell, rounds) in CELLS.items():
        async with _kernels() as (watched, plain):
            for kernel in (watched, plain):
                await _ran(kernel, before)
            pairs = [(await _ran(watched, cell), await _ran(plain, cell))
                     for _ in range(WARM_UP + rounds)][WARM_UP:]  # fmt: skip
        alone = 1000 * statistics.median(without for _, without in pairs)
        added = [1000 * (seen - without) for seen, without in pairs]
        limit = ADDED + SHARE * alone
        bound = Bound(limit, "median")
        figures.append(Figure(f"the watch adds to {name}", added, "ms", (bound,)))
    return figures


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


async def _ran(kernel: ZmqKernel, source: str) -> float:
    _, done = await run(kernel, source)
    if done.status != "ok":
        raise RuntimeError(f"the cell failed: {done.outputs[-1:]}")
    return done.elapsed
